"""Converts pandas, Polars and Arrow tables to Spark DataFrames, so that a loom accepts them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from weft.errors import EngineError
from weft.spark.session import local_session

_SIGNED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
"""Signed types that hold the values of unsigned types, which Spark lacks."""


def as_frame(rows: Any) -> DataFrame:
    """A Spark DataFrame from any kind of table.

    That is a Spark, pandas or Polars DataFrame, an Arrow table, or anything else that exports Arrow
    (`__arrow_c_stream__`). It is loaded into the active session, or an embedded one if there is
    none.
    """
    if isinstance(rows, DataFrame):
        return rows
    if type(rows).__module__.split(".")[0] == "pandas" and hasattr(rows, "itertuples"):
        return _session().createDataFrame(rows)
    return _session().createDataFrame(_for_spark(_arrow(rows)))


def _session() -> SparkSession:
    return SparkSession.getActiveSession() or local_session()


def _arrow(rows: Any) -> pa.Table:
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if hasattr(rows, "to_arrow"):  # Polars: gives simpler types than its stream
        found = rows.to_arrow()
        if isinstance(found, pa.Table):
            return found
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(rows).read_all()
    lazy = "; collect() it first" if hasattr(rows, "collect") else ""
    raise EngineError(
        f"{type(rows).__module__}.{type(rows).__qualname__} is not a table{lazy}: accepted are "
        f"DataFrames of Spark, pandas and Polars, Arrow tables, and whatever exports Arrow"
    )


def _for_spark(table: pa.Table) -> pa.Table:
    """The table with types that Spark supports: no categories, no unsigned integers."""
    for at, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(kind):
            kind = pa.string()
        elif kind == pa.uint64():
            kind = pa.decimal128(20, 0)
        kind = _SIGNED.get(kind, kind)
        if kind != field.type:
            column = table.column(at).cast(kind)
            table = table.set_column(at, pa.field(field.name, kind, field.nullable), column)
    return table
