"""Values by a join in plain Spark, as a user would write it, for queries that slices cannot serve.

Every row of the spine is joined with all rows in its interval. This is the definition that shared
values are tested against.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.engine.point_in_time.interval import Edge, Interval
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.training.spine import Spine, SpineKey

_TIME, _AT, _FOUND = "weft_time", "weft_at", "weft_found"


def with_plain_values(
    spine: Spine,
    keys: Sequence[SpineKey],
    df: DataFrame,
    axis: TimeAxis,
    query: Query,
    interval: Interval,
) -> DataFrame:
    """The spine's frame with the values of a query, output by output.

    Rows are joined with the distinct instants and keys of the spine, aggregated, and joined back;
    without matching rows, the values are those of the aggregates over no rows.
    """
    new = spine.next_values(len(query.outputs))
    outputs = [
        F.expr(output.native).alias(name) for output, name in zip(query.outputs, new, strict=True)
    ]
    rows = df.where(F.expr(query.where)) if query.where else df
    events = rows.select(
        "*",
        F.expr(axis.units()).alias(_TIME),
        *(
            F.expr(key.native).cast(asked.kind).alias(f"weft_e{at}")
            for at, (key, asked) in enumerate(zip(query.keys, keys, strict=True))
        ),
    )
    asked = spine.frame.select(
        F.expr(spine.at.units()).alias(_AT),
        *(F.col(key.column).cast(key.kind).alias(f"weft_k{at}") for at, key in enumerate(keys)),
    ).distinct()
    places = range(len(keys))
    inside = [
        F.col(_TIME) >= F.expr(edge_sql(interval.start, _AT)),
        F.col(_TIME) < F.expr(edge_sql(interval.end, _AT)),
        *(F.col(f"weft_k{at}").eqNullSafe(F.col(f"weft_e{at}")) for at in places),
    ]
    grouped = asked.join(events, _all(inside)).groupBy(_AT, *(f"weft_k{at}" for at in places))
    answers = grouped.agg(*outputs).withColumn(_FOUND, F.lit(True))
    none = df.where(F.lit(False)).agg(*outputs).toDF(*(f"weft_{name}" for name in new))
    same = [
        F.expr(spine.at.units()).eqNullSafe(F.col(_AT)),
        *(
            F.col(key.column).cast(key.kind).eqNullSafe(F.col(f"weft_k{at}"))
            for at, key in enumerate(keys)
        ),
    ]
    joined = spine.frame.join(answers, _all(same), "left").crossJoin(F.broadcast(none))
    return joined.select(
        *spine.frame.columns,
        *(
            F.when(F.col(_FOUND), F.col(name)).otherwise(F.col(f"weft_{name}")).alias(name)
            for name in new
        ),
    )


def edge_sql(edge: Edge, at: str) -> str:
    """SQL of an edge, given SQL of the instant as a long; null if it is before all times.

    >>> edge_sql(Edge(before=5), "t")
    'try_subtract(t, 5L)'
    """
    found = f"try_subtract({at}, {edge.before}L)" if edge.before else at
    if edge.slide is not None:
        found = f"({found} - pmod({found} - {edge.phase}L, {edge.slide}L))"
        found = f"try_subtract({found}, {edge.back}L)" if edge.back else found
    return found


def _all(conditions: Sequence[Column]) -> Column:
    return reduce(lambda a, b: a & b, conditions)
