"""Compiled batches of slides, compared with the naive structure run step by step in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from finals_cases import CASES, Case
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.slides.per_range import PerRange
from benchmarks.slides.slides import slides, sliding
from weft.algebra.ops import bind
from weft.algebra.ops.base import Columns, VectorOp
from weft.algebra.part import Part
from weft.engine.finals import STRUCTURES, Final, make, servers
from weft.errors import FinalsError

# Few cases, because every loop is compiled for each: 128-bit sums, doubles with NaN, a joint
# partial, and one whose result shows the order of operands. The tests of the tags cover the others.
WANTED = ("sum-int64", "max-double", "moments-double", "last-double")
COMPILED = [case for case in CASES if str(case) in WANTED]


def columns_of(case: Case, op: VectorOp, draw: Any, shape: tuple[int, ...]) -> Columns:
    count = int(np.prod(shape))
    partials = draw(st.lists(case.partials(), min_size=count, max_size=count))
    return tuple(np.array(c).reshape(shape) for c in op.encode(case.arrays(partials)))


def assert_same(got: Columns, want: Columns, context: Any) -> None:
    for power, (a, b) in enumerate(zip(got, want, strict=True)):
        # Moments up to the fourth: sums of powers of up to 1,000, which may cancel.
        close = 1e-12 * 1000.0**power if len(want) == 5 else 1e-9
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=close, err_msg=str(context))


@pytest.mark.parametrize("case", COMPILED, ids=str)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_one_range_in_several_calls_with_late_partials(case: Case, data: st.DataObject) -> None:
    op = bind(case.part, case.types)
    window = data.draw(st.integers(1, 7))
    first = data.draw(st.integers(-9, 9))
    names = servers(op.laws)
    room = data.draw(st.integers(1, 7))
    finals = {name: sliding(name, op, capacity=room, first=first) for name in names}
    oracle = sliding("naive", op, capacity=window, first=first)
    assert isinstance(oracle, Final)
    count = 0
    for _ in range(3):
        many = data.draw(st.integers(0, 25))
        x = columns_of(case, op, data.draw, (many,))
        counts: Any = window
        if many and data.draw(st.booleans()):  # uneven edges: starts never decrease
            drawn = []
            for _ in range(many):
                grown = min(count + 1, window)
                count = data.draw(st.integers(max(1, grown - 2), grown))
                drawn.append(count)
            counts = np.array(drawn)
        elif many:
            assume(count in (0, window) or count + many >= window)
            counts = np.minimum(np.arange(count + 1, count + 1 + many), window) if count else window
            count = min(count + many, window)
        want = slides(oracle, x, counts, hold=window, compiled=False)
        for name, final in finals.items():
            assert isinstance(final, Final)
            compiled = data.draw(st.booleans())
            got = slides(final, x, counts, hold=window, compiled=compiled)
            assert_same(got, want, (name, compiled))
        oldest = max(final.first for final in finals.values() if isinstance(final, Final))
        if oldest < oracle.end and data.draw(st.booleans()):
            position = data.draw(st.integers(oldest, oracle.end - 1))
            late = columns_of(case, op, data.draw, (1,))
            for final in (oracle, *finals.values()):
                final.merge(position, late)


@pytest.mark.parametrize("case", COMPILED, ids=str)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_many_ranges_over_the_same_slices(case: Case, data: st.DataObject) -> None:
    op = bind(case.part, case.types)
    window = data.draw(st.integers(1, 9))
    many = data.draw(st.integers(1, 25))
    every = data.draw(st.booleans())
    counts = (
        np.arange(1, window + 1)[None]
        if every
        else np.array(data.draw(st.lists(st.lists(st.integers(1, window), min_size=3, max_size=3),
                                         min_size=1, max_size=1)))
    )  # fmt: skip
    batches = [columns_of(case, op, data.draw, (many,)) for _ in range(2)]
    wanted = []
    oracle = sliding("naive", op, capacity=window)
    for x in batches:
        wanted.append(slides(oracle, x, counts, hold=window, compiled=False))
    for name in servers(op.laws):
        final = sliding(name, op, capacity=window, ranges=counts.shape[1])
        for x, want in zip(batches, wanted, strict=True):
            hold = None if isinstance(final, PerRange) else window
            assert_same(slides(final, x, counts, hold=hold), want, name)


@pytest.mark.parametrize("case", COMPILED, ids=str)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_keys_in_lockstep_are_keys_apart(case: Case, data: st.DataObject) -> None:
    op = bind(case.part, case.types)
    window, lanes = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 4))
    many = data.draw(st.integers(1, 20))
    x = columns_of(case, op, data.draw, (many, lanes))
    apart = []
    for lane in range(lanes):
        oracle = sliding("naive", op, capacity=window)
        apart.append(slides(oracle, tuple(c[:, lane] for c in x), window, compiled=False))
    want = tuple(np.stack(parts, axis=1) for parts in zip(*apart, strict=True))
    for name in servers(op.laws):
        final = sliding(name, op, capacity=window, lanes=lanes)
        cut = data.draw(st.integers(0, many))
        got = [slides(final, tuple(c[a:b] for c in x), window) for a, b in ((0, cut), (cut, many))]
        joined = tuple(np.concatenate(parts) for parts in zip(*got, strict=True))
        assert_same(joined, want, name)


NUMERIC = [
    case
    for case in CASES
    if all(isinstance(c, np.ndarray) for c in bind(case.part, case.types).blank(0))
]


@pytest.mark.parametrize("case", NUMERIC, ids=str)
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_lanes_of_every_kind_of_number_step_by_step(case: Case, data: st.DataObject) -> None:
    op = bind(case.part, case.types)
    window, lanes, many = data.draw(st.integers(1, 5)), 3, data.draw(st.integers(1, 16))
    x = columns_of(case, op, data.draw, (many, lanes))
    late = columns_of(case, op, data.draw, (lanes,))
    oracle = sliding("naive", op, capacity=window, lanes=lanes)
    want = slides(oracle, x, window, compiled=False)
    oracle.merge(many - 1, late)
    for name in servers(op.laws):
        final = sliding(name, op, capacity=window, lanes=lanes)
        assert isinstance(final, Final)
        assert_same(slides(final, x, window, compiled=False), want, name)
        final.merge(many - 1, late)
        assert isinstance(oracle, Final)
        assert_same(final.answer(final.end - 1 if window == 1 else None), oracle.answer(), name)


@pytest.mark.parametrize("name", [name for name in STRUCTURES if name != "subtract"])
def test_a_long_run_wraps_every_ring_and_meets_every_path(name: str) -> None:
    op = bind(Part("max", ("x",)), [pa.float64()])
    rng = np.random.default_rng(3)
    values = rng.permutation(4000).astype(float)
    values[rng.random(4000) < 0.01] = np.nan
    x = op.encode([pa.array(values, from_pandas=False)])
    for window in (1, 2, 7, 64, 100):
        final = sliding(name, op, capacity=window)
        got = np.concatenate(
            [slides(final, op.cut(x, low, low + 500), window)[0] for low in range(0, 4000, 500)]
        )
        padded = np.concatenate([np.full(window - 1, -np.inf), values])
        want = np.lib.stride_tricks.sliding_window_view(padded, window).max(axis=1)
        np.testing.assert_array_equal(got, want)


def test_slides_need_arrays() -> None:
    op = bind(Part("max", ("x",)), [pa.string()])
    with pytest.raises(FinalsError, match="is not of numbers: it has no array form"):
        slides(sliding("naive", op, capacity=2), (np.zeros(3),), 2)
    plain = make("naive", op)
    with pytest.raises(FinalsError, match="needs a structure over arrays"):
        slides(plain, (np.zeros(3),), 2)


@pytest.mark.parametrize("counts", [0, [1, 2], [[1], [2]], -3])
def test_counts_of_a_wrong_shape_or_size_are_refused(counts: Any) -> None:
    op = bind(Part("count", ("x",)), [pa.int64()])
    final = sliding("naive", op, capacity=2)
    with pytest.raises(FinalsError, match="accepted are numbers of at least 1"):
        slides(final, (np.zeros(3, dtype=np.int64),), counts)


def test_a_structure_of_one_range_refuses_several() -> None:
    op = bind(Part("count", ("x",)), [pa.int64()])
    final = sliding("daba", op, capacity=2)
    with pytest.raises(FinalsError, match="daba answers one range: use one per range"):
        slides(final, (np.zeros(3, dtype=np.int64),), [[1, 2]])
