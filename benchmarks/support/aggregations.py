"""How many aggregations a plan performs, counted as in SIGMOD'06."""

from __future__ import annotations

import numpy as np

from weft.engine.fragments.fragments import distinct_fragments
from weft.plan.layout import Layout
from weft.plan.plan import Plan
from weft.query.query import Query
from weft.spark.batch.shards import shards
from weft.spark.loom import Loom


def aggregations(loom: Loom, plan: Plan) -> dict[str, int]:
    """Partial aggregations (rows into shards) and final ones (shards into windows).

    Without sharing, every query aggregates its own rows; these are counted separately. In trees
    with facets, which the paper does not have, a row is aggregated once per facet.
    """
    partial = final = unshared = faceted = 0
    for tree in plan.trees:
        asked = [counting(plan.queries[int(row)]) for row in tree.rows]
        layout = Layout.of(asked, loom.axis.quoted)
        cut = shards(loom.df, loom.axis, layout, loom.measured())
        faceted += cut.fragments.faceted
        table = cut.frame.toArrow()
        if table.num_rows == 0:
            continue
        start, rows = table["slice"].to_numpy(), table["p0_n"].to_numpy()
        partial += int(rows.sum())
        number = np.zeros(len(start), dtype=np.int64)
        satisfied = np.ones((1, 1), dtype=np.bool_)
        if not cut.one_fragment:
            number, satisfied = distinct_fragments(table["fragment"], cut.fragments)
        for target in (target for fold in layout.grouping_sets for target in fold.targets):
            window = target.window
            since = (start - window.phase) % window.slide
            windows = np.where(
                since < window.range, (window.range - 1 - since) // window.slide + 1, 0
            )
            taken = satisfied[number, target.predicate]
            final += int(windows[taken].sum())
            unshared += int(rows[taken & (windows > 0)].sum())
    return {"partial": partial, "final": final, "unshared_partial": unshared,
            "faceted": faceted}  # fmt: skip


def counting(query: Query) -> Query:
    """The query, with a count of rows as its only aggregate."""
    return Query(
        query.name, aggs={"n": "count(*)"}, window=query.window, where=query.where, by=query.by
    )
