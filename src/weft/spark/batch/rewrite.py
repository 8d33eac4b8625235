"""Trees as ordinary Spark operators: the steps of `weft.plan.sql_steps` over DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.plan import sql_steps as select
from weft.plan.coverage import CoveragePlan
from weft.plan.layout import GroupingSet, Layout
from weft.plan.steps import Columns, Extend, Group, Project, Step, Where
from weft.plan.time_axis import TimeAxis


def apply(df: DataFrame, steps: Sequence[Step]) -> DataFrame:
    """Apply the steps to a DataFrame.

    Not as SQL text over a temporary view, because dropping the view would drop the frame's cache.
    """
    for step in steps:
        if isinstance(step, Where):
            df = df.where(step.condition)
        elif isinstance(step, Extend):
            df = df.select("*", *_columns(step.columns))
        elif isinstance(step, Project):
            df = df.select(*_columns(step.columns))
        elif isinstance(step, Group):
            df = df.groupBy(*_columns(step.keys)).agg(*_columns(step.aggregates))
    return df


def _columns(columns: Columns) -> list[Column]:
    return [F.expr(sql).alias(_unquoted(name)) for sql, name in columns]


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def slices_frame(df: DataFrame, axis: TimeAxis, layout: Layout) -> DataFrame:
    """The partials of every slice, fragment and group; fragments are lists of predicates."""
    return apply(df, select.slices(layout, axis))


def grouped_frame(partials: DataFrame, layout: Layout, grouping_set: GroupingSet) -> DataFrame:
    """The tree's partials by the keys of one grouping set."""
    if len(grouping_set.keys) == len(layout.keys):
        return partials
    return apply(partials, select.folded(layout, grouping_set))


def windows_frame(partials: DataFrame, layout: Layout, grouping_set: GroupingSet) -> DataFrame:
    """The windows of a grouping set: copies each slice to its windows and merges them there."""
    return apply(partials, select.windows(layout, grouping_set))


def covered_frame(
    df: DataFrame, axis: TimeAxis, layout: Layout, coverage: CoveragePlan
) -> DataFrame:
    """The windows of a coverage plan, each from rows or from its upstream window.

    After the windows computed from rows are partitioned by key, no later step needs a shuffle.
    """
    roots, levels = select.covered(layout, coverage, axis)
    frame = reduce(DataFrame.unionAll, [apply(df, steps) for steps in roots])
    if levels:
        keys = [f"k{position}" for position in range(len(layout.keys))]
        frame = frame.repartition(*keys) if keys else frame.coalesce(1)
    return reduce(apply, levels, frame)
