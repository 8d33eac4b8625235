"""What each slicing method costs on Spark; weft's `MEASURED` costs come from here.

from benchmarks.support.slice_costs import slice_costs
slice_costs(spark)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weft.engine.slicing.edges import TreeEdges
from weft.engine.slicing.method import MEASURED, SliceCosts, SliceMethod, choose_method
from weft.spark.batch.calibrate import best_times
from weft.spark.batch.slicing import slice_column

_SHORT, _LONG = 1 << 10, 1 << 16


def slice_costs(spark: SparkSession, rows: int = 2_000_000, repeats: int = 5) -> SliceCosts:
    """Measure what each slicing method costs in this session; takes a minute or two.

    The methods are timed in turn, `repeats` times each. The best time counts, because other work on
    the machine can only add to it; the time of the same aggregation without slices is subtracted.
    """
    df = spark.range(0, rows, 1, 2).selectExpr("id * 3001 AS t").cache()
    df.count()
    few, many = _edges(1), _edges(12)
    short, long = tabled(_SHORT), tabled(_LONG)
    ways: dict[str, tuple[TreeEdges, SliceMethod]] = {
        "few": (few, choose_method(few, kind="greatest")),
        "many": (many, choose_method(many, kind="greatest")),
        "short": (short, choose_method(short, kind="lookup")),
        "long": (long, choose_method(long, kind="lookup")),
        "search": (many, choose_method(many, kind="search")),
    }
    columns = {"nothing": F.col("t")}
    columns |= {name: slice_column("t", *way) for name, way in ways.items()}
    frames = {name: df.select(column.alias("s")) for name, column in columns.items()}
    best = best_times({name: _xor(frame) for name, frame in frames.items()}, repeats)
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


def tabled(entries: int) -> TreeEdges:
    """Edges whose table has a given number of entries, a power of two."""
    return TreeEdges([(2000, 1000 * entries), (1000, 2000), (0, 8000)])


def _xor(df: DataFrame) -> Callable[[], object]:
    return lambda: df.agg(F.bit_xor("s")).collect()
