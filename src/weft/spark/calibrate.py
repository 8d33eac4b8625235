"""What each way to slice costs on a Spark session: the numbers behind `weft.slices.method`."""

from __future__ import annotations

import time
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weft.slices.edges import TreeEdges
from weft.slices.method import MEASURED, SliceCosts, SliceMethod, choose_method
from weft.spark.slicing import slice_column

_SHORT, _LONG = 1 << 10, 1 << 16


def calibrate(spark: SparkSession, rows: int = 2_000_000, repeats: int = 5) -> SliceCosts:
    """Measure the costs of slicing on this session, in nanoseconds; takes a minute or two.

    Every way is timed `repeats` times in turn with the others, and its best time counts, less
    that of the same aggregation without slices: other work on the machine only ever adds.
    """
    df = spark.range(0, rows, 1, 2).selectExpr("id * 3001 AS t").cache()
    df.count()
    few, many = _edges(1), _edges(12)
    short, long = _tabled(_SHORT), _tabled(_LONG)
    ways: dict[str, tuple[TreeEdges, SliceMethod]] = {
        "few": (few, choose_method(few, kind="greatest")),
        "many": (many, choose_method(many, kind="greatest")),
        "short": (short, choose_method(short, kind="lookup")),
        "long": (long, choose_method(long, kind="lookup")),
        "search": (many, choose_method(many, kind="search")),
    }
    best = dict.fromkeys(("nothing", *ways), float("inf"))
    for _ in range(repeats + 1):  # the first round warms up, and is never the best
        for name in best:
            column = F.col("t") if name == "nothing" else slice_column("t", *ways[name])
            best[name] = min(best[name], _seconds(df.select(column.alias("s"))))
    df.unpersist()
    each = {name: max(best[name] - best["nothing"], 0.0) / rows * 1e9 for name in ways}
    return replace(
        MEASURED,
        greatest=(each["many"] - each["few"]) / (len(many) - len(few)),
        lookup=each["short"],
        entry=max(best["long"] - best["short"], 0.0) * 1e9 / (_LONG - _SHORT),
        search=each["search"],
    )


def _edges(count: int) -> TreeEdges:
    return TreeEdges([(1000 * k, 60_000 + 1000 * k) for k in range(count)])


def _tabled(entries: int) -> TreeEdges:
    """Edges whose table has so many entries, a power of two."""
    return TreeEdges([(2000, 1000 * entries), (1000, 2000), (0, 8000)])


def _seconds(df: DataFrame) -> float:
    start = time.perf_counter()
    df.agg(F.bit_xor("s")).collect()
    return time.perf_counter() - start
