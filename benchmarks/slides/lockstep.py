"""Many keys in lockstep: one row of lanes per slice; keys may appear and disappear."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.slides.array_store import ArrayStore
from benchmarks.slides.slides import slides, sliding
from weft.algebra.ops.base import Columns, VectorOp
from weft.engine.finals.contract import Final
from weft.errors import FinalsError

Int64: TypeAlias = npt.NDArray[np.int64]


class Lockstep:
    """A window x keys matrix of partials: all keys take the same steps, so one pass serves all.

    Rows and answers are listed by slide and key, leaving out keys without any. A key gets a lane
    with its first row and loses it when its last slice has left the window; the matrix grows as
    needed.

    >>> import pyarrow as pa
    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> op = bind(Part("sum", ("price",)), [pa.float64()])
    >>> keys = Lockstep("two_stacks", op, capacity=2)
    >>> slide, key, (total, _) = keys.slides(
    ...     slide=[0, 0, 1, 3], key=[7, 8, 7, 7],
    ...     columns=op.encode([pa.array([1.0, 2.0, 4.0, 8.0])]), many=4, counts=2)
    >>> list(zip(slide.tolist(), key.tolist(), total.tolist()))
    [(0, 7, 1.0), (0, 8, 2.0), (1, 7, 5.0), (1, 8, 2.0), (2, 7, 4.0), (3, 7, 8.0)]
    """

    def __init__(self, name: str, op: VectorOp, *, capacity: int, lanes: int = 8) -> None:
        self.op = op
        made = sliding(name, op, capacity=capacity, lanes=lanes)
        assert isinstance(made, Final)
        self.final = made
        self.key = np.full(lanes, -1, dtype=np.int64)
        """The key of each lane."""
        self.seen = np.full(lanes, -1, dtype=np.int64)
        """The newest position at which each lane's key had rows; -1 if the lane is free."""
        self._lane: dict[int, int] = {}

    @property
    def lanes(self) -> int:
        """The number of lanes, including free ones."""
        return len(self.key)

    @property
    def held(self) -> int:
        """The number of keys with rows in the window."""
        return len(self._lane)

    def slides(
        self,
        slide: npt.ArrayLike,
        key: npt.ArrayLike,
        columns: Columns,
        *,
        many: int,
        counts: int | npt.ArrayLike,
    ) -> tuple[Int64, Int64, Columns]:
        """Insert `many` slices; after each, answer the newest `counts` slices for their keys.

        Row i of `columns` is the partial of `key[i]` in the slice of slide `slide[i]`; a slide has
        each key at most once. The answers are slide, key and partial, sorted by slide, then key.
        """
        step, keys = np.asarray(slide, dtype=np.int64), np.asarray(key, dtype=np.int64)
        if len(step) and (step.min() < 0 or step.max() >= many):
            raise FinalsError(f"slide must lie in [0, {many}), not reach to {step.max()}")
        lane = self._lanes_of(keys)
        cells = step * self.lanes + lane
        if len(np.unique(cells)) != len(cells):
            raise FinalsError("a key comes twice in one slide: combine its partials first")
        rows = np.full(many * self.lanes, -1, dtype=np.int64)
        rows[cells] = np.arange(len(cells))
        matrix = tuple(c.reshape(many, self.lanes) for c in self.op.take(columns, rows))
        first = self.final.end
        answers = slides(self.final, matrix, counts)
        # A key has an answer as long as its newest rows are in the window.
        newest = np.where(rows.reshape(many, self.lanes) >= 0, first + np.arange(many)[:, None], -1)
        if many:
            newest[0] = np.maximum(newest[0], self.seen)
            newest = np.maximum.accumulate(newest, axis=0)
            self.seen = newest[-1].copy()
        ends = first + 1 + np.arange(many)
        starts = ends - np.broadcast_to(np.asarray(counts, dtype=np.int64), many)
        at, lanes = np.nonzero((newest >= starts[:, None]) & (newest >= 0))
        found = tuple(column[at, lanes] for column in answers)
        order = np.lexsort((self.key[lanes], at))
        answered = self.key[lanes][order]
        self._free()
        return at[order], answered, tuple(column[order] for column in found)

    def merge(self, position: int, key: npt.ArrayLike, columns: Columns) -> None:
        """Combine late partials of some keys into the slice at `position`."""
        lane = self._lanes_of(np.asarray(key, dtype=np.int64))
        rows = np.full(self.lanes, -1, dtype=np.int64)
        rows[lane] = np.arange(len(lane))
        self.final.merge(position, self.op.take(columns, rows))
        self.seen[lane] = np.maximum(self.seen[lane], position)

    def _lanes_of(self, keys: Int64) -> Int64:
        distinct, where = np.unique(keys, return_inverse=True)
        free = np.flatnonzero(self.seen < 0).tolist()
        new = [key for key in distinct.tolist() if key not in self._lane]
        if len(new) > len(free):
            self._widen(self.lanes + max(self.lanes, len(new) - len(free)))
            free = np.flatnonzero(self.seen < 0).tolist()
        for key, lane in zip(new, free, strict=False):
            self._lane[key] = lane
            self.key[lane] = key
        lanes = np.array([self._lane[key] for key in distinct.tolist()], dtype=np.int64)
        return np.asarray(lanes[where] if len(keys) else lanes)

    def _widen(self, lanes: int) -> None:
        store = self.final.store
        assert isinstance(store, ArrayStore)
        store.widen(lanes)
        more = np.full(lanes - self.lanes, -1, dtype=np.int64)
        self.key, self.seen = np.concatenate([self.key, more]), np.concatenate([self.seen, more])

    def _free(self) -> None:
        """Free the lanes whose last rows have left the window, for other keys."""
        for lane in np.flatnonzero((self.seen >= 0) & (self.seen < self.final.first)).tolist():
            del self._lane[int(self.key[lane])]
            self.key[lane] = self.seen[lane] = -1
