"""State in pieces: rows out of order and late, saved and restored between any two steps."""

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
from weft.engine.finals import STRUCTURES, servers
from weft.engine.finals.stream import Frame, Frames, StreamState
from weft.errors import CheckpointError, FinalsError

TOTAL = bind(Part("sum", ("x",)), [pa.int64()])
JOINED = bind(Part("list", ("x",)), [pa.list_(pa.string())])


class Pieces(dict[str, bytes]):
    """A state store."""

    def write(self, state: StreamState) -> None:
        self.update(state.save())
        for name in state.pieces_touched.dropped:
            self.pop(name, None)


def by_key(frames: Frames, frame: Frame) -> dict[int, list[Any]]:
    columns = [rows(part) for part in frames.decode(frame)]
    return {key: [c[at] for c in columns] for at, key in enumerate(frame.keys.tolist())}


@st.composite
def streams(draw: Any, cases: list[Case]) -> Any:
    """Uneven edges; batches of (slice, key, partial) in any order; how far each batch closes."""
    edges = np.cumsum(draw(st.lists(st.integers(1, 9), min_size=40, max_size=40))) - 100
    partial = st.tuples(*(case.partials() for case in cases))
    batch = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4), partial), max_size=8)
    script = st.lists(st.tuples(batch, st.integers(0, 4), st.booleans()), min_size=1, max_size=9)
    return edges.tolist(), draw(script)


def run(name: str, cases: list[Case], spans: list[int], page: int, stream: Any) -> None:
    edges, script = stream
    ops = [bind(case.part, case.types) for case in cases]
    state = StreamState(ops, name, page=page, capacity=2)
    pieces, truth = Pieces(), {}
    oldest = closed = 0
    for batch, ahead, restart in script:
        reach = min(closed + 5, len(edges) - 1)
        given_ = [(oldest + int(at * (reach - oldest)), key, part) for at, key, part in batch]
        for at, key, partials in given_:
            held = truth.setdefault((at, key), [case.monoid.identity for case in cases])
            truth[at, key] = [
                case.monoid.combine(a, b) for case, a, b in zip(cases, held, partials, strict=True)
            ]
        arrays = [
            case.arrays([partials[part] for _, _, partials in given_])
            for part, case in enumerate(cases)
        ]
        starts = [edges[at] for at, _, _ in given_]
        state.add([key for _, key, _ in given_], starts, arrays)
        until = min(closed + ahead, len(edges) - 6)
        ranges = [
            (max(0, end - span), end) for end in range(closed + 1, until + 1) for span in spans
        ]
        found = state.close([(edges[a], edges[b]) for a, b in ranges], edges[closed:until])
        for (low, high), frame in zip(ranges, found, strict=True):
            want: dict[int, list[Any]] = {}
            for at in range(low, high):
                for key in range(5):
                    if (at, key) in truth:
                        before = want.get(key, [case.monoid.identity for case in cases])
                        want[key] = [
                            case.monoid.combine(a, b)
                            for case, a, b in zip(cases, before, truth[at, key], strict=True)
                        ]
            got = by_key(state.frames, frame)
            if name == "subtract":  # a key of which nothing is left may be gone
                empty = [case.monoid.identity for case in cases]
                want = {key: part for key, part in want.items() if key in got or part != empty}
            assert got.keys() == want.keys(), (name, low, high)
            for key in want:
                assert all(map(same, got[key], want[key])), (name, low, high, key)
        closed = max(closed, until)
        oldest = max(oldest, closed + 1 - max(spans)) if closed else 0
        if closed:
            state.evict(edges[min(oldest, closed)])
            oldest = min(oldest, closed)
        if restart:
            state.begin()
            pieces.write(state)
            state = StreamState.restore(ops, dict(pieces))


@pytest.mark.parametrize("name", STRUCTURES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_every_structure_in_pieces(name: str, data: st.DataObject) -> None:
    served = [case for case in CASES if name in servers(bind(case.part, case.types).laws)]
    cases = data.draw(st.lists(st.sampled_from(served), min_size=1, max_size=2))
    one = STRUCTURES[name].card.starts == "oldest"
    spans = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=1 if one else 3))
    run(name, cases, spans, data.draw(st.sampled_from([1, 2, 5])), data.draw(streams(cases)))


