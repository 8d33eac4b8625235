"""Slices on Spark: the start of the slice that contains a row's time, as a column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas import functions as in_python

from weft.engine.slicing.edges import TreeEdges
from weft.engine.slicing.method import SliceMethod
from weft.engine.slicing.slice_sql import greatest_sql, lookup_sql
from weft.errors import EngineError

SLICE = "weft_slice"
_TIME = "weft_slice_time"
# Keeps filters on the column from being pushed below it and evaluated twice; see `fragments`.
_SETTLED = "(spark_partition_id() & 0)"


def slice_column(time: str, edges: TreeEdges, method: SliceMethod) -> Column:
    """The start of the slice that contains a time; null if the time is null or in no window.

    `time` is SQL of a long (`TimeAxis.units()`): microseconds, or units of an integer axis.
    """
    if method.kind == "greatest":
        return F.expr(greatest_sql(edges, time))
    if method.kind == "lookup":
        if method.table is None:
            raise EngineError("a slice method of kind 'lookup' has no table: use choose_method")
        return F.expr(lookup_sql(edges, method.table, time))
    search = SliceSearch(edges)
    # PySpark's stubs require a functionType; without one it is inferred from the type hints.
    if hasattr(in_python, "arrow_udf"):
        by_arrow = in_python.arrow_udf(search.column, "bigint")  # type: ignore[call-overload]
        return by_arrow(F.expr(time))  # type: ignore[no-any-return]
    # Spark 4.0 has only pandas functions, which get longs with nulls as rounded floats.
    by_pandas = in_python.pandas_udf(search.series, "bigint")  # type: ignore[call-overload]
    return by_pandas(F.expr(f"coalesce({time}, 0L)"), F.expr(f"({time}) IS NULL"))  # type: ignore[no-any-return]


def with_slices(
    df: DataFrame, time: str, edges: TreeEdges, method: SliceMethod, name: str = SLICE
) -> DataFrame:
    """The rows in slices that some window needs, with the slice's start."""
    rows = df.selectExpr("*", f"{time} AS {_TIME}")
    rows = rows.withColumn(name, slice_column(_TIME, edges, method)).drop(_TIME)
    if method.kind != "search":
        rows = rows.withColumn(name, F.expr(f"{name} | {_SETTLED}"))
    return rows.where(f"{name} IS NOT NULL")


@dataclass(frozen=True, eq=False)
class SliceSearch:
    """Slices by search in Arrow code, for workers: as a column, or over whole batches."""

    edges: TreeEdges

    def column(self, times: pa.Array) -> pa.Array:
        """The slice of each time."""
        return slices_of(times, self.edges)

    def series(self, times: pd.Series, absent: pd.Series) -> pd.Series:
        """The same for pandas, whose longs cannot be null: null times are marked in `absent`."""
        given = pa.array(times.to_numpy(), pa.int64(), mask=absent.to_numpy(dtype=bool))
        found = slices_of(given, self.edges)
        starts = found.fill_null(0).to_numpy(zero_copy_only=False)
        return pd.Series(pd.arrays.IntegerArray(starts, np.asarray(found.is_null())))

    def batches(
        self, time: str, name: str = SLICE
    ) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        """For `mapInArrow`: adds the slices to batches with a column `time` of longs."""

        def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield batch.append_column(name, slices_of(batch.column(time), self.edges))

        return add


def slices_of(times: pa.Array, edges: TreeEdges) -> pa.Array:
    """The start of each time's slice; null for null times and for times in no window.

    >>> slices_of(pa.array([7, None, -1]), TreeEdges([(0, 5)])).to_pylist()
    [5, None, -5]
    """
    absent = np.asarray(times.is_null())
    starts = np.zeros(len(times), dtype=np.int64)
    present = ~absent
    if present.any():
        starts[present] = edges.slice_start(np.asarray(times.drop_null().cast(pa.int64())))
        absent |= ~edges.needed(starts)
    return pa.array(starts, pa.int64(), mask=absent)
