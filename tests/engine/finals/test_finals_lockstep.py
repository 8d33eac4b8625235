"""Keys that appear and disappear in one matrix, compared with each key separately."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from finals_cases import same
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.slides.lockstep import Lockstep
from weft.algebra.ops import bind
from weft.algebra.part import Part
from weft.engine.finals import STRUCTURES
from weft.errors import FinalsError

LAST = bind(Part("last", ("x",)), [pa.bool_(), pa.float64()])
TOTAL = bind(Part("sum", ("x",)), [pa.int64()])

rows = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(-9, 9)), max_size=60)


def by_key(script: list[tuple[int, int, int]], slides: int, window: int) -> dict[Any, list[int]]:
    """The values that each (slide, key) should combine, oldest first."""
    want: dict[Any, list[int]] = {}
    for slide in range(slides):
        for at, key, value in script:
            if slide - window < at <= slide:
                want.setdefault((slide, key), []).append(value)
    return want


def unique(script: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """One row per slide and key, in order."""
    return sorted(
        (at, key, value) for (at, key), value in {(a, k): v for a, k, v in script}.items()
    )


@pytest.mark.parametrize("name", STRUCTURES)
@given(script=rows, window=st.integers(1, 6), cut=st.integers(1, 30))
@settings(max_examples=20, deadline=None)
def test_answers_are_those_of_every_key_on_its_own(
    name: str, script: list[tuple[int, int, int]], window: int, cut: int
) -> None:
    keys = Lockstep(name, TOTAL, capacity=window, lanes=1)
    given_ = unique(script)
    got = {}
    for low, high in ((0, cut), (cut, 31)):
        part = [row for row in given_ if low <= row[0] < high]
        values = TOTAL.encode([pa.array([row[2] for row in part], pa.int64())])
        slide, key, columns = keys.slides(
            [row[0] - low for row in part],
            [row[1] for row in part],
            values,
            many=high - low,
            counts=window,
        )
        totals = TOTAL.decode(columns)[0].to_pylist()
        for at, which, total in zip(slide.tolist(), key.tolist(), totals, strict=True):
            got[at + low, which] = total
    assert got == {at: sum(values) for at, values in by_key(given_, 31, window).items()}
    assert keys.held <= len({row[1] for row in given_ if row[0] > 30 - window})


def test_order_is_kept_and_late_partials_are_merged() -> None:
    keys = Lockstep("two_stacks", LAST, capacity=3)

    def one(slide: list[int], key: list[int], values: list[float], many: int) -> dict[Any, Any]:
        columns = LAST.encode([pa.array([True] * len(values)), pa.array(values, pa.float64())])
        at, which, found = keys.slides(slide, key, columns, many=many, counts=3)
        decoded = LAST.decode(found)[1].to_pylist()
        return dict(zip(zip(at.tolist(), which.tolist(), strict=True), decoded, strict=True))

    assert one([0, 1, 1], [5, 5, 6], [1.0, 2.0, 3.0], 2) == {(0, 5): 1, (1, 5): 2, (1, 6): 3}
    late = LAST.encode([pa.array([True, True]), pa.array([7.0, 8.0])])
    keys.merge(1, [6, 9], late)  # one key is new to the matrix
    got = one([1], [5], [4.0], 2)
    want = {(0, 5): 2.0, (0, 6): 7.0, (0, 9): 8.0, (1, 5): 4.0, (1, 6): 7.0, (1, 9): 8.0}
    assert same(sorted(got.items()), sorted(want.items()))
    assert one([], [], [], 2) == {(0, 5): 4, (1, 5): 4}
    assert keys.held == 1


def test_lanes_are_used_again() -> None:
    keys = Lockstep("flatfit", TOTAL, capacity=2, lanes=2)
    for at in range(50):
        values = TOTAL.encode([pa.array([at])])
        _, key, columns = keys.slides([0], [at], values, many=1, counts=2)
        assert key.tolist() == [at - 1, at][-min(at + 1, 2) :]
        assert TOTAL.decode(columns)[0].to_pylist() == [at - 1, at][-min(at + 1, 2) :]
    assert keys.lanes <= 4


def test_a_key_twice_in_a_slide_is_refused() -> None:
    keys = Lockstep("naive", TOTAL, capacity=2)
    with pytest.raises(FinalsError, match="comes twice in one slide"):
        keys.slides([0, 0], [1, 1], TOTAL.encode([pa.array([1, 2])]), many=1, counts=1)
    with pytest.raises(FinalsError, match=r"slide must lie in \[0, 1\)"):
        keys.slides([1], [1], TOTAL.encode([pa.array([1])]), many=1, counts=1)
    assert np.all(keys.seen < 0)
