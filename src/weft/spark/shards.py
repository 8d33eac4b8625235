"""Rows to shards: one native hash aggregation by slice, fragment and keys."""

from __future__ import annotations

import json

import numpy as np
from pyspark.sql import DataFrame

from weft.plan import select
from weft.plan.layout import Layout
from weft.plan.time_axis import TimeAxis
from weft.spark.rewrite import SOURCE, run_sql


def shards(df: DataFrame, axis: TimeAxis, layout: Layout, start: str | None = None) -> DataFrame:
    """The partials of every slice, fragment and key: `slice`, `fragment`, `k..`, `p..`."""
    return run_sql(df, select.slices(layout, axis, SOURCE, start))


def table_start(
    progressions: list[tuple[int, int]], time: str, low: int, high: int, most: int = 1 << 16
) -> str | None:
    granule = int(np.gcd.reduce([n for p in progressions for n in p]))
    base = low // granule * granule
    count = (high - base) // granule + 1
    if count > most:
        return None
    at = base + granule * np.arange(count)
    best = np.full(count, np.iinfo(np.int64).min)
    for offset, step in progressions:
        np.maximum(best, at - (at - offset) % step, out=best)
    back = ((at - best) // granule).tolist()
    table = f"from_json('{json.dumps(back)}', 'array<int>')"
    index = f"CAST(({time} - {base}L) DIV {granule}L AS INT)"
    return (
        f"CASE WHEN {time} BETWEEN {base}L AND {base + count * granule - 1}L THEN "
        f"{base}L + ({index} - element_at({table}, {index} + 1)) * {granule}L ELSE raise_error('the rows have changed since they were measured') END"
    )
