"""Batches of slides: columns of partials in, columns of answers out.

    final = sliding("two_stacks", op, capacity=256)
    answers = slides(final, columns, counts=256)

It handles one key, many ranges over the same slices, or many keys in lockstep. If there is a
compiled kernel, it runs; otherwise the structure itself runs step by step, on the same state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.slides.array_store import ArrayCells, ArrayStore
from benchmarks.slides.per_range import PerRange
from weft.algebra.ops.base import Columns, VectorOp
from weft.engine.finals.auto import choose
from weft.engine.finals.contract import Final
from weft.engine.finals.lanes import Lanes
from weft.engine.finals.registry import make, structure
from weft.errors import FinalsError

Int64: TypeAlias = npt.NDArray[np.int64]


def sliding(
    name: str,
    op: VectorOp,
    *,
    capacity: int,
    ranges: int = 1,
    lanes: int = 1,
    first: int = 0,
    late: bool = True,
) -> Final | PerRange:
    """A structure over numbers in arrays, one lane per key, for `slides`.

    `auto` chooses one. If the structure answers only one range, each range gets its own structure.

    >>> import pyarrow as pa
    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> op = bind(Part("max", ("price",)), [pa.float64()])
    >>> sliding("auto", op, capacity=256).card.name
    'two_stacks'
    """
    if name == "auto":
        numbers = op.tag is not None  # a tag may be an empty tuple, which is false
        choice = choose(op.laws, ranges=ranges, window=capacity, keys=lanes, numbers=numbers)
        name = choice.structure

    def one() -> Final:
        algebra = Lanes(op, lanes)
        store = ArrayStore(algebra)
        return make(name, algebra, capacity=capacity, first=first, store=store, late=late)

    if ranges > 1 and structure(name).card.starts == "oldest":
        return PerRange([one() for _ in range(ranges)])
    return one()


def slides(
    final: Final | PerRange,
    columns: Columns,
    counts: int | npt.ArrayLike,
    *,
    hold: int | None = None,
    compiled: bool = True,
    out: Columns | None = None,
) -> Columns:
    """Insert the partials of `columns` in turn; after each, answer the newest `counts` slices.

    `columns` have the shape (slides,) or (slides, lanes). `counts` says how many slices a window
    has: one number; one per slide; or a row per slide (or a single row) with one per range, because
    windows with uneven edges have different numbers of slices. A window that begins before the
    first slice has fewer. The answers have the shape (slides,) or (slides, lanes), or with ranges
    (slides, ranges) or (slides, ranges, lanes). Slices older than the newest `hold` (default: the
    longest window) are evicted.

    >>> import pyarrow as pa
    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> op = bind(Part("max", ("price",)), [pa.float64()])
    >>> final = sliding("flatfit", op, capacity=3)
    >>> prices = op.encode([pa.array([3.0, 9.0, 4.0, 1.0, 5.0])])
    >>> slides(final, prices, counts=3)[0].tolist()
    [3.0, 9.0, 9.0, 9.0, 5.0]
    """
    if isinstance(final, PerRange):
        return _one_each(final, columns, counts, compiled, out)
    job = _Job(final, columns, counts, hold, out)
    kernel = _KERNELS.get(final.card.name) if compiled and job.is_compiled else None
    if kernel is None or not kernel(job):
        job.step_by_step()
    else:
        job.keep_originals()
    return job.answers()


def _one_each(
    each: PerRange,
    columns: Columns,
    counts: int | npt.ArrayLike,
    compiled: bool,
    out: Columns | None,
) -> Columns:
    """Answer every range by a separate structure."""
    given = np.asarray(counts, dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != len(each.finals):
        raise FinalsError(
            f"counts of shape {given.shape} for {len(each.finals)} ranges: accepted is a row with "
            f"one number per range, once or per slide"
        )
    answers = [
        slides(
            final,
            columns,
            given[:, query] if len(given) > 1 else given[0, query],
            compiled=compiled,
        )
        for query, final in enumerate(each.finals)
    ]
    stacked = tuple(np.stack(parts, axis=1) for parts in zip(*answers, strict=True))
    if out is None:
        return stacked
    for target, source in zip(out, stacked, strict=True):
        target[...] = source
    return out


class _Job:
    """One call of `slides`, with its arguments in the shapes that the loops need."""

    def __init__(
        self,
        final: Final,
        columns: Columns,
        counts: int | npt.ArrayLike,
        hold: int | None,
        out: Columns | None,
    ) -> None:
        if not isinstance(final.store, ArrayStore):
            raise FinalsError(
                f"slides() needs a structure over arrays, as `sliding` makes it, not one over "
                f"{type(final.store).__name__}"
            )
        self.final, self.store = final, final.store
        self.lanes = final.store.algebra.lanes
        self.many = len(columns[0])
        self.flat = columns[0].ndim == 1
        self.x = tuple(np.ascontiguousarray(c).reshape(self.many, self.lanes) for c in columns)
        given = np.asarray(counts, dtype=np.int64)
        self.single = given.ndim < 2
        self.counts = np.ascontiguousarray(given.reshape(-1, 1) if self.single else given)
        if len(self.counts) not in (1, self.many) or (self.counts < 1).any():
            raise FinalsError(
                f"counts of shape {given.shape} for {self.many} slides: accepted are numbers of at "
                f"least 1, one in all, one per slide, or a row of them"
            )
        if not self.single and self.final.card.starts == "oldest" and self.counts.shape[1] > 1:
            raise FinalsError(
                f"{final.card.name} answers one range: use one per range, or naive, flatfat, bint, "
                f"flatfit or shift"
            )
        self.hold = int(self.counts.max()) if hold is None else hold
        self.varies = len(self.counts) > 1
        if final.capacity < self.hold:
            final._resize(self.hold)
        self.order = np.argsort(
            -self.counts[0], kind="stable"
        )  # longest first: FlatFIT reuses more
        shape = (self.many, self.counts.shape[1], self.lanes)
        self.out = (
            tuple(np.empty(shape, dtype=c.dtype) for c in columns)
            if out is None
            else tuple(column.reshape(shape) for column in out)
        )

    @property
    def is_compiled(self) -> bool:
        return self.store.algebra.op.tag is not None and self.many > 0

    def keep_originals(self) -> None:
        """Store the originals of slices that a kernel has inserted, as `insert` would have done."""
        originals, capacity = self.final.originals, self.final.capacity
        if originals is None:
            return
        assert isinstance(originals, ArrayCells)
        kept = min(self.many, capacity)
        slots = np.arange(self.final.end - kept, self.final.end) % capacity
        for ring, fresh in zip(originals.reserve(capacity), self.x, strict=True):
            ring[slots] = fresh[self.many - kept :]

    def step_by_step(self) -> None:
        """Run the structure itself, slide by slide."""
        final, ranges = self.final, self.counts.shape[1]
        for slide in range(self.many):
            counts = self.counts[slide if self.varies else 0]
            oldest = int(counts[0]) if final.card.starts == "oldest" else self.hold
            final.evict(max(final.first, min(final.end, final.end + 1 - oldest)))
            final.insert(tuple(column[slide] for column in self.x))
            for query in self.order if not self.varies else range(ranges):
                start = max(final.first, final.end - int(counts[query]))
                for column, value in zip(self.out, final.answer(start), strict=True):
                    column[slide, query] = value

    def answers(self) -> Columns:
        """The answers without the dimensions that the call does not need."""
        shape = [self.many, *(() if self.single else (self.counts.shape[1],))]
        shape += [] if self.flat else [self.lanes]
        return tuple(column.reshape(shape) for column in self.out)

    # Arguments of kernels.

    def numbers(self) -> Int64:
        return np.array(list(self.final.numbers().values()), dtype=np.int64)

    def restore(self, numbers: Int64) -> None:
        names = self.final.numbers()
        self.final.restore_numbers(dict(zip(names, numbers.tolist(), strict=True)))

    def ring(self, name: str, room: int) -> Columns:
        cells = self.store.named[name]
        assert isinstance(cells, ArrayCells)
        return self.line(cells.reserve(room))

    def line(self, columns: Columns) -> Columns:
        """The columns; with one lane, as one-dimensional arrays."""
        return tuple(c.reshape(-1) for c in columns) if self.lanes == 1 else columns

    @property
    def row_counts(self) -> Int64:
        """The counts of the only range."""
        return np.ascontiguousarray(self.counts[:, 0])

    @property
    def rows(self) -> Columns:
        """The answers of the only range, lane by lane."""
        return tuple(column.reshape(self.many, self.lanes) for column in self.out)


def _naive(job: _Job) -> bool:
    from benchmarks.slides.kernels.naive import slides as kernel

    if job.lanes > 1:
        return False
    numbers, tag = job.numbers(), job.store.algebra.op.tag
    ring = job.ring("partials", job.final.capacity)
    kernel(tag, ring, numbers, job.line(job.x), job.counts, job.order, job.hold, job.line(job.out))
    job.restore(numbers)
    return True


def _flatfat(job: _Job) -> bool:
    from benchmarks.slides.kernels.flatfat import slides as kernel

    if job.lanes > 1:
        return False
    numbers, algebra = job.numbers(), job.store.algebra
    nodes = job.ring("nodes", 2 * int(numbers[4]))
    x, out = job.line(job.x), job.line(job.out)
    commutes = algebra.laws.commutative
    kernel(algebra.op.tag, nodes, numbers, x, job.counts, job.order, job.hold, commutes, out)
    job.restore(numbers)
    return True


def _bint(job: _Job) -> bool:
    from benchmarks.slides.kernels.bint import slides as kernel

    if job.lanes > 1:
        return False
    numbers, tag = job.numbers(), job.store.algebra.op.tag
    cells = job.ring("intervals", 2 * int(numbers[4]))
    kernel(tag, cells, numbers, job.line(job.x), job.counts, job.order, job.hold, job.line(job.out))
    job.restore(numbers)
    return True


def _flatfit(job: _Job) -> bool:
    from benchmarks.slides.kernels import flatfit

    if job.lanes > 1 and job.counts.shape[1] > 1:
        return False
    numbers, tag = job.numbers(), job.store.algebra.op.tag
    ring = job.ring("partials", job.final.capacity)
    pointers = job.store.numbered["pointers"].reserve(job.final.capacity)
    if job.lanes > 1:
        flatfit.lockstep(tag, ring, pointers, numbers, job.x, job.row_counts, job.hold, job.rows)
    else:
        x, out = job.line(job.x), job.line(job.out)
        flatfit.slides(tag, ring, pointers, numbers, x, job.counts, job.order, job.hold, out)
    job.restore(numbers)
    return True


def _two_stacks(job: _Job) -> bool:
    from benchmarks.slides.kernels import two_stacks

    numbers, tag = job.numbers(), job.store.algebra.op.tag
    ring = job.ring("queue", job.final.capacity)
    registers = job.ring("registers", 1)
    if job.lanes > 1:
        two_stacks.lockstep(tag, ring, registers, numbers, job.x, job.row_counts, job.rows)
    else:
        room = job.hold if not job.varies else 0
        older, newer = (tuple(np.empty(room, dtype=c.dtype) for c in ring) for _ in "12")
        x, out = job.line(job.x), job.line(job.out)
        two_stacks.slides(tag, ring, registers, numbers, x, job.row_counts, older, newer, out)
    job.restore(numbers)
    return True


def _daba(job: _Job) -> bool:
    from benchmarks.slides.kernels.daba import slides as kernel

    if job.lanes > 1:
        return False
    numbers, algebra = job.numbers(), job.store.algebra
    ring, registers = job.ring("queue", job.final.capacity), job.ring("registers", 2)
    blank = algebra.op.blank(1)
    x, out = job.line(job.x), job.line(job.out)
    kernel(algebra.op.tag, ring, registers, blank, numbers, x, job.row_counts, out)
    job.restore(numbers)
    return True


def _subtract(job: _Job) -> bool:
    from benchmarks.slides.kernels.subtract import slides as kernel

    if job.lanes > 1:
        return False
    numbers, tag = job.numbers(), job.store.algebra.op.tag
    ring, registers = job.ring("partials", job.final.capacity), job.ring("registers", 1)
    kernel(tag, ring, registers, numbers, job.line(job.x), job.row_counts, job.line(job.out))
    numbers[4] = numbers[1] - numbers[0]  # count every slice as non-empty: the total is exact
    job.restore(numbers)
    return True


def _shift(job: _Job) -> bool:
    from benchmarks.slides.kernels import shift

    if job.lanes > 1:
        return False
    numbers, tag = job.numbers(), job.store.algebra.op.tag
    ring = job.ring("suffixes", job.final.capacity)
    x, out = job.line(job.x), job.line(job.out)
    window = job.counts.shape[1]
    if not job.varies and np.array_equal(job.counts[0], np.arange(1, window + 1)):
        rows = tuple(column.reshape(job.many, window) for column in job.out)
        shift.every_range(tag, ring, numbers, x, rows)
    else:
        shift.slides(tag, ring, numbers, x, job.counts, job.order, job.hold, out)
    job.restore(numbers)
    return True


_KERNELS: dict[str, Callable[[_Job], bool]] = {
    "naive": _naive,
    "flatfat": _flatfat,
    "bint": _bint,
    "flatfit": _flatfit,
    "two_stacks": _two_stacks,
    "daba": _daba,
    "subtract": _subtract,
    "shift": _shift,
}
