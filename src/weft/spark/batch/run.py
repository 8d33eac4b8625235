"""Runs a plan over a batch: each tree becomes a few DataFrames of combined partials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pyspark.sql import DataFrame

from weft.engine.fragments.safety import may_raise
from weft.engine.slicing.method import Kind as Slicing
from weft.plan.layout import Layout, parts_of
from weft.plan.lower import can_lower
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.plan.tree import Tree
from weft.query.query import Query
from weft.query.syntax.reader import read_expression
from weft.spark.batch.choice import RunChoice, choose
from weft.spark.batch.finals import final_choices, finals
from weft.spark.batch.rewrite import covered_frame, grouped_frame, slices_frame, windows_frame
from weft.spark.batch.shards import shards
from weft.spark.batch.statistics import Measured
from weft.spark.only_spark import is_ansi, map_reason, unfit_reason
from weft.spark.verify.native import native

Engine = Literal["operator", "rewrite"]


@dataclass(frozen=True, eq=False)
class SharedFrame:
    """The combined partials of one grouping set: `target`, `start`, keys `k..`, parts `p..`."""

    layout: Layout
    grouping_set: int
    frame: DataFrame

    @property
    def queries(self) -> list[Query]:
        """The queries that are answered from this frame."""
        places = zip(self.layout.queries, self.layout.places, strict=True)
        return [query for query, (grouping_set, _) in places if grouping_set == self.grouping_set]


@dataclass(frozen=True, eq=False)
class Direct:
    """A query that runs as plain Spark, because slices cannot answer it or would not be cheaper."""

    query: Query
    frame: DataFrame


@dataclass(frozen=True, eq=False)
class Batch:
    """A plan's frames, not computed yet, and how each tree runs."""

    axis: TimeAxis
    pieces: tuple[SharedFrame | Direct, ...]
    choices: tuple[RunChoice, ...] = field(default=())


def run_plan(
    df: DataFrame,
    axis: TimeAxis,
    plan: Plan,
    engine: Engine,
    types: Mapping[str, str],
    measured: Measured | None = None,
    slicing: Slicing | None = None,
    structure: str = "auto",
) -> Batch:
    """Build the lazy frames of every tree of the plan.

    `types` are those of the aggregates' arguments and of the keys; `slicing` selects a method of
    finding slices, `structure` one of combining them.
    """
    pieces: list[SharedFrame | Direct] = []
    choices: list[RunChoice] = []
    ansi = is_ansi(df)
    for tree in plan.trees:
        queries = [plan.queries[int(row)] for row in tree.rows]
        for some in safe_groups(queries, types):
            layout = Layout.of(some, axis.quoted, types)
            own = {query.name: _own_reason(layout, query, types, ansi) for query in some}
            for query in (inexact := [q for q in some if own[q.name] is not None]):
                pieces.append(Direct(query, native(df, axis, query)))
                choices.append(RunChoice("native", f"{query.name}: {own[query.name]}", tree.number))
            exact = [query for query in some if query not in inexact]
            if exact:
                layout = Layout.of(exact, axis.quoted, types) if inexact else layout
                choice = choose(layout, tree, engine, df, structure)
                found, details = run_tree(
                    df, axis, layout, tree, choice, measured, slicing, structure
                )
                pieces += found
                choices.append(replace(choice, tree=tree.number, details=details))
    return Batch(axis, tuple(pieces), tuple(choices))


def _own_reason(layout: Layout, query: Query, types: Mapping[str, str], ansi: bool) -> str | None:
    """Why a query runs as plain Spark; None if it can be answered from slices."""
    if not can_lower(layout, query):
        return "it has an answer that only Spark itself rounds as it does"
    return unfit_reason(query, types, ansi=ansi) or map_reason(query, types)


def run_tree(
    df: DataFrame,
    axis: TimeAxis,
    layout: Layout,
    tree: Tree,
    choice: RunChoice,
    measured: Measured | None,
    slicing: Slicing | None,
    structure: str,
) -> tuple[list[SharedFrame | Direct], tuple[str, ...]]:
    """The frames of one tree, and notes on how it runs."""
    if choice.method == "native":
        return [Direct(query, native(df, axis, query)) for query in layout.queries], ()
    if choice.method == "coverage":
        assert tree.coverage is not None
        return [SharedFrame(layout, 0, covered_frame(df, axis, layout, tree.coverage))], ()
    if choice.method == "sql":
        partials = slices_frame(df, axis, layout)
        return [
            SharedFrame(
                layout,
                number,
                windows_frame(grouped_frame(partials, layout, grouping_set), layout, grouping_set),
            )
            for number, grouping_set in enumerate(layout.grouping_sets)
        ], ()
    cut = shards(df, axis, layout, measured, slicing)
    details = [f"slices by {cut.slicing}"]
    if not cut.one_fragment:
        details += [
            f"fragments of {'; '.join(map(str.strip, cut.fragments.explain().splitlines()))}"
        ]
    details += final_choices(cut.frame, layout, structure)
    found: list[SharedFrame | Direct] = []
    for number, grouping_set in enumerate(layout.grouping_sets):
        kept = grouped_frame(cut.frame, layout, grouping_set)
        found.append(
            SharedFrame(
                layout, number, finals(kept, layout, grouping_set, cut.fragments, structure)
            )
        )
    return found, tuple(details)


def safe_groups(queries: Sequence[Query], types: Mapping[str, str]) -> list[list[Query]]:
    """The queries of a tree, grouped by the rows on which their expressions may be evaluated.

    A query's keys and arguments are evaluated for the rows of every query in its tree. If they
    can fail (a division by zero in ANSI mode) on rows that the query's predicate excludes, the
    query shares only with queries of the same predicate, so that it fails only where it would if
    it ran alone.
    """
    if len({query.predicate for query in queries}) == 1:
        return [list(queries)]
    groups: dict[str | None, list[Query]] = {}
    for query in queries:
        texts = [key.expression for key in query.keys]
        texts += [arg for c in query.calls for part in parts_of(c, types) for arg in part.args]
        fails = any(may_raise(read_expression(text), types.get) for text in dict.fromkeys(texts))
        # A query without a predicate is evaluated on every row anyway.
        groups.setdefault(query.predicate if fails else None, []).append(query)
    return list(groups.values())
