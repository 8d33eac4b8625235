"""A structure over slices with its state in pieces: out-of-order and late rows, and restarts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "finals"))
from finals_cases import CASES, Case, rows, same

from weft.algebra.ops import bind
from weft.algebra.part import Part
from weft.engine.finals import STRUCTURES, servers
from weft.engine.state.frames import Frame, Frames, Keys
from weft.engine.state.sliding import Closing, Sliding, discard
from weft.errors import CheckpointError

TOTAL = bind(Part("sum", ("x",)), [pa.int64()])


class Pieces(dict[str, bytes]):
    """A state store that counts the pieces that are read and written."""

    def __init__(self) -> None:
        super().__init__()
        self.touched: set[str] = set()

    def get_piece(self, name: str) -> bytes | None:
        self.touched.add(name)
        return self.get(name)

    def put_piece(self, name: str, data: bytes) -> None:
        self.touched.add(name)
        self[name] = data

    def remove_piece(self, name: str) -> None:
        self.touched.add(name)
        del self[name]


class Slices:
    """The slices of a bucket: for each start, rows of (key, partials)."""

    def __init__(self, cases: list[Case]) -> None:
        self.cases = cases
        self.rows: dict[int, list[tuple[int, Any]]] = {}
        self.frames: Frames | None = None

    def frames_of(self, found: list[tuple[int, int, Any]]) -> list[tuple[int, Frame]]:
        assert self.frames is not None
        return self.frames.slices(
            np.array([start for start, _, _ in found], dtype=np.int64),
            [pa.array([key for _, key, _ in found], pa.int64())],
            [
                case.arrays([partials[at] for _, _, partials in found])
                for at, case in enumerate(self.cases)
            ],
        )

    def frames_between(self, low: int, high: int) -> list[tuple[int, Frame]]:
        found = [
            (start, key, partials)
            for start in sorted(self.rows)
            if low <= start < high
            for key, partials in self.rows[start]
        ]
        return self.frames_of(found)


def opened(name: str, slices: Slices, ranges: list[int], pieces: Pieces) -> Sliding:
    ops = [bind(case.part, case.types) for case in slices.cases]
    slices.frames = Frames(ops, Keys([pa.int64()]), counts=name == "subtract")
    return Sliding("f", name, slices.frames, ranges, slices, pieces)


def by_key(frames: Frames, frame: Frame) -> dict[int, list[Any]]:
    (keys,) = frames.keys.columns(frame.groups)
    columns = [rows(part) for part in frames.decode(frame)]
    return {key: [c[at] for c in columns] for at, key in enumerate(keys.to_pylist())}


def folded(slices: Slices, low: int, high: int) -> dict[int, list[Any]]:
    want: dict[int, list[Any]] = {}
    for start in sorted(slices.rows):
        if low <= start < high:
            for key, partials in slices.rows[start]:
                before = want.get(key, [case.monoid.identity for case in slices.cases])
                want[key] = [
                    case.monoid.combine(a, b)
                    for case, a, b in zip(slices.cases, before, partials, strict=True)
                ]
    return want


@st.composite
def scripts(draw: Any, cases: list[Case]) -> Any:
    """Micro-batches of (slice, key, partials) in any order, what each closes, and restarts."""
    partial = st.tuples(*(case.partials() for case in cases))
    batch = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4), partial), max_size=8)
    step = st.tuples(batch, st.integers(0, 4), st.booleans())
    return draw(st.lists(step, min_size=1, max_size=9))


def run(name: str, cases: list[Case], ranges: list[int], script: Any) -> None:
    """Run a script; slices are 10 long, and every slide closes a window of each range."""
    slices, pieces = Slices(cases), Pieces()
    sliding = opened(name, slices, ranges, pieces)
    frontier = 0
    meta: dict[str, Any] | None = None
    for batch, ahead, restart in script:
        oldest = {r: frontier - r + 10 for r in sliding.ranges}
        reach = frontier + 50
        begin = min(oldest.values())
        came = [
            (begin + int(at * (reach - begin)) // 10 * 10, key, part) for at, key, part in batch
        ]
        late = [row for row in came if sliding.upto is not None and row[0] < sliding.upto]
        found = slices.frames_of(late) if late else []
        if name == "subtract":
            held = dict(slices.frames_between(begin, reach))
            none = slices.frames.identity
            found = [(s, slices.frames.without_presence(f, held.get(s, none))) for s, f in found]
        for start, key, partials in came:
            slices.rows.setdefault(start, []).append((key, partials))
        if found and not sliding.late(found):
            sliding = opened(name, slices, ranges, pieces)
        if sliding.upto is None:
            for piece in list(pieces):
                del pieces[piece]
            sliding.begin(oldest, frontier, 64)
        until = frontier + 10 * ahead
        windows = [
            Closing(end, end - r, r)
            for end in range(frontier + 10, until + 1, 10)
            for r in sliding.ranges
        ]
        answered = {}
        for window, frame in sliding.close(windows):
            answered[window] = by_key(sliding.frames, frame)
        for window in windows:
            got, want = answered.get(window, {}), folded(slices, window.start, window.end)
            assert got.keys() == want.keys(), (name, window)
            for key in want:
                assert all(map(same, got[key], want[key])), (name, window, key)
        frontier = until
        sliding.evict({r: frontier - r + 10 for r in sliding.ranges})
        meta = sliding.save()
        if restart:
            sliding = opened(name, slices, ranges, pieces)
            assert sliding.restore(meta)
    discard("f", sliding.save(), pieces)
    assert not pieces


@pytest.mark.parametrize("name", STRUCTURES)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_every_structure_in_pieces(name: str, data: st.DataObject) -> None:
    served = [case for case in CASES if name in servers(bind(case.part, case.types).laws)]
    cases = data.draw(st.lists(st.sampled_from(served), min_size=1, max_size=2))
    ranges = data.draw(st.lists(st.integers(1, 7).map(lambda n: 10 * n), min_size=1, max_size=3))
    run(name, cases, ranges, data.draw(scripts(cases)))


class OneKey(Slices):
    """Slices of a few keys, each with its own start as the partial."""

    def __init__(self, keys: int) -> None:
        super().__init__([])
        self.keys = keys

    def frames_between(self, low: int, high: int) -> list[tuple[int, Frame]]:
        starts = [start for start in self.rows if low <= start < high]
        made = np.repeat(np.array(starts, dtype=np.int64), self.keys)
        keys = pa.array(np.tile(np.arange(self.keys), len(starts)))
        assert self.frames is not None
        return self.frames.slices(made, [keys], [[pa.array(made)]])


def slide_by_slide(name: str, window: int, slides: int, keys: int = 3) -> list[int]:
    """The number of pieces that each slide reads or writes if memory is lost between slides."""
    slices, pieces, meta = OneKey(keys), Pieces(), None
    spent = []
    for at in range(slides):
        slices.frames = Frames([TOTAL], Keys([pa.int64()]), counts=name == "subtract")
        sliding = Sliding("f", name, slices.frames, [window], slices, pieces)
        if meta is None:
            sliding.begin({window: -window + 1}, 0, window)
        else:
            assert sliding.restore(meta)
        pieces.touched.clear()
        slices.rows[at] = []
        ((_, found),) = sliding.close([Closing(at + 1, at + 1 - window, 0)])
        want = sum(range(max(0, at + 1 - window), at + 1))
        assert [row[0][0] for row in by_key(sliding.frames, found).values()] == [want] * keys
        sliding.evict({window: at + 2 - window})
        meta = sliding.save()
        spent.append(len(pieces.touched))
    return spent[window:]


class TestPiecesTouched:
    def test_daba_touches_a_constant_number(self) -> None:
        short, long = slide_by_slide("daba", 48, 150), slide_by_slide("daba", 192, 500)
        assert max(long) <= max(short) + 1
        assert max(long) <= 24

    def test_subtract_touches_its_total_alone(self) -> None:
        """Inserted and evicted slices are read from their own store."""
        assert max(slide_by_slide("subtract", 128, 300)) <= 3

    @pytest.mark.parametrize("name", ["flatfit", "two_stacks"])
    def test_amortised_constant_with_a_spike_once_a_window(self, name: str) -> None:
        spent = slide_by_slide(name, 128, 128 + 3 * 129)
        assert sum(spent) / len(spent) <= 16
        assert max(spent) >= 8  # occasionally the whole window is rewritten
        assert sorted(spent)[-7] <= 16

    def test_trees_touch_a_logarithm(self) -> None:
        assert max(slide_by_slide("flatfat", 128, 200)) <= 6 * 7


def test_what_was_made_in_another_way_is_not_taken_up() -> None:
    slices, pieces = OneKey(1), Pieces()
    slices.rows = {0: [], 5: []}
    for name, ranges in (("daba", [10]), ("flatfit", [10]), ("daba", [10, 20])):
        slices.frames = Frames([TOTAL], Keys([pa.int64()]))
        sliding = Sliding("f", name, slices.frames, ranges, slices, pieces)
        sliding.begin(dict.fromkeys(ranges, 0), 10, 8)
        meta = sliding.save()
        other = Sliding("f", "bint", slices.frames, ranges, slices, pieces)
        assert not other.restore(meta)
        again = Sliding("f", name, slices.frames, ranges, slices, pieces)
        assert again.restore(meta)


@pytest.mark.parametrize("damage", ["flip", "cut", "version", "gone"])
def test_damage_is_noticed_and_named(damage: str) -> None:
    slices, pieces = OneKey(2), Pieces()
    slices.rows = {start: [] for start in range(6)}
    slices.frames = Frames([TOTAL], Keys([pa.int64()]))
    sliding = Sliding("f", "daba", slices.frames, [6], slices, pieces)
    sliding.begin({6: 0}, 5, 8)
    meta = sliding.save()
    name = next(name for name in pieces if "/queue/" in name)
    piece = bytearray(pieces[name])
    if damage == "flip":
        piece[-20] ^= 1
    elif damage == "version":
        piece[4] = 99
    pieces[name] = bytes(piece[:5] if damage == "cut" else piece)
    if damage == "gone":
        del pieces[name]
    again = Sliding("f", "daba", slices.frames, [6], slices, pieces)
    assert again.restore(meta)
    with pytest.raises(CheckpointError, match=f"piece {name}"):
        list(again.close([Closing(6, 0, 0)]))


def test_a_lane_that_never_had_a_structure_has_nothing_to_discard():
    """A lane is marked calm a micro-batch before it gets a structure; it may be dropped by then."""
    discard("f1/0:", {"calm": 1}, pieces=None)
