"""SQL of the slice that contains a time, by arithmetic or by a table in one literal."""

from __future__ import annotations

import json

from weft.engine.slicing.edges import TreeEdges
from weft.engine.slicing.lookup import LookupTable
from weft.plan.sql_steps import computed_edge, listed_edge


def greatest_sql(edges: TreeEdges, time: str) -> str:
    """The latest edge by arithmetic; `time` is SQL of a long.

    >>> greatest_sql(TreeEdges([(0, 5), (2, 7)]), "t")
    'greatest(t - pmod(t - 0L, 5L), t - pmod(t - 2L, 7L))'
    """
    return computed_edge(edges.progressions(), time)


def lookup_sql(edges: TreeEdges, table: LookupTable, time: str) -> str:
    """The latest edge by a table; null if the slice is in no window.

    For a time outside the span of the table the slice is computed by arithmetic, which is slower:
    a table made for other rows costs time, but answers stay correct.

    >>> edges = TreeEdges([(0, 4), (2, 6)])
    >>> print(lookup_sql(edges, edges.lookup_table(64), "t"))
    t - pmod(t - 0L, 12L) + 2L * get(from_json('[0,1,2,2,4,4]', 'array<int>'),
        CAST(pmod(t - 0L, 12L) DIV 2L AS INT))
    """
    granule, base = table.granule, table.base + table.first * table.granule
    starts = literal_array([i - b if b >= 0 else None for i, b in enumerate(table.back.tolist())])
    if table.repeats:
        since = f"pmod({time} - {base}L, {len(table) * granule}L)"
        entry = f"CAST({since} DIV {granule}L AS INT)"
        return f"{time} - {since} + {granule}L * get({starts}, {entry})"
    entry = f"CAST(({time} - {base}L) DIV {granule}L AS INT)"
    slow = listed_edge(edges.progressions(), time)
    return (
        f"CASE WHEN {time} BETWEEN {base}L AND {base + len(table) * granule - 1}L "
        f"THEN {base}L + {granule}L * get({starts}, {entry}) ELSE {slow} END"
    )


def literal_array(values: list[int | None] | list[int], kind: str = "int") -> str:
    """An array as one literal, which Spark folds to a constant; `array(...)` would stay a tree."""
    return f"from_json('{json.dumps(values, separators=(',', ':'))}', 'array<{kind}>')"
