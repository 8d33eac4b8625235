"""Lanes in a stream: the slices of windows that share keys, predicate and lateness, as frames.

One structure serves a lane: its windows differ in range and slide, but use the same rows and close
in the order of their ends, which would not hold for windows of different lateness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from weft.algebra.ops import bind
from weft.engine.finals.auto import Choice, choose, named
from weft.engine.program import TreeProgram
from weft.engine.query_windows import Lane
from weft.engine.shards import FRAGMENT, SLICE, flat
from weft.engine.state.frames import Frame, Frames, Keys
from weft.engine.state.sliding import Sliding, discard

if TYPE_CHECKING:
    from weft.engine.state.bucket import Bucket

FEW = 16
"""Windows of fewer slices are combined from scratch: a structure would gain nothing."""
SLIDES = 8
"""A structure pays if windows have at least this many times the slides a micro-batch closes."""


def lane_name(tree: TreeProgram, lane: Lane) -> str:
    """The name of a lane's pieces in the state; never reused, because numbers are not."""
    keys = ".".join(map(str, lane.keys))
    predicate = "" if lane.predicate is None else lane.predicate
    late = f"+{lane.lateness}" if lane.lateness else ""
    return f"f{tree.number}/{keys}:{predicate}{late}"


def lane_choice(tree: TreeProgram, lane: Lane, finals: str, slices: int) -> Choice:
    """The structure that serves a lane's windows in a stream, and why."""
    if finals == "blocks":
        return Choice("blocks", "as asked for, over gathered slices")
    ops = [bind(tree.part(number).part, tree.part(number).types) for number in lane.parts]
    if finals != "auto":
        for op in ops:
            named(finals, op.laws, op.kind)
        return Choice(finals, "as asked for")
    if slices < FEW:
        return Choice("blocks", f"windows of {slices} slices: combined from scratch")
    laws = Frames(ops, Keys([])).laws
    return choose(laws, form="stream", ranges=len(lane.ranges), window=slices)


def explain_lanes(trees: Sequence[TreeProgram], finals: str) -> list[str]:
    """Which structure answers which windows of a stream, and why."""
    lines = []
    for tree in trees:
        if tree.is_session:
            lines.append(f"run: store {tree.number}: sessions of every gap from open stretches")
            if any(window.maximum for window in tree.services):
                lines.append(f"run: store {tree.number}: those with a maximum are kept separately")
        if tree.uneven:
            lines.append(f"run: store {tree.number}: calendar windows from gathered slices")
        for lane in tree.lanes:
            slices = max(lane.ranges) // tree.mean_slice
            parts = ", ".join(str(tree.part(number).part) for number in lane.parts)
            chosen = lane_choice(tree, lane, finals, slices)
            later = (
                "; blocks over gathered slices while a micro-batch closes many slides"
                if finals == "auto" and chosen.structure != "blocks"
                else ""
            )
            late = f", {lane.lateness} units after the watermark" if lane.lateness else ""
            lines.append(f"run: store {tree.number}: finals of {parts}{late} by {chosen}{later}")
    return lines


