"""Kafka messages as rows: the fields of their values, and their key, topic, offset and headers."""

from __future__ import annotations

import json

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.errors import EngineError

ABOUT = {
    "_key": "CAST(key AS STRING)",
    "_topic": "topic",
    "_partition": "partition",
    "_offset": "offset",
    "_timestamp": "timestamp",
}
"""The columns of a row about its message, besides the fields of its value, and their meaning."""
_NAMES = "array_distinct(transform(headers, h -> h.key))"
HEADERS = (
    f"map_from_arrays({_NAMES}, transform({_NAMES}, "
    "n -> CAST(element_at(filter(headers, h -> h.key = n), -1).value AS STRING)))"
)
"""`_headers`, with the option includeHeaders: strings by name; the last one if a name repeats."""


def messages(frame: DataFrame, schema: T.StructType | str) -> DataFrame:
    """The messages of a Kafka source as rows; `schema` is that of their values.

    With columns and types, values are JSON; a string is an Avro schema (in JSON) of the values. A
    value that cannot be parsed gives a row of nulls, which is in no window. Besides the fields
    there are `_key`, `_topic`, `_partition`, `_offset`, `_timestamp`, and with the option
    includeHeaders `_headers`, a map; a field of the value with the same name takes precedence.
    """
    value = _avro(schema) if isinstance(schema, str) else _json(schema)
    about = {name: text for name, text in ABOUT.items() if name[1:] in frame.columns}
    if "headers" in frame.columns:
        frame = frame.withColumn("headers", F.expr("coalesce(headers, array())"))
        about["_headers"] = HEADERS
    read = frame.select(value.alias("value"), *(F.expr(t).alias(n) for n, t in about.items()))
    fields = {name.lower() for name in read.select("value.*").columns}
    return read.select("value.*", *(name for name in about if name not in fields))


def _json(schema: T.StructType) -> Column:
    return F.from_json(F.col("value").cast("string"), schema)


def _avro(schema: str) -> Column:
    from pyspark.sql.avro.functions import from_avro

    try:
        kind = json.loads(schema)
    except ValueError as error:
        raise EngineError(f"an Avro schema is JSON, and this is not: {error}") from None
    if not isinstance(kind, dict) or kind.get("type") != "record":
        raise EngineError("an Avro schema of messages is a record, whose fields become the columns")
    return from_avro(F.col("value"), schema, {"mode": "PERMISSIVE"})
