"""Writes the answers of a batch job, query by query, to the job's sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyarrow import fs
from pyspark.sql import DataFrame, Observation, Row
from pyspark.sql import functions as F

from weft.errors import EngineError
from weft.job.model import Job, SinkSpec
from weft.query.names import quoted_name
from weft.query.query import Query
from weft.sinks import IcebergSink, SinkQuery
from weft.sinks.files import Folder
from weft.sinks.parquet import folder_name
from weft.spark.arrow import arrow_schema
from weft.spark.jobs import kafka_sink, postgres_sink
from weft.spark.results.selected import selected
from weft.spark.results.sound import Failed
from weft.spark.whole import Asked, WholeBatch


@dataclass(frozen=True)
class Answer:
    """The outcome of one query."""

    query: str
    rows: int
    place: str | None = None
    first: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    error: str | None = None
    """Why there is no answer, if the query failed."""
    how: str = "shared"
    why: str | None = None
    """Why it was not shared, if it ran unchanged."""


def places(
    job: Job, names: Sequence[str], sink: SinkSpec | None, *, overwrite: bool
) -> dict[str, str]:
    """The path of each query's answers, if they go to files; an error if one exists already."""
    if sink is None or sink.path is None:
        return {}
    root = job.locate(sink.path).rstrip("/")
    if sink.kind == "long":
        found = dict.fromkeys(names, root)
    else:
        found = {name: f"{root}/{folder}" for name, folder in _folders(names).items()}
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
    whole: WholeBatch,
    job: Job,
    sink: SinkSpec | None,
    places: Mapping[str, str],
    *,
    show: int = 0,
    overwrite: bool = False,
) -> Iterator[Answer]:
    """Write every requested answer, and return it with the first `show` rows for display.

    A query that fails has an `Answer` with its error, and does not affect the others.
    """
    if sink is not None and sink.kind == "long":
        yield from _long(whole, next(iter(places.values()), ""), show, overwrite)
        return

    def answer(asked: Asked, frame: DataFrame, again: bool) -> Answer:
        place = places.get(asked.name)
        if sink is None or sink.kind in ("console", "memory"):
            rows, first = counted_first(frame, asked.query, show)
        else:
            place = place or _named(job, sink, asked.name)
            rows = _write(frame, asked, job, sink, place, overwrite or again)
            first = _first(frame, asked.query, show)
        return Answer(asked.name, rows, place, first, how=asked.how, why=asked.why)

    for asked in whole.asked:
        try:
            yield whole.use(asked, partial(answer, asked))
        except Failed as error:
            yield Answer(asked.name, 0, None, error=str(error), how=asked.how, why=asked.why)


def counted_first(
    frame: DataFrame, query: Query | None, show: int
) -> tuple[int, tuple[dict[str, Any], ...]]:
    """The number of rows, and the first of them, computed in one job."""
    if not show or query is None:  # without sorting, a limit stops after the first rows
        return frame.count(), _first(frame, query, show)
    seen = Observation()
    first = _first(frame.observe(seen, F.count(F.lit(1)).alias("rows")), query, show)
    return int(seen.get["rows"]), first


def _first(frame: DataFrame, query: Query | None, show: int) -> tuple[dict[str, Any], ...]:
    """The first rows, ordered by window and keys, or as in the statement."""
    if not show:
        return ()
    if query is not None:
        order = [F.col("window.start"), *(F.col(quoted_name(key.name)) for key in query.keys)]
        frame = selected(frame.orderBy(*order).limit(show), query)
    rows = frame.limit(show).collect()
    return tuple(dict(zip(_apart(frame.columns), _plain(row), strict=True)) for row in rows)


def _apart(names: Sequence[str]) -> list[str]:
    """Names of columns, with a number added where two are equal."""
    return [
        name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)
    ]


def _plain(row: Row) -> list[Any]:
    return [value.asDict(recursive=True) if isinstance(value, Row) else value for value in row]


def _write(
    frame: DataFrame, asked: Asked, job: Job, sink: SinkSpec, place: str | None, overwrite: bool
) -> int:
    seen = Observation()
    query, rows = asked.query, frame.observe(seen, F.count(F.lit(1)).alias("rows"))
    keys = () if query is None else tuple(key.name for key in query.keys)
    if sink.kind in ("kafka", "postgres") and query is None:
        raise Failed(
            f"a sink of kind {sink.kind} needs each answer's window and keys, which only a query "
            f"of a single SELECT has: write this one to files (--out)"
        )
    if sink.kind == "kafka":
        kafka_sink(job, sink).send(rows, asked.name, keys, {"query": asked.name})
    elif sink.kind == "postgres":
        answered = SinkQuery(1, asked.name, frame.schema, arrow_schema(frame.schema), keys)
        return postgres_sink(job, sink).send(rows, answered)
    elif sink.kind == "iceberg":
        writer = rows.writeTo(place or "").using("iceberg")
        writer.createOrReplace() if overwrite else writer.create()
    else:
        mode = "overwrite" if overwrite else "errorifexists"
        shown = rows if query is None else selected(rows, query)
        shown.write.format(sink.kind).mode(mode).save(place)
    return int(seen.get["rows"])


def _named(job: Job, sink: SinkSpec, name: str) -> str:
    """The topic or table of a query."""
    if sink.kind == "kafka":
        return kafka_sink(job, sink).topic_of(name)
    if sink.kind == "iceberg":
        return IcebergSink(job.fill(sink.table or "")).table(name, 1)
    return ".".join(postgres_sink(job, sink).place(name, 1))


def _long(whole: WholeBatch, place: str, show: int, overwrite: bool) -> Iterator[Answer]:
    """Write all answers to one table; only for queries on one source."""
    results = whole.only_results()
    results.all().write.mode("overwrite" if overwrite else "errorifexists").parquet(place)
    written = results.all().sparkSession.read.parquet(place)
    counts = {row[0]: row[1] for row in written.groupBy("query").count().collect()}
    for asked in whole.asked:
        if asked.query is None:
            said = asked.error or "a sink of kind long takes shared queries alone: use --out"
            yield Answer(asked.name, 0, None, error=said, how=asked.how, why=asked.why)
            continue
        first = _first(results[asked.name], asked.query, show)
        yield Answer(asked.name, counts.get(asked.name, 0), place, first)


def _folders(names: Sequence[str]) -> dict[str, str]:
    """A folder for each query: its name, with a number added where two would be equal."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for number, name in enumerate(names, start=1):
        folder = folder_name(name, number).rsplit("/", 1)[0]
        folder = f"{folder}-{number}" if folder.lower() in taken else folder
        taken.add(folder.lower())
        found[name] = folder
    return found


def _exists(place: str) -> bool:
    try:
        folder = Folder(place)
    except Exception:  # a file system that Arrow does not support: Spark will check
        return False
    kind = folder.system.get_file_info(folder.path).type
    return bool(kind != fs.FileType.NotFound)
