"""A stream's finals with explicit state: rows in, windows closed, pieces out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.ops.base import VectorOp
from weft.engine.finals.contract import Final
from weft.engine.finals.registry import make
from weft.engine.finals.stream.frame import Frame, Frames
from weft.engine.finals.stream.pages import PagedStore, Touched
from weft.engine.finals.stream.pieces import pack_json, unpack_json
from weft.errors import CheckpointError, FinalsError

Int64: TypeAlias = npt.NDArray[np.int64]
_META = "meta"


class StreamState:
    """The slices of one tree and a structure over them, for many keys and parts at once.

    Rows may come for any slice, in any order: `add` keeps those of open slices aside, and merges
    those of slices that are already in the structure (late). `close` brings in the slices up to the
    ends of the windows that are due, one by one, and answers each window when the structure ends
    where it does. `evict` lets go of what no window needs. `save` gives the pieces that have
    changed since the last time, `restore` opens a state whose pieces are read as they are needed.

    >>> import pyarrow as pa
    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> op = bind(Part("sum", ("price",)), [pa.int64()])
    >>> state = StreamState([op], "daba")
    >>> state.add([7, 8, 7], [0, 0, 60], [[pa.array([1, 2, 3])]])
    >>> (answer,) = state.close([(0, 120)], edges=[0, 60])
    >>> answer.keys.tolist(), state.decode(answer)[0][0].tolist()
    ([7, 8], [4, 2])
    >>> pieces = state.save()
    >>> again = StreamState.restore([op], pieces)
    >>> again.add([8], [60], [[pa.array([10])]])
    >>> again.evict(before=60)
    >>> (answer,) = again.close([(60, 180)], edges=[120])
    >>> answer.keys.tolist(), state.decode(answer)[0][0].tolist()
    ([7, 8], [3, 10])
    """

    def __init__(
        self,
        ops: Sequence[VectorOp],
        structure: str,
        *,
        page: int = 16,
        capacity: int = 8,
        load: Callable[[str], bytes | None] | None = None,
    ) -> None:
        if page < 1:
            raise FinalsError(f"page={page!r} must be at least one cell")
        self.frames = Frames(ops)
        self.structure, self.page = structure, page
        self.store = PagedStore(self.frames, page, load or (lambda name: None))
        self.final: Final = make(structure, self.frames, capacity=capacity, store=self.store)
        self.starts = self.store.pointers("starts")
        self.open: dict[int, int] = {}
        """Slices with rows that are not in the structure yet: start to cell of `pending`."""
        self.pending = self.store.cells("pending")
        self.next_pending = 0
        self.newest: int | None = None
        """The start of the newest slice in the structure."""
        self.evicted: int | None = None
        """Slices that started before this instant are gone."""
        self.version = 0
        """Grows with every `save`: a copy in memory is good only while the store's is the same."""

    # Rows in.

    def add(
        self,
        keys: npt.ArrayLike,
        starts: npt.ArrayLike,
        parts: Sequence[Sequence[pa.Array]],
    ) -> None:
        """Take partials in: the key, the slice's start and the components of each.

        Partials of one key and slice may come more than once; they are combined in the order in
        which they come. Slices that were evicted are refused: nobody would see them.
        """
        key, start = np.asarray(keys, dtype=np.int64), np.asarray(starts, dtype=np.int64)
        ops = self.frames.ops
        columns = [op.encode(arrays) for op, arrays in zip(ops, parts, strict=True)]
        for slice_start in np.unique(start).tolist():
            rows = np.flatnonzero(start == slice_start)
            frame = self.frames.identity
            while len(rows):  # one partial of each key at a time, in the order of the rows
                _, at = np.unique(key[rows], return_index=True)
                chosen = rows[at]
                taken = (op.take(c, chosen) for op, c in zip(ops, columns, strict=True))
                frame = self.frames.combine(frame, Frame(key[chosen], tuple(taken)))
                rows = np.delete(rows, at)
            self._add_frame(slice_start, frame)

    def _add_frame(self, start: int, frame: Frame) -> None:
        if self.newest is None or start > self.newest:
            if start not in self.open:
                self.open[start] = self.next_pending
                self.next_pending += 1
            cell = self.open[start]
            held = self.pending.get(cell)
            self.pending.put(cell, frame if held is None else self.frames.combine(held, frame))
            return
        if not self.final.held or start < self._start(self.final.first):
            raise FinalsError(f"start={start} is of a slice that was evicted")
        position = self._position(start)
        if self._start(position) != start:
            raise FinalsError(
                f"start={start} is not one of the edges that were given to close(): late rows can "
                f"only come for those"
            )
        self.final.merge(position, frame)

    # Windows out.

    def close(self, ranges: Iterable[tuple[int, int]], edges: npt.ArrayLike) -> list[Frame]:
        """The answer of each range `[start, end)`, in the order given.

        `edges` are the starts of all slices up to the last end that are not in yet, ascending,
        with and without rows: a late row may still come for an empty one. A structure that
        answers only all that it holds lets go of what is older than each start.
        """
        wanted = list(ranges)
        new = np.asarray(edges, dtype=np.int64)
        fresh = new if self.newest is None else new[new > self.newest]
        answers: list[Frame] = [self.frames.identity] * len(wanted)
        at = 0
        for query in sorted(range(len(wanted)), key=lambda query: wanted[query][1]):
            start, end = wanted[query]
            while at < len(fresh) and fresh[at] < end:
                self._insert(int(fresh[at]))
                at += 1
            if self.newest is not None and self.newest >= end and self.final.card.starts != "any":
                raise FinalsError(
                    f"end={end} was passed: {self.structure} answers only up to its newest slice, "
                    f"which starts at {self.newest}; close ranges in the order of their ends"
                )
            first, last = self._position(start), self._position(end)
            if self.evicted is not None and start < self.evicted:
                raise FinalsError(
                    f"start={start} lies before {self.evicted}: its slices were evicted"
                )
            if self.final.card.starts == "oldest":
                self.evict(start)
            answers[query] = self.final.answer(first, last)
        return answers

    def _insert(self, start: int) -> None:
        cell = self.open.pop(start, None)
        frame = self.frames.identity if cell is None else self.pending.get(cell)
        if cell is not None:
            self.pending.put(cell, None)
        earlier = [other for other in self.open if other < start]
        if earlier:
            raise FinalsError(
                f"edges miss start={min(earlier)}, for which rows have come: accepted are the "
                f"starts of all slices up to the last end"
            )
        position = self.final.insert(frame)
        self.starts.put(position, start)
        self.newest = start

    def evict(self, before: int) -> None:
        """Let go of the slices that start before an instant."""
        self.final.evict(self._position(before))
        self.evicted = before if self.evicted is None else max(before, self.evicted)

    def _start(self, position: int) -> int:
        start: int = self.starts.get(position)
        return start

    def _position(self, instant: int) -> int:
        """The position of the first slice that does not start before an instant.

        Guessed by the mean distance of slices, then searched for from there in doubled steps, so
        that few pages are looked at.
        """
        low, high = self.final.first, self.final.end
        if self.newest is None or instant > self.newest or low == high:
            return high
        oldest = self._start(low)
        if instant <= oldest:
            return low
        share = (instant - oldest) / (self.newest - oldest)
        guess = min(high - 1, low + int(share * (high - 1 - low)))
        step = 1
        if self._start(guess) < instant:
            low = guess + 1
            while low + step < high and self._start(low + step) < instant:
                low, step = low + step + 1, 2 * step
            high = min(high, low + step)
        else:
            high = guess
            while high - step > low and self._start(high - step) >= instant:
                high, step = high - step, 2 * step
            low = max(low, high - step)
        while low < high:
            middle = (low + high) // 2
            if self._start(middle) < instant:
                low = middle + 1
            else:
                high = middle
        return low

    def decode(self, frame: Frame) -> list[list[pa.Array]]:
        """A frame's partials: for every part, one Arrow array per component."""
        return self.frames.decode(frame)

    # Pieces.

    @property
    def pieces_touched(self) -> Touched:
        """What was read and written since the last `begin`."""
        return self.store.touched

    def begin(self) -> None:
        """Count pieces anew."""
        fresh = Touched()
        self.store.touched = fresh
        for cells in self.store.named.values():
            cells.touched = fresh

    def save(self) -> dict[str, bytes]:
        """The pieces to be written; `pieces_touched.dropped` names those to be removed."""
        self.version += 1
        saved = self.store.save(self._is_live)
        meta = pack_json(
            {
                "structure": self.structure,
                "parts": _described(self.frames.ops),
                "page": self.page,
                "numbers": self.final.numbers(),
                "open": [[start, cell] for start, cell in self.open.items()],
                "next_pending": self.next_pending,
                "newest": self.newest,
                "evicted": self.evicted,
                "version": self.version,
                "pages": self.store.directory(),
            }
        )
        touched = self.pieces_touched
        touched.written.add(_META)
        touched.written_bytes += len(meta)
        return {**saved, _META: meta}

    def _is_live(self, name: str, low: int, high: int) -> bool:
        """Whether any cell from low up to high of the named ones may still be looked at."""
        if name == "starts":
            return low < self.final.end and high > self.final.first
        if name == "pending":
            return any(low <= cell < high for cell in self.open.values())
        return self.final.is_live(name, low, high)

    def is_current(self, meta: bytes) -> bool:
        """Whether this copy in memory is the state of which `meta` is the stored piece."""
        return bool(unpack_json(_META, meta)["version"] == self.version)

    @classmethod
    def restore(
        cls,
        ops: Sequence[VectorOp],
        pieces: Mapping[str, bytes] | Callable[[str], bytes | None],
    ) -> StreamState:
        """The state of which these are the pieces; only `meta` is read now."""
        load = pieces.get if isinstance(pieces, Mapping) else pieces
        stored = load(_META)
        if stored is None:
            raise CheckpointError(f"piece {_META!r} is missing from the state")
        meta: dict[str, Any] = unpack_json(_META, stored)
        if meta["parts"] != _described(ops):
            raise CheckpointError(
                f"the state holds partials of {meta['parts']}, not of {_described(ops)}"
            )
        state = cls(ops, meta["structure"], page=meta["page"], load=load)
        state.final.restore_numbers(meta["numbers"])
        state.open = dict(meta["open"])
        state.next_pending, state.newest = meta["next_pending"], meta["newest"]
        state.evicted = meta["evicted"]
        state.version = meta["version"]
        state.store.restore_directory(meta["pages"])
        state.pieces_touched.read.add(_META)
        state.pieces_touched.read_bytes += len(stored)
        return state


def _described(ops: Sequence[VectorOp]) -> list[str]:
    return [repr(op) for op in ops]