def slide_by_slide(name: str, window: int, slides: int, op: Any, keys: int) -> list[int]:
    """Pieces read and written by each slide when nothing but the store is kept between slides."""
    pieces = Pieces()
    state = StreamState([op], name, page=4, capacity=window)
    spent = []
    for at in range(slides):
        if at:
            state = StreamState.restore([op], pieces.get)
        state.begin()
        values = [pa.array(np.full(keys, at))]
        state.add(np.arange(keys), np.full(keys, at), [values])
        state.evict(max(0, at + 1 - window))
        (found,) = state.close([(max(0, at + 1 - window), at + 1)], [at])
        start = max(0, at + 1 - window)
        want = [keys and sum(range(start, at + 1))] * keys
        assert [row[0][0] for row in by_key(state.frames, found).values()] == want
        pieces.write(state)
        touched = state.pieces_touched
        spent.append(len(touched.read) + len(touched.written) + len(touched.dropped))
    return spent[window:]


class TestPiecesTouched:
    def test_daba_touches_a_constant_number(self) -> None:
        short = slide_by_slide("daba", 48, 150, TOTAL, 3)
        long = slide_by_slide("daba", 192, 500, TOTAL, 3)
        assert max(long) <= max(short) + 1
        assert max(long) <= 24

    def test_subtract_touches_a_constant_number(self) -> None:
        assert max(slide_by_slide("subtract", 128, 300, TOTAL, 3)) <= 16

    @pytest.mark.parametrize("name", ["flatfit", "two_stacks"])
    def test_amortised_constant_with_a_spike_once_a_window(self, name: str) -> None:
        spent = slide_by_slide(name, 128, 128 + 3 * 129, TOTAL, 3)
        pages = 128 // 4
        assert sum(spent) / len(spent) <= 16
        assert max(spent) >= pages  # the whole window is written anew, once in a while
        assert sorted(spent)[-7] <= 16

    def test_trees_touch_a_logarithm(self) -> None:
        assert max(slide_by_slide("flatfat", 128, 200, TOTAL, 3)) <= 6 * 7

    def test_a_late_partial_touches_few(self) -> None:
        for name, most in (("naive", 8), ("flatfat", 22), ("bint", 22), ("subtract", 12)):
            pieces = Pieces()
            state = StreamState([TOTAL], name, page=4, capacity=64)
            starts = np.arange(64)
            state.add(np.zeros(64), starts, [[pa.array(starts)]])
            state.close([(0, 64)], starts)
            pieces.write(state)
            again = StreamState.restore([TOTAL], pieces.get)
            again.begin()
            again.add([0], [20], [[pa.array([1])]])
            pieces.write(again)
            touched = again.pieces_touched
            assert len(touched.read) + len(touched.written) <= most, name
            (found,) = again.close([(0, 64)], [])
            assert TOTAL.decode(found.parts[0])[0].to_pylist() == [sum(range(64)) + 1]