class LaneState:
    """A lane of an open bucket: its slices as frames, and the structure over them, if any."""

    def __init__(self, bucket: Bucket, tree: TreeProgram, lane: Lane) -> None:
        self.bucket, self.tree, self.lane = bucket, tree, lane
        self.name = lane_name(tree, lane)
        self.sliding: Sliding | None = None
        self._late: list[tuple[int, Frame]] = []
        self._oldest: list[int | None] = self.meta.get("oldest", [])

    # The slices as frames.

    def _frames(self, structure: str) -> Frames:
        parts = [self.tree.part(number) for number in self.lane.parts]
        kinds = {key.number: key.type for key in self.tree.schema.keys}
        keys = Keys([kinds[number] for number in self.lane.keys])
        ops = [bind(part.part, part.types) for part in parts]
        return Frames(ops, keys, counts=structure == "subtract")

    def frames_of(self, shards: pa.Table) -> list[tuple[int, Frame]]:
        """The shards as one frame per slice."""
        assert self.sliding is not None
        if self.lane.predicate is not None and shards.num_rows:
            mask = self.bucket.satisfied(self.lane.predicate)[flat(shards, FRAGMENT).to_numpy()]
            shards = shards.filter(pa.array(mask))
        if not shards.num_rows:
            return []
        return self.sliding.frames.slices(
            flat(shards, SLICE).to_numpy(),
            [flat(shards, f"k{number}") for number in self.lane.keys],
            [
                [flat(shards, column) for column in self.tree.part(number).columns]
                for number in self.lane.parts
            ],
        )

    def frames_between(self, low: int, high: int) -> list[tuple[int, Frame]]:
        """Every slice that holds rows and starts in `[low, high)`, ascending."""
        return self.frames_of(self.bucket.slices_between(self.tree, low, high))

    # The structure over them.

    @property
    def meta(self) -> dict[str, Any]:
        """The index's metadata of the lane's structure."""
        return self.bucket.index.sliding.get(self.name, {})

    def open(self, structure: str) -> Sliding:
        """The structure as the last micro-batch saved it, or a new one, to be filled by `begin`."""
        if self.sliding is not None and self.sliding.structure == structure:
            return self.sliding
        made = Sliding(
            self.name, structure, self._frames(structure), self.lane.ranges, self, self.bucket
        )
        self.sliding = made
        if "signature" in self.meta and not (self._reaches() and made.restore(self.meta)):
            self.close_down()
            self.sliding = made
        return made

    def _reaches(self) -> bool:
        """Whether the structure holds all slices of the open windows: a backfilled query may need
        older slices than the queries before it."""
        known = self.meta.get("oldest", [])
        wanted = self.lane.oldest_open(self.bucket.frontier).values()
        return len(known) == len(wanted) and all(
            start is None or (first is not None and first <= start)
            for first, start in zip(known, wanted, strict=True)
        )

    def close_down(self) -> None:
        """Remove the structure from the state; the slices stay."""
        if "finals" in self.meta:
            discard(self.name, self.meta, self.bucket)
        self.bucket.index.sliding.pop(self.name, None)
        self.sliding = None

    def is_calm(self, windows: int, slices: int) -> bool:
        """Whether this is at least the second micro-batch in a row that closes few windows for
        their length, so that a structure pays.

        A micro-batch that catches up on hours of rows reads every slice anyway.
        """
        few = slices >= FEW and windows * SLIDES <= slices * len(self.lane.ranges)
        if not few:
            self.close_down()
            return False
        if "finals" in self.meta:
            return True
        seen = self.meta.get("calm", 0)
        self.bucket.index.sliding[self.name] = {"calm": seen + 1}
        return bool(seen)

    def begin(self, sliding: Sliding, frontier: int) -> None:
        """Build the structure from the slices of open windows, up to the frontier."""
        if sliding.upto is not None:
            return
        capacity = min(1 << 20, max(self.lane.ranges) // self.tree.mean_slice + 2)
        # The slice that contains the frontier is still open.
        upto = self.tree.slice_start(self.lane.own_frontier(frontier))
        sliding.begin(self.lane.oldest_open(frontier), upto, capacity)

    # Late rows: noted before they are merged into the slices, merged into the structure after.

    def note_late(self, shards: pa.Table, frontier: int) -> None:
        """Note the rows of slices that are in the structure already."""
        upto = self.meta.get("upto")
        if upto is None or not shards.num_rows:
            return
        slices = flat(shards, SLICE).to_numpy()
        starts = [s for s in self.lane.oldest_open(frontier).values() if s is not None]
        late = (slices < upto) & (slices >= min(starts, default=upto))
        if not late.any():
            return
        sliding = self.open(self.meta["structure"])
        if sliding.upto is None:
            return
        self._late = self.frames_of(shards.filter(pa.array(late)))
        if sliding.frames.counts:
            self._late = [
                (start, sliding.frames.without_presence(frame, self._held(start)))
                for start, frame in self._late
            ]

    def _held(self, start: int) -> Frame:
        assert self.sliding is not None
        found = self.frames_between(start, start + 1)
        return found[0][1] if found else self.sliding.frames.identity

    def merge_late(self) -> None:
        """Merge the noted rows; if one is in a slice that was empty, the structure is discarded,
        because a slice cannot be inserted between others."""
        if self._late and self.sliding is not None and not self.sliding.late(self._late):
            self.close_down()
        self._late = []

    def evict(self, frontier: int) -> None:
        """Evict slices that no open window needs, while they are still in the state."""
        oldest = self.lane.oldest_open(frontier)
        if self.sliding is None and self.meta.get("oldest", []) == list(oldest.values()):
            return
        if self.sliding is None and "finals" in self.meta:
            self.open(self.meta["structure"])
        if self.sliding is not None and self.sliding.upto is not None:
            self.sliding.evict(oldest)
            self._oldest = list(oldest.values())

    def save(self) -> None:
        """Write the changed pages of the structure, and its metadata."""
        if self.sliding is not None and self.sliding.upto is not None:
            saved = {**self.sliding.save(), "oldest": self._oldest}
            self.bucket.index.sliding[self.name] = saved


def slices_in(tree: TreeProgram, lane: Lane, held: Sequence[int]) -> int:
    """The approximate slices in a lane's longest window; `held` are the slice counts of pieces."""
    return min(max(lane.ranges) // max(1, tree.mean_slice), sum(held))
