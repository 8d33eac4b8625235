"""Sessions from slices: every slice has its first and last time, and no slice spans a gap.

    rows of a group   x xx   x          x x  x                    (gap g)
    slices            [ ][  ][ ]        [  ][ ]                   none longer than the least gap
    sessions of g     |--------|-g->    |------|-g->
    of a larger gap   |------------------------|--larger-gap-->

Two slices are in one session if the later begins at most a gap after the earlier ends, as two rows
are in Spark. A session of a larger gap is a union of sessions of a smaller one, so gaps are taken
in ascending order, each from the sessions of the one before.

    checks            |         M         |        2M         |        3M     slices end there too
    sessions of g, M        x--x-x--x-x---x--x--x-xx--x--x  x)[ x--x-x-|-g->

A session with a maximum also ends at the first check (a multiple of the maximum) that is at least
a maximum after its start; if rows continue, the next session starts there. Its end depends on its
start, so it is not a union of sessions of a smaller gap: these sessions are computed from the
slices one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from weft.engine.answer import Combined, Satisfied
from weft.engine.blame import named
from weft.engine.by_group import combine_partials
from weft.engine.groups import Groups, group_rows
from weft.engine.program import TreeProgram
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.shards import NumberedPart, flat
from weft.errors import AggregateError

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sessions(Groups):
    """The session of every row, and the start of each session."""

    starts: Int64
    """The time of the first row, or the check that ended the session before it (with a maximum)."""


FIRST, LAST = "first", "last"
"""The columns of a slice's first and last time."""


def combine_sessions(
    shards: pa.Table, tree: TreeProgram, keys: tuple[int, ...], satisfied: Satisfied
) -> Iterator[Combined]:
    """Every session of the queries with these keys, given all shards."""
    groups = group_rows([flat(shards, f"k{number}") for number in keys], shards.num_rows)
    holders = [flat(shards, f"k{number}").take(pa.array(groups.first)) for number in keys]
    first = flat(shards, FIRST).to_numpy()
    order = np.lexsort((first, groups.ids))
    asked: dict[int | None, list[QueryWindows]] = {}
    for service in tree.services:
        if service.keys == keys:
            asked.setdefault(service.predicate, []).append(service)
    for predicate, services in asked.items():
        kept = order if predicate is None else order[satisfied(predicate)[order]]
        wanted = {number for service in services for number in service.parts}
        parts = [part for part in tree.schema.parts if part.number in wanted]
        table = shards.select([FIRST, LAST, *(c for part in parts for c in part.columns)])
        table = table.take(pa.array(kept)).combine_chunks()
        group = groups.ids[kept]
        slices = group, table
        for gap, maximum, same in by_gap(services):
            blamed = [service for service in services if not service.maximum]
            if maximum:
                (group, table), blamed = slices, same
            group, table = _joined(group, table, gap, maximum, parts, blamed)
            for wished, queries in alike_parts(same).items():
                yield Combined.of(
                    queries,
                    flat(table, FIRST).to_numpy(),
                    tuple(holder.take(pa.array(group)) for holder in holders),
                    columns_of(table, parts, wished),
                    session_ends(
                        flat(table, FIRST).to_numpy(), flat(table, LAST).to_numpy(), gap, maximum
                    ),
                )


def by_gap(services: Sequence[QueryWindows]) -> Iterator[tuple[int, int, list[QueryWindows]]]:
    """The gaps and maxima with their queries: first those without a maximum, by ascending gap."""
    found: dict[tuple[int, int], list[QueryWindows]] = {}
    for service in services:
        found.setdefault((service.maximum, service.range), []).append(service)
    for (maximum, gap), same in sorted(found.items(), key=itemgetter(0)):
        yield gap, maximum, same


