"""Describes a stream for OpenLineage: its inputs, from Spark's plan, and its queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from weft.stream.lineage.datasets import Dataset, answers_of, fields_of, kafka, place
from weft.stream.lineage.facets import Described
from weft.stream.lineage.runs import LineageRuns
from weft.stream.lineage.transport import Transport

if TYPE_CHECKING:
    from weft.spark.streaming.running import Running


def lineage_of(
    running: Running, transport: Transport, hide: Callable[[str], str]
) -> LineageRuns:  # fmt: skip
    """The watcher that sends the runs of a stream's queries."""
    inputs = tuple(inputs_of(running.df))

    def describe(name: str) -> Described | None:
        return described(running, name, inputs)

    version, stream = running.spark.version, running.checkpoint.rstrip("/").rsplit("/", 1)[-1]
    name = running.spark.conf.get("spark.app.name", None) or stream
    return LineageRuns(transport, describe, stream=name, engine=version, hide=hide)


def described(running: Running, name: str, inputs: tuple[Dataset, ...]) -> Described | None:
    """The description of a query of a stream; None if no query of this name is answered."""
    known = {query.name.lower(): query for query in running.queries}
    query = known.get(name.lower())
    answered = running.answered(name)
    if query is None or answered is None:
        return None
    names = query.finish.parts if query.finish is not None else ()
    return Described(
        query,
        tuple(known[part.lower()] for part in names if part.lower() in known),
        running.axis.column,
        inputs,
        answers_of(running.sink, answered),
    )


def inputs_of(df: DataFrame) -> list[Dataset]:
    """The datasets that a DataFrame reads; a single generic dataset if they are unknown.

    With a single source, the dataset has the columns of the DataFrame, which may be fields of
    messages; in a join, each dataset has the columns of its source.
    """
    found: list[Dataset] = []
    try:
        leaves = df._jdf.queryExecution().analyzed().collectLeaves()
        for at in range(leaves.size()):
            leaf = leaves.apply(at)
            found.append(Dataset(*_named(leaf), _fields(leaf)))
    except Exception:  # Spark Connect does not expose its plan
        found = []
    if len(found) == 1:
        return [Dataset(found[0].namespace, found[0].name, fields_of(df.schema))]
    return found or [Dataset("spark", "rows", fields_of(df.schema))]


def _fields(leaf: Any) -> tuple[tuple[str, str], ...]:
    output = leaf.output()
    fields = (output.apply(at) for at in range(output.size()))
    return tuple((str(one.name()), str(one.dataType().simpleString())) for one in fields)


def _named(leaf: Any) -> tuple[str, str]:
    """The namespace and name of a plan's leaf."""
    kind = str(leaf.nodeName())
    if kind == "StreamingRelation":
        source = leaf.dataSource()
        path = source.options().get("path")
        return place(path.get()) if path.isDefined() else ("spark", str(leaf.sourceName()))
    if kind == "StreamingRelationV2":
        options, source = leaf.extraOptions(), str(leaf.sourceName())
        topics = [options.get(name) for name in ("subscribe", "subscribePattern", "assign")]
        servers = options.get("kafka.bootstrap.servers")
        if servers is not None and any(topics):
            return kafka(servers, next(topic for topic in topics if topic))
        path = options.get("path")
        return ("spark", source) if path is None else place(path)
    if kind == "LogicalRelation":
        table = leaf.catalogTable()
        if table.isDefined():
            return "spark", str(table.get().qualifiedName())
        return place(str(leaf.relation().location().rootPaths().apply(0)))
    if kind in ("RelationV2", "DataSourceV2Relation"):
        return "spark", str(leaf.name())
    return "spark", kind
