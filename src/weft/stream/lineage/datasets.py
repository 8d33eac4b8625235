"""The OpenLineage names of rows and answers: a namespace, and a name in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import abspath
from typing import Any
from urllib.parse import urlsplit

from weft.sinks import DeltaSink, IcebergSink, KafkaSink, LongSink, ParquetSink, PostgresSink, Sink
from weft.sinks.contract import SinkQuery
from weft.sinks.parquet import folder_name


@dataclass(frozen=True)
class Dataset:
    """A table, topic or folder, and its columns with their types."""

    namespace: str
    name: str
    fields: tuple[tuple[str, str], ...] = ()

    def has(self, column: str) -> bool:
        """Whether it has a column of this name, without regard to case."""
        return any(name.lower() == column.lower() for name, _ in self.fields)


def fields_of(schema: Any) -> tuple[tuple[str, str], ...]:
    """The columns of a Spark schema, with their types as Spark writes them."""
    return tuple((field.name, field.dataType.simpleString()) for field in schema.fields)


def place(path: str) -> tuple[str, str]:
    """A path or URI as namespace and name.

    >>> place("s3a://lake/trades/"), place("file:/data/in"), place("/data/in")
    (('s3a://lake', 'trades'), ('file', '/data/in'), ('file', '/data/in'))
    """
    if path.startswith("file:"):
        path = "/" + path.removeprefix("file:").lstrip("/")
    if "://" not in path:
        return "file", abspath(path)
    found = urlsplit(path)
    return f"{found.scheme}://{found.netloc.rpartition('@')[2]}", found.path.strip("/") or "/"


def kafka(servers: str, topic: str) -> tuple[str, str]:
    """A topic: its namespace has the first server, as the standard says.

    >>> kafka("a:9092, b:9092", "trades")
    ('kafka://a:9092', 'trades')
    """
    return f"kafka://{servers.split(',')[0].strip()}", topic


def answers_of(sink: Sink, query: SinkQuery) -> Dataset:
    """The dataset to which a sink writes a query's answers."""
    return Dataset(*_written_to(sink, query), fields_of(query.schema))


def _written_to(sink: Sink, query: SinkQuery) -> tuple[str, str]:
    if isinstance(sink, ParquetSink | DeltaSink):
        return place(f"{sink.path.rstrip('/')}/{folder_name(query.name, query.number)}")
    if isinstance(sink, LongSink):
        return place(sink.path)
    if isinstance(sink, IcebergSink):
        return "iceberg", sink.table(query.name, query.number)
    if isinstance(sink, KafkaSink):
        return kafka(sink.servers, sink.topic_of(query.name))
    if isinstance(sink, PostgresSink):
        found = urlsplit(sink.url)
        host = f"{found.hostname or 'localhost'}:{found.port or 5432}"
        schema_and_table = sink.place(query.name, query.number)
        if len(schema_and_table) == 1:
            schema_and_table = ("public", *schema_and_table)
        return f"postgres://{host}", ".".join((found.path.strip("/"), *schema_and_table))
    return "weft", f"{type(sink).__name__}/{query.name}"


def owners_of(column: str, inputs: Sequence[Dataset]) -> list[Dataset]:
    """The inputs that a column may come from: those that have its name, or all if none has."""
    return [one for one in inputs if one.has(column)] or list(inputs)
