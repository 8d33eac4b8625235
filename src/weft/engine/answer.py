"""From slices to answers: takes the shards of some groups, returns every window's partials.

    shards (slice, fragment, keys, parts) --sort by group and slice--> slices of each group
        --a final structure, over the rows of a query's fragments--> partials of every window

Used wherever all the slices are in memory: for a bucket of groups in a batch, and for the slices
that a stream's bucket has gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.ops import bind
from weft.engine.blame import named
from weft.engine.finals.batch import Answers, Slices, WindowRequest, answer
from weft.engine.groups import group_rows
from weft.engine.overload import Bounds
from weft.engine.program import TreeProgram
from weft.engine.query_windows import FAR, Lane, QueryWindows
from weft.engine.shards import SLICE, flat
from weft.errors import AggregateError, WindowError

Int64: TypeAlias = npt.NDArray[np.int64]
Satisfied: TypeAlias = Callable[[int], npt.NDArray[np.bool_]]
"""Given the number of a predicate, returns for each shard whether its fragment satisfies it."""
MASKS = 1 << 27
"""Limit of the masks in memory at a time, in bytes."""


@dataclass(frozen=True, eq=False)
class Combined:
    """Answers before lowering: window starts, keys, and partials by part."""

    asked: tuple[tuple[tuple[int, ...], int], ...]
    """Which queries the answers are for, and how many answers, in the order of the rows. Queries
    with the same windows, groups, rows and parts share one entry."""
    start: Int64
    keys: tuple[pa.Array, ...]
    parts: tuple[tuple[pa.Array, ...], ...]
    end: Int64 | None = None
    """The ends of the windows; None if each is its start plus the range."""

    @classmethod
    def of(
        cls,
        queries: tuple[int, ...],
        start: Int64,
        keys: tuple[pa.Array, ...],
        parts: tuple[tuple[pa.Array, ...], ...],
        end: Int64 | None = None,
    ) -> Combined:
        """Answers that all belong to the same queries."""
        return cls(((queries, len(start)),), start, keys, parts, end)

    def each(self) -> Iterator[tuple[tuple[int, ...], Combined]]:
        """The answers of each entry of `asked`, with its queries."""
        low = 0
        for queries, count in self.asked:
            yield queries, self if count == len(self.start) else self._slice(queries, low, count)
            low += count

    def only(self, places: Iterable[int]) -> Combined:
        """The answers of some entries of `asked`, given by ascending positions."""
        ends = np.cumsum([count for _, count in self.asked])
        kept = list(places)
        rows = np.concatenate(
            [np.arange(ends[at] - self.asked[at][1], ends[at]) for at in kept], dtype=np.int64
        )
        at = pa.array(rows)
        return Combined(
            tuple(self.asked[place] for place in kept),
            self.start[rows],
            tuple(column.take(at) for column in self.keys),
            tuple(tuple(column.take(at) for column in part) for part in self.parts),
            None if self.end is None else self.end[rows],
        )

    def _slice(self, queries: tuple[int, ...], low: int, count: int) -> Combined:
        return Combined.of(
            queries,
            self.start[low : low + count],
            tuple(column.slice(low, count) for column in self.keys),
            tuple(tuple(column.slice(low, count) for column in part) for part in self.parts),
            None if self.end is None else self.end[low : low + count],
        )


@dataclass(frozen=True)
class DueWindows:
    """Windows to be answered: those that end in `(after, upto]`."""

    service: QueryWindows
    after: int = -FAR
    upto: int = FAR
    queries: tuple[int, ...] = ()
    """The queries to answer, if not only the query of `service`."""

    @property
    def askers(self) -> tuple[int, ...]:
        """The queries to answer."""
        return self.queries or (self.service.query,)

    @classmethod
    def of(
        cls,
        lane: Lane,
        after: int = -FAR,
        upto: int = FAR,
        *,
        silent: AbstractSet[int] = frozenset(),
        stretches: Sequence[tuple[int, int]] | None = None,
    ) -> list[DueWindows]:
        """The due windows of a lane's queries that are not `silent`; one entry for equal windows.

        With `stretches`, only windows that may contain slices in these spans.
        """
        counts = [1] * len(lane.alike)
        if stretches is not None and lane.is_even:
            counts = lane.counts(stretches, after, upto).tolist()
        found = []
        for (service, queries), count in zip(lane.alike, counts, strict=True):
            asking = tuple(query for query in queries if query not in silent)
            if asking and count:
                found.append(cls(service, after, upto, asking))
        return found

    def starts(self, stretches: Sequence[tuple[int, int]], bounds: Bounds) -> Int64:
        """The starts of those windows that may contain slices in any of these spans."""
        times = (self.after, self.upto)
        count = sum(self.service.count(low, high, *times) for low, high in stretches)
        for query in bounds.queries.intersection(self.askers):
            bounds.check(query, "windows", count)
        found = [self.service.starts(low, high, self.after, self.upto) for low, high in stretches]
        if len(found) == 1:
            return found[0]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)

    def request(self, parts: tuple[int, ...], rows: npt.NDArray[np.bool_] | None) -> WindowRequest:
        """The same as a request to the final structures; `parts` are positions."""
        service, scale = self.service, self.service.scale
        since = scale.ceil(service.since) + service.range - 1
        return WindowRequest(
            range=service.range,
            slide=service.slide,
            offset=service.phase,
            parts=parts,
            rows=rows,
            ends_after=max(scale.floor(self.after), min(FAR, since)),
            ends_until=min(scale.floor(self.upto), scale.ceil(service.until) - 1 + service.range),
            scale=scale,
        )


def combine_groups(
    shards: pa.Table,
    tree: TreeProgram,
    keys: tuple[int, ...],
    dues: Sequence[DueWindows],
    satisfied: Satisfied,
    *,
    structure: str = "auto",
    bounds: Bounds | None = None,
) -> Iterator[Combined]:
    """The answers of windows with the same keys: sorts the shards once, by group and slice.

    Windows with few answers are combined together, because the fixed cost would exceed theirs.
    """
    groups = group_rows([flat(shards, f"k{number}") for number in keys], shards.num_rows)
    slices = flat(shards, SLICE).to_numpy()
    if bounds is not None:
        _check_bounds(bounds, dues, slices, groups.count)
    order = np.lexsort((slices, groups.ids))
    at = pa.array(order)
    wanted = sorted({part for due in dues for part in due.service.parts})
    parts = []
    for number in wanted:
        part = tree.part(number)
        columns = [flat(shards, column).take(at) for column in part.columns]
        # The actual types: a timestamp's time zone name may differ from the program's.
        parts.append((bind(part.part, [column.type for column in columns]), columns))
    places = {number: place for place, number in enumerate(wanted)}
    holders = [flat(shards, f"k{number}").take(pa.array(groups.first)) for number in keys]
    sorted_slices = Slices(groups.ids[order], slices[order])
    for some in _by_masks(dues, shards.num_rows):
        masks = {
            due.service.predicate: None
            if due.service.predicate is None
            else satisfied(due.service.predicate)[order]
            for due in some
        }
        requests = [
            due.request(
                tuple(places[number] for number in due.service.parts),
                masks[due.service.predicate],
            )
            for due in some
        ]
        for found in _answers(sorted_slices, parts, requests, some, structure):
            group = pa.array(found.key)
            yield Combined(
                tuple((some[ask].askers, count) for ask, count in found.asks),
                found.start,
                tuple(holder.take(group) for holder in holders),
                tuple(tuple(columns) for columns in found.parts),
                found.end,
            )


def _answers(
    slices: Slices,
    parts: Sequence[Any],
    requests: Sequence[WindowRequest],
    dues: Sequence[DueWindows],
    structure: str,
) -> Iterator[Answers]:
    """The answers to some requests; an aggregation error names the queries that it concerns."""
    try:
        yield from answer(slices, parts, requests, structure=structure)
    except (AggregateError, WindowError) as error:
        guilty: list[int] = []
        for due, request in zip(dues, requests, strict=True):
            try:
                for _ in answer(slices, parts, [request], structure=structure):
                    pass
            except (AggregateError, WindowError):
                guilty += due.askers
        raise named(guilty, error) from error


def _by_masks(dues: Sequence[DueWindows], rows: int) -> Iterator[list[DueWindows]]:
    """Batches the windows by predicate, because each predicate needs a mask of all shards."""
    by_predicate: dict[int | None, list[DueWindows]] = {}
    for due in dues:
        by_predicate.setdefault(due.service.predicate, []).append(due)
    predicates = list(by_predicate)
    step = max(1, MASKS // max(1, rows))
    for low in range(0, len(predicates), step):
        some = predicates[low : low + step]
        yield [due for predicate in some for due in by_predicate[predicate]]


def _check_bounds(bounds: Bounds, dues: Sequence[DueWindows], slices: Int64, groups: int) -> None:
    """Raise before computing the answers of a query if there would be more than its limit."""
    for due in dues:
        for query in bounds.queries.intersection(due.askers):
            service = due.service
            windows = service.count(int(slices.min()), int(slices.max()), due.after, due.upto)
            in_windows = -(-service.range // service.slide)  # of each, a shard makes one answer
            bounds.check(query, "groups", groups)
            bounds.check(query, "windows", min(windows * groups, len(slices) * in_windows))
