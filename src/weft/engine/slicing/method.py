"""Chooses the cheapest method of finding the slice of a time, and explains the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.engine.slicing.edges import TreeEdges
from weft.engine.slicing.lookup import LookupTable
from weft.errors import PlanError

Kind = Literal["greatest", "lookup", "search"]
KINDS: tuple[Kind, ...] = ("greatest", "lookup", "search")


@dataclass(frozen=True)
class SliceCosts:
    """What each method costs, in nanoseconds; `benchmarks.support.slice_costs` measures them."""

    greatest: float
    """Per row and progression."""
    lookup: float
    """Per row."""
    entry: float
    """Per entry of a table, once per query: parsing the literal and sending it to the tasks."""
    search: float
    """Per row: to a Python worker in Arrow batches and back."""
    most_progressions: int
    """With more, `greatest` makes a method too long for the JVM to compile."""
    most_entries: int
    """The longest table."""


# PySpark 4.3, Java 17, two cores with other work (`slice_costs`, 2M rows, two runs in a row):
# greatest 10.2 and 5.3, lookup 62 and 22, entry 5,190 and 1,840, search 650 and 510. Only their
# ratios matter here. The limits, in seconds for 1.18M rows and one aggregation: arithmetic on 1 to
# 16 progressions 0.34 to 0.51, on 24 0.78, on 32 0.95; tables of 2**16 entries 0.54, of 2**18 1.7,
# of 2**20 4.1.
MEASURED = SliceCosts(
    greatest=7.0,
    lookup=40.0,
    entry=3_500.0,
    search=550.0,
    most_progressions=16,
    most_entries=1 << 16,
)


@dataclass(frozen=True, eq=False)
class SliceMethod:
    """The chosen method of finding slices; `table` is set for `lookup`."""

    kind: Kind
    reason: str
    table: LookupTable | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


def choose_method(
    edges: TreeEdges,
    *,
    rows: float = 1e6,
    span: tuple[int, int] | None = None,
    kind: Kind | None = None,
    costs: SliceCosts = MEASURED,
) -> SliceMethod:
    """The cheapest method for about `rows` rows, or the one given by `kind`.

    `span` is the least and the greatest time, if known: a table needs to cover no more.

    >>> choose_method(TreeEdges([(0, 60), (20, 60)]))
    SliceMethod(kind='greatest', reason='2 progressions by arithmetic, about 14 ns a row', ...)
    """
    if kind is not None and kind not in KINDS:
        raise PlanError(f"kind={kind!r} is not a slicing method: accepted are {', '.join(KINDS)}")
    ways = _ways(edges, rows, span, costs)
    if kind is None:
        return min(ways, key=lambda way: way[0])[1]
    for _, way in ways:
        if way.kind == kind:
            return way
    if kind == "greatest":
        return SliceMethod(kind, f"{len(edges)} progressions by arithmetic, as asked")
    raise PlanError(
        f"kind='lookup': no table of at most {costs.most_entries} entries holds these edges, "
        f"which repeat only after {edges.period or 'more than 2**63'} units in steps of "
        f"{edges.granule}"
    )


def _ways(
    edges: TreeEdges, rows: float, span: tuple[int, int] | None, costs: SliceCosts
) -> list[tuple[float, SliceMethod]]:
    """Every method that is possible here, with its cost."""
    ways: list[tuple[float, SliceMethod]] = []
    count = len(edges)
    # Arithmetic cannot tell which slices are in no window; their rows are aggregated needlessly.
    if count <= costs.most_progressions:
        each = costs.greatest * count
        reason = f"{count} progressions by arithmetic, about {each:.0f} ns a row"
        ways.append((rows * each, SliceMethod("greatest", reason)))
    table = edges.lookup_table(costs.most_entries)
    held = "one period"
    if table is None and span is not None:
        table, held = edges.span_table(*span, costs.most_entries), "the rows' span"
    if table is not None:
        reason = f"a table of {len(table)} entries for {held}, about {costs.lookup:.0f} ns a row"
        cost = rows * costs.lookup + len(table) * costs.entry
        ways.append((cost, SliceMethod("lookup", reason, table)))
    reason = (
        f"{count} progressions, no table of {costs.most_entries} entries holds them: a search in "
        f"Arrow code, about {costs.search:.0f} ns a row"
    )
    if table is not None:
        reason = f"a search in Arrow code, about {costs.search:.0f} ns a row"
    ways.append((rows * costs.search, SliceMethod("search", reason)))
    return ways
