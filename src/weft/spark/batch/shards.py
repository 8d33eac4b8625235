"""Aggregates rows to shards: one native hash aggregation by slice, fragment and keys."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.engine.fragments.facets import Volume, split_facets
from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.slicing.edges import TreeEdges
from weft.engine.slicing.method import Kind, SliceMethod, choose_method
from weft.plan.layout import Layout
from weft.plan.sql_steps import bounds, partials
from weft.plan.time_axis import TimeAxis
from weft.spark.batch.fragments import FRAGMENT, fragment_plan, with_fragments
from weft.spark.batch.slicing import SLICE, with_slices
from weft.spark.batch.statistics import Measured


@dataclass(frozen=True, eq=False)
class Shards:
    """A tree's partials (`slice`, `fragment`, keys `k..`, parts `p..`) and the slicing method."""

    frame: DataFrame
    fragments: FragmentPlan
    slicing: SliceMethod

    @property
    def one_fragment(self) -> bool:
        """Whether all shards have the same fragment: there is one predicate, or none."""
        return len(self.fragments.predicates) == 1


def shards(
    df: DataFrame,
    axis: TimeAxis,
    layout: Layout,
    measured: Measured | None = None,
    slicing: Kind | None = None,
) -> Shards:
    """Find slices and pre-aggregate, after dropping rows that are in no window or of no query."""
    windows = [
        target.window.cut
        for grouping_set in layout.grouping_sets
        for target in grouping_set.targets
    ]
    edges = TreeEdges.of_windows(windows)
    rows, span = 1e6, None
    if measured is not None and measured.rows:
        rows, span = float(measured.rows), (measured.first, measured.last)
    method = choose_method(edges, rows=rows, span=span, kind=slicing)
    fragments = split_facets(fragment_plan(df, layout.predicates), volume(layout, measured))
    marked = with_fragments(df.where(F.col(axis.quoted).isNotNull()), fragments)
    marked = with_slices(marked, axis.units(), edges, method)
    keys = [F.expr(key).alias(f"k{i}") for i, key in enumerate(layout.keys)]
    grouping = [F.col(SLICE).alias("slice")]
    grouping += [] if len(layout.predicates) == 1 else [F.col(FRAGMENT).alias("fragment")]
    units = axis.units()
    made = (*bounds(layout, units, units), *partials(layout))
    aggregates = [F.expr(sql).alias(name) for sql, name in made]
    return Shards(marked.groupBy(*grouping, *keys).agg(*aggregates), fragments, method)


def volume(layout: Layout, measured: Measured | None) -> Volume:
    """The volume that a tree aggregates, from what was measured."""
    if measured is None or not measured.rows:
        return Volume()
    edges = sum(measured.span / step for _, step in layout.progressions())
    groups = measured.statistics.groups_of(frozenset(layout.keys))
    return Volume(float(measured.rows), max(1.0, min(edges, float(measured.span))), groups)
