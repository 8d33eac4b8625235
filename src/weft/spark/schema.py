"""The requirement of a loom on its DataFrame: a time column of a type that windows can use."""

from __future__ import annotations

from pyspark.sql import types as T

from weft.errors import EngineError
from weft.plan.time_axis import Kind, TimeAxis

ACCEPTED = "TIMESTAMP, TIMESTAMP_NTZ, DATE or an integer type"
_TYPES: dict[Kind, tuple[type[T.DataType], ...]] = {
    "timestamp": (T.TimestampType,),
    "timestamp_ntz": (T.TimestampNTZType,),
    "date": (T.DateType,),
    "integer": (T.ByteType, T.ShortType, T.IntegerType, T.LongType),
}


def time_axis(schema: T.StructType, column: str, argument: str = "time") -> TimeAxis:
    """The axis of a column of this schema; names are matched as in Spark.

    `argument` is the name of the argument that gave the column, for messages.
    """
    named = {field.name.lower(): field for field in schema.fields}
    if column.lower() not in named:
        known = ", ".join(repr(field.name) for field in schema.fields)
        raise EngineError(f"{argument}={column!r} is not a column of the DataFrame; it has {known}")
    field = named[column.lower()]
    for kind, types in _TYPES.items():
        if isinstance(field.dataType, types):
            return TimeAxis(field.name, kind)
    raise EngineError(
        f"{argument}={column!r} is of type {field.dataType.simpleString()}: accepted are {ACCEPTED}"
    )
