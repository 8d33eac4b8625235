"""Compares whole statements with plain Spark: the rows of each as a multiset."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.window import Window as Over

from weft.spark.arrow import is_variant
from weft.spark.results.sound import Failed
from weft.spark.verify.compare import Difference, Pair, compare
from weft.spark.verify.verify import VerifyReport, compute, verify
from weft.spark.whole import Asked, WholeBatch

_SAME = "weft_same"
"""The column that numbers rows that are equal except for floating-point columns."""


def verify_whole(whole: WholeBatch) -> VerifyReport:
    """Compare a batch's answers with plain Spark's; statements that run unchanged are skipped."""
    reports = []
    for key, loom in whole.looms.items():
        alone = {asked.queries[0].name for asked in whole.asked if asked.query is not None}
        queries = [query for query in loom.queries if query.name in alone]
        if queries:
            reports.append(verify(loom.df, loom.axis, queries, whole.results_of(key)))
    composed = [asked for asked in whole.asked if asked.is_shared and asked.query is None]
    reports += [_verified(whole, asked) for asked in composed]
    return VerifyReport(
        tuple(difference for report in reports for difference in report.differences),
        sum(report.native_seconds for report in reports),
        sum(report.weft_seconds for report in reports),
    )


def _verified(whole: WholeBatch, asked: Asked) -> VerifyReport:
    plain = whole.plain(asked)
    if plain is None:  # a statement in another dialect, which Spark cannot run
        return VerifyReport((), 0.0, 0.0)
    start = perf_counter()
    compute([plain])
    middle = perf_counter()
    try:
        differences = whole.use(asked, lambda frame, _: compare([bags(asked.name, plain, frame)]))
    except Failed as error:
        differences = [Difference(asked.name, 0, 0, 0, 0, str(error))]
    return VerifyReport(tuple(differences), middle - start, perf_counter() - middle)


def bags(name: str, expected: DataFrame, actual: DataFrame) -> Pair:
    """Two frames as a pair to compare as multisets, without columns that identify a row."""
    names = [f"c{at}" for at in range(len(expected.columns))]
    theirs, ours = (_numbered(frame.toDF(*names), names) for frame in (expected, actual))
    keys = [field.name for field in theirs.schema if not _is_floating(field.dataType)]
    return Pair(name, keys, theirs, ours)


def _numbered(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    for field in frame.schema:
        if _has_map(field.dataType):  # Spark cannot group by maps
            frame = frame.withColumn(field.name, F.to_json(F.struct(field.name)))
    floats = [F.col(name) for name in names if _is_floating(frame.schema[name].dataType)]
    others = [F.col(name) for name in names if not _is_floating(frame.schema[name].dataType)]
    over = Over.partitionBy(*(others or [F.lit(0)])).orderBy(*(floats or [F.lit(0)]))
    return frame.withColumn(_SAME, F.row_number().over(over))


def _is_floating(kind: T.DataType) -> bool:
    return isinstance(kind, (T.DoubleType, T.FloatType))


def _has_map(kind: T.DataType) -> bool:
    if isinstance(kind, T.ArrayType):
        return _has_map(kind.elementType)
    if isinstance(kind, T.StructType):
        return any(_has_map(field.dataType) for field in kind)
    return isinstance(kind, T.MapType) or is_variant(kind)
