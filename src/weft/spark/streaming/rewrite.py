"""Coverage plans on a stream: chained native aggregations, with only Spark's own operators.

A window is computed from the rows of its upstream window as these are closed. Spark cannot send one
aggregation's rows to several others, so every query has a separate chain from the rows on; a chain
still saves work because a long window is computed from closed upstream windows instead of from
copies of rows.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.errors import EngineError
from weft.plan import sql_steps as select
from weft.plan.coverage import CoveragePlan
from weft.plan.layout import Layout
from weft.plan.lower import can_lower, lowered
from weft.plan.plan import Plan
from weft.plan.steps import Columns
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks.wire import COLUMNS
from weft.spark.arrow import arrow_schema
from weft.spark.batch.rewrite import apply
from weft.spark.check import check_queries
from weft.spark.streaming.encode import Encode
from weft.spark.streaming.pipeline import delay_ms
from weft.stream.future_rows import OBSERVED, Guard

_EVENT, _TIME = "weft_event", "weft_time"


def rewritten_frame(
    df: DataFrame, axis: TimeAxis, watermark: str, plan: Plan, numbers: dict[str, int], guard: Guard
) -> DataFrame:
    """Every query's answers in the columns that sinks expect; `numbers` are those of queries."""
    if axis.kind == "integer":
        raise EngineError(
            "engine='rewrite' on a stream needs a time axis: Spark's watermark is a timestamp; "
            "use engine='operator'"
        )
    delay = delay_ms(watermark, axis)
    event = f"timestamp_micros({axis.units()})"

    kept = F.expr(f"NOT coalesce({guard.condition(axis.units(), rounded=True)}, false)")

    def rows() -> DataFrame:
        # Every chain reads the rows separately; only the first one counts those that are set aside.
        counted = df if frames else df.observe(OBSERVED, F.count_if(~kept).alias("rows"))
        timed = counted.where(kept).withColumn(_EVENT, F.expr(event))
        # Every chain has a separate watermark, by which Spark distinguishes them.
        return timed.withWatermark(_EVENT, f"{delay} milliseconds")

    types = check_queries(df, axis, plan.queries)
    frames: list[DataFrame] = []
    for tree in plan.trees:
        queries = [plan.queries[int(row)] for row in tree.rows]
        if tree.coverage is None:
            raise EngineError(
                f"strategy={plan.strategy!r} shares slices, which Spark's own streaming operators "
                f"cannot: use engine='operator', or strategy='coverage' or 'factor'"
            )
        layout = Layout.of(queries, axis.quoted, types)
        for query in queries:
            if not can_lower(layout, query):
                raise EngineError(
                    f"query {query.name!r} has an aggregate without an exact form in SQL: "
                    f"use engine='operator'"
                )
            frames.append(_answers(rows(), axis, layout, tree.coverage, query, delay, numbers))
    return reduce(DataFrame.unionAll, frames)


def _answers(
    rows: DataFrame,
    axis: TimeAxis,
    layout: Layout,
    coverage: CoveragePlan,
    query: Query,
    delay: int,
    numbers: dict[str, int],
) -> DataFrame:
    _, target = layout.places[layout.queries.index(query)]
    node = next(n for n in coverage.asked if coverage.windows[n] == query.window)
    combined = chain(rows, axis, layout, coverage, node, delay)
    tagged = combined.withColumn("target", F.lit(target)).drop("slot")
    typed = apply(tagged, lowered(layout, query, axis))
    arrow = arrow_schema(typed.schema)
    return typed.mapInArrow(Encode(numbers[query.name], arrow), COLUMNS)


def chain(
    rows: DataFrame,
    axis: TimeAxis,
    layout: Layout,
    coverage: CoveragePlan,
    node: int,
    delay: int,
) -> DataFrame:
    """The combined partials of one window of a coverage plan, through its upstream windows."""
    window, up, link = coverage.windows[node], coverage.upstream[node], coverage.links[node]
    if up is None or link is None:
        return _from_rows(rows, axis, layout, window, delay)
    upstream = chain(rows, axis, layout, coverage, up, delay)
    offsets = ", ".join(f"{offset}L" for offset in link.offsets())
    taken = (
        upstream.drop("slot")
        .selectExpr(
            "*", "start AS piece", f"explode(transform(array({offsets}), o -> start - o)) AS taker"
        )
        .where(f"pmod(taker - {window.phase}L, {window.slide}L) = 0")
    )
    return _grouped(taken, layout, "taker", window, delay, select.merges(layout, "piece"))


def _from_rows(
    rows: DataFrame, axis: TimeAxis, layout: Layout, window: Window, delay: int
) -> DataFrame:
    # A predicate on the time is applied after the watermark, which is that of all rows.
    predicate = layout.predicates[0]
    kept = rows.where(f"{axis.quoted} IS NOT NULL")
    if predicate is not None:
        kept = kept.where(f"({predicate}) OR {_EVENT} IS NULL")
    since = f"pmod({_TIME} - {window.phase}L, {window.slide}L)"
    last = f"{_TIME} - {window.range}L + 1L"
    keys = [f"{key} AS k{number}" for number, key in enumerate(layout.keys)]
    spread = (
        kept.selectExpr("*", f"{axis.units()} AS {_TIME}", *keys)
        .where(f"{since} < {window.range}L")
        .selectExpr("*", f"explode(sequence({_TIME} - {since}, {last}, -{window.slide}L)) AS taker")
    )
    return _grouped(spread, layout, "taker", window, delay, select.partials(layout))


def _grouped(
    frame: DataFrame, layout: Layout, start: str, window: Window, delay: int, parts: Columns
) -> DataFrame:
    """An aggregation by window and keys; Spark closes its groups at the end of the window."""
    keys = [f"k{number}" for number in range(len(layout.keys))]
    grouped = frame.select("*", slot(start, window.range, delay)).groupBy("slot", *keys)
    return grouped.agg(*(F.expr(sql).alias(name) for sql, name in parts)).selectExpr(
        "slot", "unix_micros(slot.start) AS start", *keys, *layout.part_columns
    )


def slot(start: str, range_: int, delay: int) -> Column:
    """A window struct that Spark accepts as its own, because its metadata has the watermark."""
    begin, end = f"timestamp_micros({start})", f"timestamp_micros({start} + {range_}L)"
    struct = F.expr(f"named_struct('start', {begin}, 'end', {end})")
    return struct.alias("slot", metadata={"spark.watermarkDelayMs": delay})