def alike_parts(services: Sequence[QueryWindows]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The queries grouped by the parts that they need."""
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for service in services:
        found[service.parts] = (*found.get(service.parts, ()), service.query)
    return found


def columns_of(
    table: pa.Table, parts: Sequence[NumberedPart], wished: Sequence[int]
) -> tuple[tuple[pa.Array, ...], ...]:
    """The columns of some parts, by their numbers."""
    named = {part.number: part.columns for part in parts}
    return tuple(tuple(flat(table, column) for column in named[number]) for number in wished)


def _joined(
    group: Int64,
    table: pa.Table,
    gap: int,
    maximum: int,
    parts: Sequence[NumberedPart],
    services: Sequence[QueryWindows],
) -> tuple[Int64, pa.Table]:
    """Combines slices, or sessions of a smaller gap, into sessions of a gap, one row each."""
    first, last = flat(table, FIRST).to_numpy(), flat(table, LAST).to_numpy()
    sessions = session_groups(group, first, last, gap, maximum)
    if sessions.distinct and not maximum:
        return group, table
    try:
        return group[sessions.first], merge_sessions(table, sessions, parts)
    except AggregateError as error:
        raise named(_guilty(group, table, parts, services), error) from error


def _guilty(
    group: Int64, table: pa.Table, parts: Sequence[NumberedPart], services: Sequence[QueryWindows]
) -> Iterator[int]:
    """The queries for whose own gap and parts the merge fails."""
    first, last = flat(table, FIRST).to_numpy(), flat(table, LAST).to_numpy()
    for service in services:
        own = [part for part in parts if part.number in service.parts]
        sessions = session_groups(group, first, last, service.range, service.maximum)
        try:
            merge_sessions(table, sessions, own)
        except AggregateError:
            yield service.query


def merge_sessions(table: pa.Table, sessions: Sessions, parts: Sequence[NumberedPart]) -> pa.Table:
    """One row for each session: its start, its last time, and the partials of these parts."""
    last = np.full(sessions.count, np.iinfo(np.int64).min)
    np.maximum.at(last, sessions.ids, flat(table, LAST).to_numpy())
    arrays = {FIRST: pa.array(sessions.starts), LAST: pa.array(last)}
    for part in parts:
        columns = tuple(flat(table, column) for column in part.columns)
        arrays.update(
            zip(part.columns, combine_partials(part.part, columns, sessions), strict=True)
        )
    return pa.table(arrays)


def session_ends(start: Int64, last: Int64, gap: int, maximum: int = 0) -> Int64:
    """The ends of sessions, given their starts and last rows: a gap after the last, or a check.

    >>> session_ends(np.array([-3, 0, 1]), np.array([9, 9, 19]), 4, 10)
    array([10, 10, 20])
    """
    ends = last + gap
    return np.minimum(ends, ending_check(start, maximum)) if maximum else ends


def ending_check(start: Int64, maximum: int) -> Int64:
    """The check that ends a session at the latest: the first one `maximum` or more after its start.

    >>> ending_check(np.array([-3, 0, 1]), 10)
    array([10, 10, 20])
    """
    return start + -start % maximum + maximum


def session_groups(
    group: Int64,
    first: Int64,
    last: Int64,
    gap: int | Int64,
    maximum: int = 0,
    checked: Int64 | None = None,
) -> Sessions:
    """The sessions of rows that are sorted by group and first time; `gap` may be one for each row.

    With a maximum no row may span a multiple of it. `checked` has, for each row, the last time of
    its group's session that a check ended before these rows, or `-FAR` if there is none.

    >>> at = np.array([0, 4, 9, 0])
    >>> session_groups(np.array([7, 7, 7, 8]), at, at, 4).ids.tolist()
    [0, 0, 1, 2]
    >>> at = np.arange(1, 40, 3)
    >>> found = session_groups(np.zeros(13), at, at, 4, maximum=10)
    >>> found.ids.tolist(), found.starts.tolist()
    ([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [1, 20, 30])
    """
    ids, starts = np.empty(len(first), dtype=np.int64), np.empty(len(first), dtype=np.int64)
    gaps = np.ascontiguousarray(np.broadcast_to(np.asarray(gap, dtype=np.int64), first.shape))
    before = np.full(len(first), -FAR) if checked is None else checked
    count = _number(group, first, last, gaps, maximum, before, ids, starts)
    return Sessions(ids, count, starts[:count])


@njit(cache=True)
def _number(
    group: Int64,
    first: Int64,
    last: Int64,
    gap: Int64,
    maximum: int,
    checked: Int64,
    ids: Int64,
    starts: Int64,
) -> int:
    session = -1
    reach = cap = np.int64(0)
    for row in range(len(first)):
        at = first[row]
        apart = row == 0 or group[row] != group[row - 1] or at > reach + gap[row]
        if apart or (maximum > 0 and at >= cap):
            session += 1
            start = at if apart else cap
            if maximum > 0:
                check = checked[row] - checked[row] % maximum + maximum
                if apart and check <= at <= checked[row] + gap[row]:
                    start = check
                cap = start + -start % maximum + maximum
            starts[session] = start
            reach = last[row]
        elif last[row] > reach:
            reach = last[row]
        ids[row] = session
    return session + 1
