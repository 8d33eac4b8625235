"""Converts Spark types to Arrow types, with times in UTC, for all supported PySpark versions."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type

# Before Spark 4.2 times were always in UTC; since then it must be requested.
_UTC: dict[str, Any] = (
    {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
)


def is_variant(kind: T.DataType) -> bool:
    """Whether a type is VARIANT, which exists since Spark 4.0."""
    return kind.typeName() == "variant"


def nullable(kind: T.DataType) -> T.DataType:
    """The type with nulls allowed at any depth: Arrow cannot make a null struct of non-null fields.

    >>> inner = T.StructType([T.StructField("x", T.IntegerType(), nullable=False)])
    >>> nullable(T.ArrayType(inner, containsNull=False)) == T.ArrayType(
    ...     T.StructType([T.StructField("x", T.IntegerType())]))
    True
    """
    if isinstance(kind, T.StructType):
        return nullable_schema(kind)
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(nullable(kind.elementType))
    if isinstance(kind, T.MapType):
        return T.MapType(nullable(kind.keyType), nullable(kind.valueType))
    return kind


def nullable_schema(schema: T.StructType) -> T.StructType:
    """The schema with nulls allowed at any depth."""
    return T.StructType(
        [T.StructField(f.name, nullable(f.dataType), True, f.metadata) for f in schema.fields]
    )


def arrow_type(kind: T.DataType) -> pa.DataType:
    """The Arrow type of a column.

    >>> arrow_type(T.TimestampType())
    TimestampType(timestamp[us, tz=UTC])
    """
    return to_arrow_type(kind, **_UTC)


def arrow_schema(schema: T.StructType) -> pa.Schema:
    """The Arrow schema for the schema of a DataFrame.

    >>> arrow_schema(T.StructType([T.StructField("ts", T.TimestampType())]))
    ts: timestamp[us, tz=UTC]
    """
    return to_arrow_schema(schema, **_UTC)
