"""A plan run over a batch: each tree becomes a few DataFrames of combined partials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pyspark.sql import DataFrame

from weft.plan.layout import Layout
from weft.plan.lower import can_lower
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.choice import Choice, choose
from weft.spark.finals import finals
from weft.spark.native import native
from weft.spark.rewrite import covered_frame, folded_frame, windows_frame
from weft.spark.shards import shards, table_start
from weft.spark.statistics import Measured

Engine = Literal["operator", "rewrite"]


@dataclass(frozen=True, eq=False)
class Woven:
    """The combined partials of one fold of a tree: `target`, `start`, keys `k..`, parts `p..`."""

    layout: Layout
    fold: int
    frame: DataFrame

    @property
    def queries(self) -> list[Query]:
        """The queries that are answered from here."""
        places = zip(self.layout.queries, self.layout.places, strict=True)
        return [query for query, (fold, _) in places if fold == self.fold]


@dataclass(frozen=True, eq=False)
class Direct:
    """A query that runs as it is: alone in its tree, and no cheaper cut into slices."""

    query: Query
    frame: DataFrame


@dataclass(frozen=True, eq=False)
class Batch:
    """A plan's frames, none of them computed yet, and how each tree is run."""

    axis: TimeAxis
    pieces: tuple[Woven | Direct, ...]
    choices: tuple[Choice, ...] = field(default=())


def run_plan(
    df: DataFrame,
    axis: TimeAxis,
    plan: Plan,
    engine: Engine,
    types: Mapping[str, str],
    measured: Measured | None = None,
) -> Batch:
    """Build the frames of every tree of the plan; nothing is computed before one is used.

    `types` are those of the aggregates' arguments.
    """
    pieces: list[Woven | Direct] = []
    choices: list[Choice] = []
    for tree in plan.trees:
        queries = [plan.queries[int(row)] for row in tree.rows]
        layout = Layout.of(queries, axis.quoted, types)
        exact = [query for query in queries if can_lower(layout, query)]
        if len(exact) < len(queries):
            pieces += [Direct(q, native(df, axis, q)) for q in queries if q not in exact]
            layout = Layout.of(exact, axis.quoted, types)
        choice = choose(layout, tree, df, engine, measured)
        choices.append(choice)
        if choice.method == "native" or not exact:
            pieces += [Direct(query, native(df, axis, query)) for query in exact]
        elif choice.method == "coverage":
            pieces.append(Woven(layout, 0, covered_frame(df, axis, layout, tree.coverage)))
        else:
            partials = shards(df, axis, layout, slice_sql(layout, axis, measured))
            for number, fold in enumerate(layout.folds):
                kept = folded_frame(partials, layout, fold)
                final = windows_frame if choice.method == "sql" else finals
                pieces.append(Woven(layout, number, final(kept, layout, fold)))
    return Batch(axis, tuple(pieces), tuple(choices))


def slice_sql(layout: Layout, axis: TimeAxis, measured: Measured | None) -> str | None:
    progressions = layout.progressions()
    if measured is None or not measured.rows or len(progressions) <= 4:
        return None
    return table_start(progressions, axis.units(), measured.first, measured.last)
