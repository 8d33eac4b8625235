"""Trees as ordinary Spark SQL: the SELECTs of `weft.plan.select` over DataFrames."""

from __future__ import annotations

from pyspark.sql import DataFrame

from weft.plan import select
from weft.plan.coverage import CoveragePlan
from weft.plan.layout import Fold, Layout
from weft.plan.time_axis import TimeAxis

SOURCE = "weft_source"


def run_sql(df: DataFrame, sql: str) -> DataFrame:
    """Run a SELECT that reads `weft_source` over a DataFrame."""
    # Spark fills in names between braces, so the braces of literals are doubled.
    text = sql.replace("{", "{{").replace("}", "}}").replace(SOURCE, "{" + SOURCE + "}")
    return df.sparkSession.sql(text, **{SOURCE: df})  # type: ignore[arg-type]


def slices_frame(df: DataFrame, axis: TimeAxis, layout: Layout) -> DataFrame:
    """The partials of every slice, fragment and key; fragments are lists of predicates."""
    return run_sql(df, select.slices(layout, axis, SOURCE))


def folded_frame(partials: DataFrame, layout: Layout, fold: Fold) -> DataFrame:
    """The tree's partials by the keys of one fold."""
    if len(fold.keys) == len(layout.keys):
        return partials
    return run_sql(partials, select.folded(layout, fold, SOURCE))


def windows_frame(partials: DataFrame, layout: Layout, fold: Fold) -> DataFrame:
    """The windows of a fold from its slices: each slice is sent to its windows and merged there."""
    return run_sql(partials, select.windows(layout, fold, SOURCE))


def covered_frame(
    df: DataFrame, axis: TimeAxis, layout: Layout, coverage: CoveragePlan
) -> DataFrame:
    """The windows of a coverage plan, each from rows or from its upstream window's rows."""
    frames: dict[int, DataFrame] = {}
    for node in coverage.topological_order():
        window, up, link = coverage.windows[node], coverage.upstream[node], coverage.links[node]
        if up is None or link is None:
            frames[node] = run_sql(df, select.instances(layout, window, axis, SOURCE))
        else:
            frames[node] = run_sql(frames[up], select.pieces(layout, window, link, SOURCE))
    numbers = {target.window: target.number for target in layout.folds[0].targets}
    answers = [
        run_sql(frames[node], select.tagged(layout, numbers[coverage.windows[node]], SOURCE))
        for node in coverage.asked
    ]
    union = answers[0]
    for answer in answers[1:]:
        union = union.unionAll(answer)
    return union
