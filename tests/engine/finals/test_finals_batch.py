"""Whole batches compared with the definition, a fold over every window instance of every key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from finals_cases import CASES, Case, rows, same
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.algebra.ops import bind
from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.engine.finals.batch import Instances, Slices, WindowRequest, answer
from weft.engine.finals.batch.layout import UNBOUNDED, ranges, rooms
from weft.engine.finals.registry import STRUCTURES, servers
from weft.errors import AggregateError, FinalsError

TOTAL = bind(Part("sum", ("x",)), [pa.int64()])


def collected(found: Any) -> dict[tuple[int, int, int], list[Any]]:
    """Answers by request, key and window start; none may be repeated."""
    answers: dict[tuple[int, int, int], list[Any]] = {}
    for some in found:
        columns = [rows(part) for part in some.parts]
        whose = [ask for ask, count in some.asks for _ in range(count)]
        places = zip(whose, some.key.tolist(), some.start.tolist(), strict=True)
        for at, place in enumerate(places):
            assert place not in answers
            answers[place] = [column[at] for column in columns]
    return answers


def by_definition(
    slices: list[tuple[int, int]],
    cases: list[Case],
    partials: list[list[Any]],
    asks: list[WindowRequest],
) -> dict[tuple[int, int, int], list[Any]]:
    """Each slice is assigned to every instance that contains its start; instances are folded."""
    members: dict[tuple[int, int, int], list[int]] = {}
    for number, ask in enumerate(asks):
        for row, (key, position) in enumerate(slices):
            if ask.rows is not None and not ask.rows[row]:
                continue
            start = (position - ask.offset) // ask.slide * ask.slide + ask.offset
            while start + ask.range > position:
                if ask.ends_after < start + ask.range <= ask.ends_until:
                    members.setdefault((number, key, start), []).append(row)
                start -= ask.slide
    return {
        at: [
            cases[part].monoid.fold(*(partials[part][row] for row in chosen))
            for part in asks[at[0]].parts
        ]
        for at, chosen in members.items()
    }


@st.composite
def workloads(draw: Any) -> Any:
    cases = draw(st.lists(st.sampled_from(CASES), min_size=1, max_size=3))
    stretch = draw(st.sampled_from([1, 1, 1, 1000]))
    place = st.tuples(st.integers(-2, 2), st.integers(-25, 25).map(lambda n: n * stretch))
    slices = sorted(draw(st.lists(place, max_size=40)))
    many = len(slices)
    partials = [draw(st.lists(c.partials(), min_size=many, max_size=many)) for c in cases]
    mask = st.lists(st.booleans(), min_size=many, max_size=many).map(lambda m: np.array(m, bool))
    masks = [None, None, draw(mask), draw(mask)]
    asks = []
    for _ in range(draw(st.integers(1, 6))):
        slide = draw(st.integers(1, 12)) * draw(st.sampled_from([1, stretch]))
        asks.append(
            WindowRequest(
                range=draw(st.sampled_from([slide, 3 * slide]) | st.integers(1, 40)),
                slide=slide,
                offset=draw(st.integers(-20, 20)),
                parts=tuple(draw(st.sets(st.integers(0, len(cases) - 1), min_size=1))),
                rows=draw(st.sampled_from(masks)),
                ends_after=draw(st.just(-UNBOUNDED) | st.integers(-30, 30)),
                ends_until=draw(st.just(UNBOUNDED) | st.integers(-30, 30)),
            )
        )
    sizes = {name: draw(st.sampled_from([1, 7, 1000])) for name in ("chunk", "most")}
    return slices, cases, partials, asks, sizes


@given(workload=workloads(), structure=st.sampled_from(["auto", *STRUCTURES, "blocks"]))
@settings(max_examples=500, deadline=None)
def test_every_instance_of_every_key_is_folded(workload: Any, structure: str) -> None:
    slices, cases, partials, asks, sizes = workload
    layout = Slices(
        np.array([key for key, _ in slices], dtype=np.int64),
        np.array([position for _, position in slices], dtype=np.int64),
    )
    parts = [(bind(c.part, c.types), c.arrays(p)) for c, p in zip(cases, partials, strict=True)]
    if not all(structure in ("auto", "blocks", *servers(op.laws)) for op, _ in parts):
        structure = "flatfit"  # that it is refused is tested below
    got = collected(answer(layout, parts, asks, structure=structure, **sizes))
    want = by_definition(slices, cases, partials, asks)
    assert got.keys() == want.keys()
    for at in want:
        assert all(map(same, got[at], want[at])), (at, got[at], want[at])


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize(("range_", "slide"), [(60, 60), (600, 10), (7, 3), (3, 7), (500, 1)])
def test_instances_by_walking_and_by_index(range_: int, slide: int, indexed: bool) -> None:
    """Many keys of very different lengths, with clusters, gaps and negative times."""
    rng = np.random.default_rng(1)
    keys, positions = [], []
    for key in range(40):
        spread = int(rng.choice([10, 1000, 10**6]))
        count = int(rng.integers(1, 200))
        positions.append(np.sort(rng.integers(-spread, spread, count)))
        keys.append(np.full(count, key))
    layout = Slices(np.concatenate(keys), np.concatenate(positions))
    windows = [Instances(range=range_, slide=slide, offset=-4)]
    room = int(rooms(windows, layout)[0])
    found, counts = ranges(windows, layout, room, indexed=indexed)
    assert counts.tolist() == [len(found)]
    assert len(found) <= room
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) >= 0).all()
    assert (found.low < found.high).all()
    key = layout.key[found.low]
    ends = found.start + range_
    np.testing.assert_array_equal(key, layout.key[found.high - 1])
    inside = layout.position[found.low] >= found.start
    inside &= layout.position[found.high - 1] < ends
    assert inside.all()
    # No slice is left out: each is counted in as many instances as there are windows with it.
    counted = np.zeros(len(layout) + 1, dtype=np.int64)
    np.add.at(counted, found.low, 1)
    np.add.at(counted, found.high, -1)
    newest = (layout.position + 4) // slide
    oldest = (layout.position + 4 - range_) // slide
    np.testing.assert_array_equal(np.cumsum(counted)[:-1], newest - oldest)


def test_a_structure_that_cannot_serve_is_refused_by_name() -> None:
    layout = Slices(np.array([0]), np.array([0]))
    parts = [(bind(Part("max", ("x",)), [pa.float64()]), [pa.array([1.0])])]
    with pytest.raises(FinalsError, match=r"subtract cannot serve max: .* accepted are naive, fla"):
        collected(answer(layout, parts, [WindowRequest(2, 1)], structure="subtract"))


class TestLongSums:
    def totals(self, values: list[int | None]) -> list[Any]:
        layout = Slices(np.zeros(len(values)), np.arange(len(values)))
        found = answer(layout, [(TOTAL, [pa.array(values)])], [WindowRequest(range=2, slide=1)])
        return [partial[0][0] for partial in collected(found).values()]

    def test_running_totals_beyond_64_bits_do_no_harm(self) -> None:
        most = 2**63 - 1
        got = self.totals([most, -5, most - 9, 3, -7])
        assert got == [most, most - 5, most - 14, most - 6, -4, -7]

    def test_an_answer_beyond_64_bits_is_an_error(self) -> None:
        with pytest.raises(AggregateError, match="sum overflows int64"):
            self.totals([2**63 - 1, 1])


def test_sketches_are_swept_through_python() -> None:
    part = Part("hll", ("x",), options=(10,))
    monoid = monoid_of(part)
    sketches = [monoid.lift(value)[0] for value in range(6)]
    layout = Slices(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 9, 0, 1, 2]))
    op = bind(part, [pa.binary()])
    found = collected(
        answer(layout, [(op, [pa.array(sketches)])], [WindowRequest(range=2, slide=1)])
    )
    assert found[0, 1, 1] == [monoid.combine((sketches[4],), (sketches[5],))]
    assert found[0, 0, 9] == [(sketches[2],)]


def test_nothing_in_nothing_out() -> None:
    empty = Slices(np.empty(0), np.empty(0))
    nothing = [(TOTAL, [pa.array([], pa.int64())])]
    assert list(answer(empty, nothing, [WindowRequest(range=2, slide=1)])) == []
    one = Slices(np.array([3]), np.array([5]))
    ask = WindowRequest(range=2, slide=1, rows=np.array([False]))
    assert list(answer(one, [(TOTAL, [pa.array([1])])], [ask])) == []


class TestRefusals:
    def test_unsorted_slices(self) -> None:
        with pytest.raises(FinalsError, match=r"row 2 \(key=0, position=1\) is out of order"):
            Slices(np.array([0, 0, 0]), np.array([1, 2, 1]))

    def test_arrays_of_different_length(self) -> None:
        with pytest.raises(FinalsError, match="of one length"):
            Slices(np.array([0, 0, 0]), np.array([1, 2]))

    def test_partials_of_a_wrong_length(self) -> None:
        layout = Slices(np.array([0]), np.array([0]))
        with pytest.raises(FinalsError, match=r"parts\[0\] \(sum\) has 2 partials for 1 slices"):
            list(answer(layout, [(TOTAL, [pa.array([1, 2])])], []))

    def test_a_mask_of_a_wrong_length(self) -> None:
        layout = Slices(np.array([0]), np.array([0]))
        ask = WindowRequest(range=1, slide=1, rows=np.array([True, False]))
        with pytest.raises(FinalsError, match="mask of 2 for 1 slices"):
            list(answer(layout, [(TOTAL, [pa.array([1])])], [ask]))

    def test_a_part_that_is_not_there(self) -> None:
        layout = Slices(np.array([0]), np.array([0]))
        ask = WindowRequest(range=1, slide=1, parts=(1,))
        with pytest.raises(FinalsError, match=r"parts=\(1,\) of an ask: accepted are 0 to 0"):
            list(answer(layout, [(TOTAL, [pa.array([1])])], [ask]))

    def test_a_window_of_nothing(self) -> None:
        with pytest.raises(FinalsError, match="slide=0 of a window must be longer than nothing"):
            _ = WindowRequest(range=1, slide=0).windows
