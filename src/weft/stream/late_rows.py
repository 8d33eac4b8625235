"""SQL conditions that select the rows that were late for some queries.

Buckets count late rows by slice, and do not keep them. The conditions here test a row's time as
`QueryWindows.is_late` tests its slice, with precomputed integer bounds: for windows in units, days
or months it is one test of the row's time as a number of these.

    number    ... 37 38 39 | 40 41 42 43 ...      late: the last window that holds the number
    windows   [--- closed ---]   [--- open        begins in [low, high]
                             ^ frontier
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.engine.preaggregate import OLDEST
from weft.engine.program import Program, TreeProgram
from weft.engine.query_windows import QueryWindows
from weft.plan import calendar_sql
from weft.query.calendar import Calendar
from weft.query.window import Window
from weft.stream.catalogue import Catalogue
from weft.stream.losses import Lost


@dataclass(frozen=True)
class Losers:
    """Queries that lose the same rows."""

    names: tuple[str, ...]
    where: str | None
    """Their predicate as its author wrote it; None: all rows."""
    condition: str
    """SQL that is true for times that are late for them."""


def losers(catalogue: Catalogue, program: Program, lost: Lost, units: str) -> list[Losers]:
    """The queries that lost rows to lateness, and which rows these are.

    `units` is SQL of a row's time as a long. Only queries that lost rows are included.
    """
    # Clamp times: those before the oldest time are treated as it, those from the frontier on are
    # never late. Between these two, arithmetic cannot overflow.
    held = f"least(greatest({units}, {OLDEST}), {lost.frontier})"
    names: dict[tuple[str | None, str], list[str]] = {}
    for entry in catalogue.entries:
        if entry.number not in lost.late:
            continue
        conditions = [
            late_condition(service, entry.query.window, held, lost.frontier, _seam(tree, units))
            for tree in program.stores
            for service in tree.services
            if service.query == entry.number
        ]
        key = entry.query.where, " OR ".join(dict.fromkeys(conditions))
        names.setdefault(key, []).append(entry.query.name)
    return [Losers(tuple(some), where, sql) for (where, sql), some in names.items()]


def _seam(tree: TreeProgram, units: str) -> Sequence[str]:
    """Excludes rows before a seam, which are taken from the history."""
    return () if tree.seam is None else (f"{units} >= {tree.seam}",)


def late_condition(
    service: QueryWindows, window: Window, units: str, frontier: int, also: Sequence[str] = ()
) -> str:
    """SQL that is true for times that are in windows of `service`, but only in closed ones.

    `units` is SQL of the time as a long.

    >>> from weft.engine.query_windows import FAR
    >>> tens = Window.of_units(10, 5, 0)
    >>> late_condition(QueryWindows.of(tens, since=20), tens, "t", frontier=42)
    '(t - pmod(t - 0, 5) BETWEEN 20 AND 32)'
    """
    frontier = service.own_frontier(frontier)
    if service.session:  # a row is late if a session of that row alone would be closed
        found = [f"{units} BETWEEN {service.since} AND {frontier - service.range}"]
    else:
        scale = service.scale
        number = calendar_sql.number(window, units) if isinstance(window, Calendar) else units
        inside = f"pmod({number} - {service.phase}, {service.slide})"
        low = scale.ceil(service.since)
        high = min(scale.floor(frontier) - service.range, scale.ceil(service.until) - 1)
        found = [f"{number} - {inside} BETWEEN {low} AND {high}"]
        if service.slide > service.range:  # exclude times between two windows
            found.append(f"{inside} < {service.range}")
    return f"({' AND '.join([*found, *also])})"
