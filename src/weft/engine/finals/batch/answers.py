"""The batch entry point: every answer of every query over a bucket of keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.ops.base import Columns, VectorOp, flat
from weft.engine.finals.batch.combined import combined
from weft.engine.finals.batch.layout import (
    UNBOUNDED,
    Instances,
    Ranges,
    Slices,
    ranges,
    rooms,
)
from weft.engine.finals.batch.running import Combined
from weft.engine.finals.batch.scratch import Scratch
from weft.errors import FinalsError
from weft.query.scale import UNITS, Scale

Int64: TypeAlias = npt.NDArray[np.int64]

CHUNK = 1 << 18
"""Rows processed at a time: a few columns of this length fit in the CPU's cache."""
MOST = 1 << 22
"""Answers returned at a time: a window of a day every second has far more answers than slices."""
TOGETHER = 1 << 16
"""Requests are answered together up to this many answers; with more, the cost of a call is
negligible."""


@dataclass(frozen=True, eq=False)
class WindowRequest:
    """One query's windows, the parts it needs, and which rows count for it.

    `rows` is a mask over the slices (the fragments that satisfy the query); queries that share
    one array share the work on it. Only instances that end in `(ends_after, ends_until]` are
    answered, so that a stream can request those that the watermark has passed.
    """

    range: int
    slide: int
    offset: int = 0
    parts: tuple[int, ...] = (0,)
    rows: npt.NDArray[np.bool_] | None = None
    ends_after: int = -UNBOUNDED
    ends_until: int = UNBOUNDED
    scale: Scale = UNITS
    """The unit of these numbers; the positions of slices are in units of the axis."""

    @property
    def windows(self) -> Instances:
        """Its window instances."""
        return Instances(self.range, self.slide, self.offset, self.ends_after, self.ends_until)


@dataclass(frozen=True, eq=False)
class Answers:
    """Some answers: key and window start of each, and every part's components."""

    asks: tuple[tuple[int, int], ...]
    """The index of each request and its number of answers here, in the order of the answers."""
    key: Int64
    start: Int64
    parts: tuple[list[pa.Array], ...] = field(repr=False)
    """For each part of the requests, one Arrow array per component."""
    end: Int64 | None = None
    """The ends of the windows; None if each is its start plus the range."""

    def __len__(self) -> int:
        return len(self.key)


def answer(
    slices: Slices,
    parts: Sequence[tuple[VectorOp, Sequence[pa.Array]]],
    asks: Sequence[WindowRequest],
    *,
    structure: str = "auto",
    chunk: int = CHUNK,
    most: int = MOST,
) -> Iterator[Answers]:
    """The combined partials of every (key, window instance) with a slice, for every request.

    `parts` are the partials, one Arrow array per component, in the order of the slices. Answers
    are returned in pieces, each for a range of keys (about `chunk` rows) and of time (about `most`
    answers), so that only one piece is in memory. Requests with few answers share a piece, because
    the fixed cost of a piece would exceed theirs. `structure` names the final structure.

    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> slices = Slices(key=np.array([7, 7, 8]), position=np.array([-60, 0, 0]))
    >>> total = bind(Part("sum", ("price",)), [pa.float64()])
    >>> partials = [pa.array([1.5, 2.0, 4.0])]
    >>> for found in answer(slices, [(total, partials)], [WindowRequest(range=120, slide=60)]):
    ...     print(found.key.tolist(), found.start.tolist(), found.parts[0][0].tolist())
    [7, 7, 7, 8, 8] [-120, -60, 0, -60, 0] [1.5, 3.5, 2.0, 4.0, 4.0]
    """
    for position, (op, arrays) in enumerate(parts):
        _check_part(position, op, arrays, len(slices))
    for ask in asks:
        _check_ask(ask, len(slices), len(parts))
    if len(slices) and not -UNBOUNDED < slices.position.min() <= slices.position.max() < UNBOUNDED:
        raise FinalsError(
            f"times from {slices.position.min()} to {slices.position.max()}: accepted are times "
            f"between -2**62 and 2**62; subtract a constant from the time column"
        )
    ops = [op for op, _ in parts]
    columns = [[flat(array) for array in arrays] for _, arrays in parts]
    wanted = {part for ask in asks for part in ask.parts}
    scratch = Scratch()
    for low, high in slices.chunks(chunk):
        piece = Slices(slices.key[low:high], slices.position[low:high])
        # Encoded piece by piece: encoding whole columns would double the memory of the batch.
        cut: list[Columns] = [
            op.encode([array[low:high] for array in arrays]) if position in wanted else ()
            for position, (op, arrays) in enumerate(zip(ops, columns, strict=True))
        ]
        for members in _by_rows(asks):
            mask = asks[members[0]].rows
            if mask is None:
                yield from _answers(piece, ops, cut, asks, members, scratch, most, structure)
                continue
            kept = np.flatnonzero(mask[low:high])
            some = Slices(piece.key[kept], piece.position[kept])
            needed = {part for member in members for part in asks[member].parts}
            taken = [
                op.take(part, kept) if position in needed else part
                for position, (op, part) in enumerate(zip(ops, cut, strict=True))
            ]
            yield from _answers(some, ops, taken, asks, members, scratch, most, structure)


