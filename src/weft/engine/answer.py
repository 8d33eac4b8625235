"""From slices to answers: the shards of some groups in, every window's combined partials out.

    shards (slice, fragment, keys, parts) --sort by group and slice--> slices of each group
        --a final structure, over the rows of a query's fragments--> partials of every window

The only way from slices to answers where all of them are at hand: a batch's bucket of groups, and
what a stream's bucket has gathered.
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
"""Of every shard, whether its fragment satisfies the predicate with a number."""
MASKS = 1 << 27
"""Bytes of masks that are held at a time."""


@dataclass(frozen=True, eq=False)
class Combined:
    """Some answers before lowering: window starts, keys, and partials by part."""

    asked: tuple[tuple[tuple[int, ...], int], ...]
    """Whose answers they are, and how many of each, end to end. Queries that ask for the same
    windows, groups, rows and parts share theirs."""
    start: Int64
    keys: tuple[pa.Array, ...]
    parts: tuple[tuple[pa.Array, ...], ...]
    end: Int64 | None = None
    """Where the windows end, if that is not a range after their start."""

    @classmethod
    def of(
        cls,
        queries: tuple[int, ...],
        start: Int64,
        keys: tuple[pa.Array, ...],
        parts: tuple[tuple[pa.Array, ...], ...],
        end: Int64 | None = None,
    ) -> Combined:
        """The answers of queries that share them all."""
        return cls(((queries, len(start)),), start, keys, parts, end)

    def each(self) -> Iterator[tuple[tuple[int, ...], Combined]]:
        """By whom they were asked for."""
        low = 0
        for queries, count in self.asked:
            yield queries, self if count == len(self.start) else self._slice(queries, low, count)
            low += count

    def only(self, places: Iterable[int]) -> Combined:
        """Some of those in `asked`, by their places, ascending."""
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
    """Who asks for them, if that is not the query of `service` alone."""

    @property
    def askers(self) -> tuple[int, ...]:
        """The queries that ask for them."""
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
        """Those of a lane, of queries that are not silent; what is asked for alike is due once.

        With `stretches`, those only that may hold any of these slices.
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
        """Starts of those windows that may hold any of these stretches of slices."""
        times = (self.after, self.upto)
        count = sum(self.service.count(low, high, *times) for low, high in stretches)
        for query in bounds.queries.intersection(self.askers):
            bounds.check(query, "windows", count)
        found = [self.service.starts(low, high, self.after, self.upto) for low, high in stretches]
        if len(found) == 1:
            return found[0]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)

    def request(self, parts: tuple[int, ...], rows: npt.NDArray[np.bool_] | None) -> WindowRequest:
        """The same for the finals; `parts` are positions."""
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
    """The answers of windows with the same keys: the shards sorted once, by group and slice.

    Windows with few answers are combined together: what is done once would cost more than they.
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
        # The types at hand: a time may come with the name of another zone than the program's.
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
    """The answers to some requests; an error of a total names the queries that ask for it."""
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
    """The windows, some predicates at a time: a mask of the shards for each takes memory."""
    by_predicate: dict[int | None, list[DueWindows]] = {}
    for due in dues:
        by_predicate.setdefault(due.service.predicate, []).append(due)
    predicates = list(by_predicate)
    step = max(1, MASKS // max(1, rows))
    for low in range(0, len(predicates), step):
        some = predicates[low : low + step]
        yield [due for predicate in some for due in by_predicate[predicate]]


def _check_bounds(bounds: Bounds, dues: Sequence[DueWindows], slices: Int64, groups: int) -> None:
    """Stop, before the answers of a query are made, if they are more than it may have."""
    for due in dues:
        for query in bounds.queries.intersection(due.askers):
            service = due.service
            windows = service.count(int(slices.min()), int(slices.max()), due.after, due.upto)
            in_windows = -(-service.range // service.slide)  # of each, a shard makes one answer
            bounds.check(query, "groups", groups)
            bounds.check(query, "windows", min(windows * groups, len(slices) * in_windows))
