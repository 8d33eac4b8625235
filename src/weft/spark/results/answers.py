"""The answers of a batch job, query by query, to where the job wants them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyarrow import fs
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from weft.errors import EngineError
from weft.job.model import Job, SinkSpec
from weft.query.query import Query
from weft.query.sql.nodes import quoted
from weft.sinks import IcebergSink, SinkQuery
from weft.sinks.files import Folder
from weft.sinks.parquet import folder_name
from weft.spark.arrow import arrow_schema
from weft.spark.as_written import as_written
from weft.spark.jobs import kafka_sink, postgres_sink
from weft.spark.results.results import Results
from weft.spark.results.sound import Failed, SoundResults


@dataclass(frozen=True)
class Answer:
    """What came of one query."""

    query: str
    rows: int
    place: str | None = None
    first: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    error: str | None = None
    """Why there is none, if the query has failed."""


def places(job: Job, sink: SinkSpec | None, *, overwrite: bool) -> dict[str, str]:
    """Where each query's answers go, if to files; refused if anything is there already."""
    if sink is None or sink.path is None:
        return {}
    root = job.locate(sink.path).rstrip("/")
    if sink.kind == "long":
        found = {query.name: root for query in job.queries}
    else:
        found = {query.name: f"{root}/{name}" for query, name in _folders(job.queries).items()}
    if _exists(f"{root}/_weft"):
        raise EngineError(
            f"{root} holds the answers of a stream; a batch needs a directory of its own (--out)"
        )
    taken = [] if overwrite else [place for place in found.values() if _exists(place)]
    if taken:
        raise EngineError(
            f"{taken[0]} is there already; --overwrite replaces it, --out names another directory"
        )
    return found


def deliver(
    results: SoundResults,
    job: Job,
    sink: SinkSpec | None,
    places: Mapping[str, str],
    *,
    show: int = 0,
    overwrite: bool = False,
) -> Iterator[Answer]:
    """Write every query's answers, with the first `show` rows of each for people to see.

    A query that fails has an answer that says so, and the others have theirs.
    """
    if sink is not None and sink.kind == "long":
        yield from _long(results.all(), job, next(iter(places.values())), show, overwrite)
        return

    def answer(query: Query, frame: DataFrame, again: bool) -> Answer:
        place = places.get(query.name)
        if sink is None or sink.kind in ("console", "memory"):
            rows, first = counted_first(frame, query, show)
        else:
            place = place or _named(job, sink, query)
            rows = _write(frame, query, job, sink, place, overwrite or again)
            first = _first(frame, query, show)
        return Answer(query.name, rows, place, first)

    for query in job.queries:
        try:
            yield results.use(query, partial(answer, query))
        except Failed as error:
            yield Answer(query.name, 0, None, error=str(error))


def counted_first(
    frame: DataFrame, query: Query, show: int
) -> tuple[int, tuple[dict[str, Any], ...]]:
    """How many rows there are, and the first of them, computed at once."""
    if not show:
        return frame.count(), ()
    seen = Observation()
    first = _first(frame.observe(seen, F.count(F.lit(1)).alias("rows")), query, show)
    return int(seen.get["rows"]), first


def _first(frame: DataFrame, query: Query, show: int) -> tuple[dict[str, Any], ...]:
    if not show:
        return ()
    order = [F.col("window.start"), *(F.col(quoted(key.name)) for key in query.keys)]
    first = selected(frame.orderBy(*order).limit(show), query)
    return tuple(row.asDict(recursive=True) for row in first.collect())


def selected(frame: DataFrame, query: Query) -> DataFrame:
    """What a statement selects of its answers, under the names that it gives; else all of them."""
    if query.shown is None:
        return frame
    with as_written(frame.sparkSession):
        return frame.select(*(F.expr(sql).alias(name) for sql, name in query.shown))


def _write(
    frame: DataFrame, query: Query, job: Job, sink: SinkSpec, place: str | None, overwrite: bool
) -> int:
    seen = Observation()
    frame = frame.observe(seen, F.count(F.lit(1)).alias("rows"))
    keys = tuple(key.name for key in query.keys)
    if sink.kind == "kafka":
        kafka_sink(job, sink).send(frame, query.name, keys, {"query": query.name})
    elif sink.kind == "postgres":
        answered = SinkQuery(1, query.name, frame.schema, arrow_schema(frame.schema), keys)
        return postgres_sink(job, sink).send(frame, answered)
    elif sink.kind == "iceberg":
        writer = frame.writeTo(place or "").using("iceberg")
        writer.createOrReplace() if overwrite else writer.create()
    else:
        mode = "overwrite" if overwrite else "errorifexists"
        selected(frame, query).write.format(sink.kind).mode(mode).save(place)
    return int(seen.get["rows"])


def _named(job: Job, sink: SinkSpec, query: Query) -> str:
    """The topic or table of a query."""
    if sink.kind == "kafka":
        return kafka_sink(job, sink).topic_of(query.name)
    if sink.kind == "iceberg":
        return IcebergSink(job.fill(sink.table or "")).table(query.name, 1)
    return ".".join(postgres_sink(job, sink).place(query.name, 1))


def _long(results: Results, job: Job, place: str, show: int, overwrite: bool) -> Iterator[Answer]:
    results.all().write.mode("overwrite" if overwrite else "errorifexists").parquet(place)
    written = results.all().sparkSession.read.parquet(place)
    counts = {row[0]: row[1] for row in written.groupBy("query").count().collect()}
    for query in job.queries:
        first = _first(results[query.name], query, show)
        yield Answer(query.name, counts.get(query.name, 0), place, first)


def _folders(queries: Sequence[Query]) -> dict[Query, str]:
    """A folder for each query: its name, with a number where two would be the same."""
    found: dict[Query, str] = {}
    taken: set[str] = set()
    for number, query in enumerate(queries, start=1):
        name = folder_name(query.name, number).rsplit("/", 1)[0]
        name = f"{name}-{number}" if name.lower() in taken else name
        taken.add(name.lower())
        found[query] = name
    return found


def _exists(place: str) -> bool:
    try:
        folder = Folder(place)
    except Exception:  # a file system that Spark knows and Arrow does not: Spark will say
        return False
    kind = folder.system.get_file_info(folder.path).type
    return bool(kind != fs.FileType.NotFound)