def _answers(
    slices: Slices,
    ops: Sequence[VectorOp],
    columns: Sequence[Columns],
    asks: Sequence[WindowRequest],
    members: Sequence[int],
    scratch: Scratch,
    most: int,
    structure: str,
) -> Iterator[Answers]:
    """The answers of the requests with the same `rows` mask, over a range of keys."""
    askers = {
        part: sum(part in asks[member].parts for member in members)
        for part in sorted({part for member in members for part in asks[member].parts})
    }
    ready = {
        part: combined(
            ops[part],
            columns[part],
            asks=count,
            structure=structure,
            scratch=scratch,
            name=str(part),
        )
        for part, count in askers.items()
    }
    numbered: dict[Scale, Slices] = {UNITS: slices}
    for (scale, parts), alike in _alike(asks, members).items():
        if scale not in numbered:
            numbered[scale] = Slices(slices.key, scale.numbers(slices.position))
        placed = numbered[scale]
        for piece in _pieces(asks, alike, placed, most):
            found, counts = ranges(
                [windows for _, windows, _ in piece],
                placed,
                sum(room for _, _, room in piece),
                indexed=len(members) > 3,
                scratch=scratch,
            )
            if len(found) == 0:
                continue
            starts = scale.times(found.start.copy())
            ends = None
            if not scale.is_even:
                spans = np.repeat([windows.range for _, windows, _ in piece], counts)
                ends = scale.times(found.start + spans)
                scale.check(starts, ends)
            yield Answers(
                asks=tuple(
                    (member, count)
                    for (member, _, _), count in zip(piece, counts.tolist(), strict=True)
                    if count
                ),
                key=slices.key[found.low],
                start=starts,
                end=ends,
                parts=tuple(ops[part].decode(_over(ops[part], ready[part], found, counts))
                            for part in parts),
            )  # fmt: skip


def _alike(
    asks: Sequence[WindowRequest], members: Sequence[int]
) -> dict[tuple[Scale, tuple[int, ...]], list[int]]:
    """The members grouped by scale and by the parts that they need."""
    found: dict[tuple[Scale, tuple[int, ...]], list[int]] = {}
    for member in members:
        found.setdefault((asks[member].scale, asks[member].parts), []).append(member)
    return found


def _pieces(
    asks: Sequence[WindowRequest], members: Sequence[int], slices: Slices, most: int
) -> Iterator[list[tuple[int, Instances, int]]]:
    """Batches of members to answer at once, with their windows and the room that these need."""
    windows = [asks[member].windows for member in members]
    together: list[tuple[int, Instances, int]] = []
    held = 0
    for member, some, room in zip(members, windows, rooms(windows, slices).tolist(), strict=True):
        if room > most:
            for stretch in some.stretches(slices, room, most):
                yield [(member, stretch, int(rooms([stretch], slices)[0]))]
            continue
        if together and held + room > min(most, TOGETHER):
            yield together
            together, held = [], 0
        together.append((member, some, room))
        held += room
    if together:
        yield together


def _over(op: VectorOp, ready: Combined, found: Ranges, counts: Int64) -> Columns:
    """The combined partials of the ranges of some windows."""
    if not ready.in_order or len(counts) == 1:
        return ready.over(found.low, found.high)
    ends = np.cumsum(counts)
    return op.concat(
        [
            ready.over(found.low[low:high], found.high[low:high])
            for low, high in zip((ends - counts).tolist(), ends.tolist(), strict=True)
            if low < high
        ]
    )


def _check_part(position: int, op: VectorOp, arrays: Sequence[pa.Array], rows: int) -> None:
    for array in arrays:
        if len(array) != rows:
            raise FinalsError(
                f"parts[{position}] ({op.kind}) has {len(array)} partials for {rows} slices"
            )


def _by_rows(asks: Sequence[WindowRequest]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for position, ask in enumerate(asks):
        groups.setdefault(0 if ask.rows is None else id(ask.rows), []).append(position)
    return list(groups.values())


def _check_ask(ask: WindowRequest, rows: int, parts: int) -> None:
    if ask.rows is not None and len(ask.rows) != rows:
        raise FinalsError(f"rows of an ask is a mask of {len(ask.rows)} for {rows} slices")
    for part in ask.parts:
        if not 0 <= part < parts:
            raise FinalsError(f"parts={ask.parts!r} of an ask: accepted are 0 to {parts - 1}")