class TestPiecesOfState:
    def state(self) -> tuple[StreamState, Pieces]:
        state, pieces = StreamState([JOINED], "daba", page=2), Pieces()
        state.add([1, 1, 2], [0, 5, 5], [[pa.array([["a"], ["b"], ["c"]])]])
        state.close([(0, 5)], [0])
        pieces.write(state)
        return state, pieces

    def test_open_slices_survive(self) -> None:
        _, pieces = self.state()
        again = StreamState.restore([JOINED], pieces)
        (found,) = again.close([(0, 10)], [5])
        assert by_key(again.frames, found) == {1: [(["a", "b"],)], 2: [(["c"],)]}

    @pytest.mark.parametrize("damage", ["flip", "cut", "version", "kind"])
    def test_damage_is_noticed_and_named(self, damage: str) -> None:
        _, pieces = self.state()
        name = next(name for name in pieces if name.startswith("queue/"))
        piece = bytearray(pieces[name])
        if damage == "flip":
            piece[-20] ^= 1
        elif damage == "version":
            piece[4] = 99
        elif damage == "kind":
            piece[0:4] = b"wftj"
        pieces[name] = bytes(piece[:5] if damage == "cut" else piece)
        again = StreamState.restore([JOINED], pieces)
        with pytest.raises(CheckpointError, match=f"piece '{name}'"):
            again.close([(0, 10)], [5])

    def test_a_missing_piece_is_noticed(self) -> None:
        _, pieces = self.state()
        name = next(name for name in pieces if name.startswith("queue/"))
        del pieces[name]
        with pytest.raises(CheckpointError, match=f"piece '{name}' is missing"):
            StreamState.restore([JOINED], pieces).close([(0, 10)], [5])
        with pytest.raises(CheckpointError, match="piece 'meta' is missing"):
            StreamState.restore([JOINED], {})

    def test_partials_of_another_kind_are_refused(self) -> None:
        _, pieces = self.state()
        with pytest.raises(CheckpointError, match="the state holds partials of"):
            StreamState.restore([TOTAL], pieces)

    def test_a_copy_in_memory_proves_its_version(self) -> None:
        state, pieces = self.state()
        assert state.is_current(pieces["meta"])
        again = StreamState.restore([JOINED], pieces)
        again.add([1], [5], [[pa.array([["x"]])]])
        pieces.write(again)
        assert again.is_current(pieces["meta"])
        assert not state.is_current(pieces["meta"])

    def test_pieces_are_dropped_when_their_slices_are(self) -> None:
        state, pieces = StreamState([TOTAL], "naive", page=2), Pieces()
        most = 0
        for at in range(100):
            state.add([0], [at], [[pa.array([at])]])
            state.evict(at - 9)
            state.close([(max(0, at - 9), at + 1)], [at])
            state.begin()
            pieces.write(state)
            most = max(most, len(pieces))
        assert most <= 16 / 2 + 5  # a ring of 16 cells, starts, pending, meta

    def test_pieces_have_a_useful_size(self) -> None:
        keys = 300
        state = StreamState([TOTAL], "daba", page=4, capacity=64)
        for at in range(64):
            values = [pa.array(np.arange(keys))]
            state.add(np.arange(keys), np.full(keys, at), [values])
            state.close([(0, at + 1)], [at])
        sizes = [len(piece) for name, piece in state.save().items() if name.startswith("queue")]
        assert all(10_000 < size < 500_000 for size in sizes)


class TestRefusals:
    def test_rows_of_a_slice_that_was_evicted(self) -> None:
        state = StreamState([TOTAL], "naive")
        state.close([(0, 30)], [0, 10, 20])
        state.evict(20)
        with pytest.raises(FinalsError, match="start=0 is of a slice that was evicted"):
            state.add([1], [0], [[pa.array([1])]])

    def test_a_window_of_which_slices_were_evicted(self) -> None:
        state = StreamState([TOTAL], "naive")
        state.close([(0, 30)], [0, 10, 20])
        state.evict(20)
        with pytest.raises(FinalsError, match="start=10 lies before 20: its slices were evicted"):
            StreamState.restore([TOTAL], state.save()).close([(10, 30)], [])

    def test_rows_between_the_edges(self) -> None:
        state = StreamState([TOTAL], "naive")
        state.close([(0, 30)], [0, 10, 20])
        with pytest.raises(FinalsError, match="start=5 is not one of the edges"):
            state.add([1], [5], [[pa.array([1])]])

    def test_edges_that_leave_out_a_slice_with_rows(self) -> None:
        state = StreamState([TOTAL], "naive")
        state.add([1], [10], [[pa.array([1])]])
        with pytest.raises(FinalsError, match="edges miss start=10"):
            state.close([(0, 30)], [0, 20])

    def test_ranges_that_end_before_the_newest(self) -> None:
        state = StreamState([TOTAL], "flatfit")
        state.close([(0, 30)], [0, 10, 20])
        with pytest.raises(FinalsError, match="close ranges in the order of their ends"):
            state.close([(0, 20)], [])

    def test_a_frame_with_a_key_twice(self) -> None:
        with pytest.raises(FinalsError, match="keys of a frame must be distinct"):
            Frames([TOTAL]).of([1, 1], [[pa.array([1, 2])]])

    def test_pages_of_nothing(self) -> None:
        with pytest.raises(FinalsError, match="page=0 must be at least one cell"):
            StreamState([TOTAL], "naive", page=0)
