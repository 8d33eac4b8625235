"""A job on Spark: its session, its DataFrame of rows, its loom and its sink."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from weft.errors import EngineError, ExpressionError, JobError, WeftError
from weft.job.model import FILE_FORMATS, Job, SinkSpec, SourceSpec
from weft.query.names import quoted_name
from weft.sinks import (
    ConsoleSink,
    DeltaSink,
    IcebergSink,
    KafkaSink,
    LongSink,
    MemorySink,
    ParquetSink,
    PostgresSink,
    Sink,
)
from weft.sinks.contract import SinkQuery
from weft.spark import connectors
from weft.spark.calendars import in_session
from weft.spark.failures import (
    condition_of,
    connector_advice,
    has_format,
    is_unknown_format,
    short,
    spark_message,
)
from weft.spark.kafka import messages
from weft.spark.loom import Loom
from weft.spark.parsed_statement import checked_sql, statement_tables
from weft.spark.schema import time_axis
from weft.spark.session import local_session, silent_children
from weft.spark.streaming.menu import Menu
from weft.spark.whole import WholeBatch
from weft.stream.planning import plan_options

FORMATS = ("kafka", "delta", "iceberg")
"""Kinds of sinks that are Spark formats, which may be missing."""
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""The loggers with which PySpark prints an exception as JSON in addition to raising it."""


@contextmanager
def job_session(job: Job, *, debug: bool = False) -> Iterator[SparkSession]:
    """The session for a job's settings; stopped at the end if it was started here.

    It is an embedded one unless the settings or `spark-submit` say otherwise. Spark's own log is
    switched off, because errors are reported in one message; `debug` switches it on.
    """
    for name in _LOGGERS:
        PySparkLogger.getLogger(name).disabled = not debug
    settings = job.filled(job.spark)
    before = SparkSession.getActiveSession()
    if before is None and job.connectors:
        settings = _with_connectors(job, settings)
    if before is not None:
        spark = before
    elif "spark.remote" in settings or "PYSPARK_GATEWAY_PORT" in os.environ:
        builder = SparkSession.builder.appName(f"weft {job.name}")
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
    else:
        level = {"spark.log.level": "WARN" if debug else "OFF"}
        with nullcontext() if debug else silent_children():
            spark = local_session(name=f"weft {job.name}", settings={**level, **settings})
    try:
        yield spark
    finally:
        if before is None:
            spark.stop()


def source_frame(spark: SparkSession, job: Job, *, streaming: bool) -> DataFrame:
    """The job's rows; errors of the source name the field of the job."""
    source = job.source
    is_file = source.format.lower() in FILE_FORMATS
    try:
        schema = _schema(spark, job)
        if streaming and is_file and schema is None and source.format.lower() != "delta":
            # A stream of files does not infer its schema; a Delta table has one.
            schema = source_frame(spark, job, streaming=False).schema
        reader: Any = spark.readStream if streaming else spark.read
        reader = reader.format(source.format).options(**job.filled(source.options))
        if source.format.lower() == "kafka":
            return _messages(reader.load(), job, schema)
        if schema is not None:
            reader = reader.schema(schema)
        frame: DataFrame
        if source.table is not None:
            frame = reader.table(job.fill(source.table))
        else:
            frame = reader.load(*_paths(job, streaming))
        return frame
    except (PySparkException, Py4JJavaError) as error:
        raise JobError(_source_problem(job, error)) from None


def history_frame(spark: SparkSession, job: Job, history: SourceSpec) -> DataFrame:
    """The rows before a stream's own; the default for their schema is the source's."""
    if any(query.source and query.source.relation for query in job.queries):
        message = ": is supported for queries over one table, not over a join or a subquery"
        raise JobError(job.at(("history",), message))
    spec = replace(history, schema=history.schema or job.source.schema, time=job.source.time)
    return source_frame(spark, job.on(spec), streaming=False)


def _messages(frame: DataFrame, job: Job, schema: T.StructType | None) -> DataFrame:
    """The rows of a Kafka source; the raw messages if there is no schema of their values."""
    if job.source.avro_schema is None:
        return frame if schema is None else messages(frame, schema)
    place = job.locate(job.source.avro_schema)
    try:
        return messages(frame, Path(place).read_text(encoding="utf-8"))
    except (OSError, UnicodeError, EngineError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        message = f"={job.source.avro_schema!r}: {said}"
        raise JobError(job.at(("source", "avro_schema"), message)) from None


def _with_connectors(job: Job, settings: dict[str, str]) -> dict[str, str]:
    """The job's settings with those of its connectors; fetches their jars."""
    if "spark.remote" in settings:
        message = ": with spark.remote, start the server itself with these connectors"
        raise JobError(job.at(("connectors",), message))
    try:
        found = connectors.settings(job.connectors)
    except EngineError as error:
        raise JobError(job.at(("connectors",), f": {error}")) from None
    connectors.merge(found, settings)
    return found


def job_loom(spark: SparkSession, job: Job, *, streaming: bool = False) -> Loom:
    """A loom with the job's queries on its rows; refuses queries that cannot run."""
    frame = _rows(spark, job, streaming=streaming)
    _check_time(job, frame)
    loom = Loom(frame, job.source.time, job.source.watermark, offer=job.offer)
    try:
        for query in job.queries:
            loom.add(query)
        loom.types()
    except WeftError as error:
        raise type(error)(f"{job.file}: {error}") from None
    return loom


def within_windows(spark: SparkSession, job: Job, *, strict: bool = False) -> Job:
    """A stream's job without the statements whose SQL over answers combines different windows.

    These are listed in `refused`, so that the others can start.
    """
    if not any(query.finish is not None for query in job.queries):
        return job
    frame = _rows(spark, job, streaming=True)
    _check_time(job, frame)
    menu = Menu.of(frame, time_axis(frame.schema, job.source.time))
    queries = {query.name.casefold(): query for query in job.queries}
    refused: list[str] = []
    for query in [query for query in job.queries if query.finish is not None]:
        assert query.finish is not None
        try:
            for name in (query.name, *query.finish.parts):
                known = queries.get(name.casefold())
                if known is not None:
                    queries[name.casefold()] = in_session(known, frame, menu.axis)
            form = menu.finished(queries[query.name.casefold()], queries)
            if job.sink is not None and job.sink.kind in ("kafka", "postgres"):
                found = SinkQuery(0, query.name, form.schema, form.arrow, form.keys)
                found.identity(f"a sink of kind {job.sink.kind}")
        except WeftError as error:
            refused.append(f"{job.file}: {error}")
            for name in (query.name, *query.finish.parts):
                queries.pop(name.casefold(), None)
    if refused and (strict or not queries):
        raise JobError("\n".join(refused))
    return replace(job, queries=tuple(queries.values()), refused=(*job.refused, *refused))


def job_batch(spark: SparkSession, job: Job, *, strict: bool = False) -> WholeBatch:
    """All queries and statements of a job, on its tables, as a batch.

    Raises if none of them can be answered, or, with `strict`, if any of them cannot.
    """
    sources = job.tables or {"": job.source}
    tables = {
        name: source_frame(spark, job.on(one), streaming=False) for name, one in sources.items()
    }
    if any(query.source is None or query.source.time is None for query in job.queries):
        _check_time(job, next(iter(tables.values())))
    whole = WholeBatch(
        spark,
        tables,
        job.queries,
        job.statements,
        time=job.source.time,
        times={name: one.time for name, one in job.tables.items()},
        options=plan_options(job),
    )
    wrong = [_named(asked.name, asked.error) for asked in whole.asked if asked.error is not None]
    if wrong and (strict or len(wrong) == len(whole.asked)):
        several = f"{len(wrong)} of {len(whole.asked)} statements are refused:\n"
        raise JobError(f"{job.file}: {several if len(wrong) > 1 else ''}" + "\n".join(wrong))
    return whole


def _named(name: str, error: str) -> str:
    return error if error.startswith(f"query {name!r}") else f"query {name!r}: {error}"


def _rows(spark: SparkSession, job: Job, *, streaming: bool) -> DataFrame:
    """The rows of a job's queries, which must read one table or one relation."""
    relations = [q.source.relation for q in job.queries if q.source and q.source.relation]
    if not relations:
        return source_frame(spark, job, streaming=streaming)
    relation = relations[0]
    for other in relations[1:]:
        relation = relation.with_columns(other.columns)
    sources = job.tables
    if not sources:
        names = {parts[-1] for parts in statement_tables(spark, relation.sql)}
        if len(names) != 1:
            listed = ", ".join(sorted(names))
            message = f": the queries are from several tables ({listed}): name them under sources"
            raise JobError(job.at(("source",), message))
        sources = {names.pop(): job.source}
    for name, one in sources.items():
        is_stream = streaming and (one.watermark is not None or len(sources) == 1)
        frame = source_frame(spark, job.on(one), streaming=is_stream)
        frame.createOrReplaceTempView(quoted_name(name))
    try:
        return checked_sql(spark, relation.sql, list(sources))
    except (ExpressionError, PySparkException) as error:
        said = str(error) if isinstance(error, WeftError) else spark_message(error)
        raise JobError(f"{job.file}: FROM {relation.rows}: {said}") from None


def _check_time(job: Job, frame: DataFrame) -> None:
    try:
        time_axis(frame.schema, job.source.time)
    except EngineError as error:
        message = str(error).removeprefix("time").replace("the DataFrame", "the source")
        raise JobError(job.at(("source", "time"), message)) from None


def job_sink(spark: SparkSession, job: Job) -> Sink:
    """The job's sink for a stream; an error if its connector is missing."""
    sink = job.sink
    assert sink is not None, "the caller has made sure that there is one"
    check_connector(spark, job, sink)
    if sink.kind == "kafka":
        return kafka_sink(job, sink)
    if sink.kind == "postgres":
        return postgres_sink(job, sink)
    if sink.kind == "iceberg":
        return IcebergSink(job.fill(sink.table or ""))
    if sink.kind == "console":
        return ConsoleSink(sink.limit)
    if sink.kind == "memory":
        return MemorySink()
    kinds: dict[str, Callable[[str], Sink]] = {
        "parquet": ParquetSink, "long": LongSink, "delta": DeltaSink,
    }  # fmt: skip
    return kinds[sink.kind](job.locate(sink.path or ""))


def kafka_sink(job: Job, sink: SinkSpec) -> KafkaSink:
    """The job's Kafka sink, with variables expanded."""
    servers, topic = job.fill(sink.servers or ""), job.fill(sink.topic or "")
    try:
        return KafkaSink(servers, topic, values=sink.values, **job.filled(sink.options))
    except EngineError as error:
        raise JobError(job.at(("sink",), f".{error}")) from None


def postgres_sink(job: Job, sink: SinkSpec) -> PostgresSink:
    """The job's PostgreSQL sink, with variables expanded."""
    return PostgresSink(job.fill(sink.url or ""), job.fill(sink.table or "{query}"))


def check_connector(spark: SparkSession, job: Job, sink: SinkSpec) -> None:
    """Refuse a sink whose format Spark does not have."""
    if sink.kind in FORMATS and not has_format(spark, sink.kind):
        message = f"={sink.kind!r}: Spark has no such connector on its class path; "
        raise JobError(job.at(("sink", "kind"), message + connector_advice(sink.kind)))


def _schema(spark: SparkSession, job: Job) -> T.StructType | None:
    if job.source.schema is None:
        return None
    try:
        schema = T.StructType.fromDDL(job.source.schema)
        if isinstance(schema, T.StructType):
            return schema
        problem = f"it is a single type, {schema.simpleString()}"
    except PySparkException as error:
        problem = short(str(error))
    message = f"={job.source.schema!r}: is not a list of columns with their types: {problem}"
    raise JobError(job.at(("source", "schema"), message))


def _paths(job: Job, streaming: bool) -> list[Any]:
    paths = [job.locate(path) for path in job.source.path]
    if streaming and len(paths) > 1:
        message = ": a stream reads one path, which may hold wildcards"
        raise JobError(job.at(("source", "path"), message))
    if not paths:
        return []
    return [paths[0] if streaming else paths]


def _source_problem(job: Job, error: BaseException) -> str:
    condition, source = condition_of(error), job.source
    if condition == "PATH_NOT_FOUND":
        shown = ", ".join(repr(path) for path in source.path)
        return job.at(("source", "path"), f"={shown}: does not exist")
    if is_unknown_format(error):
        advice = connector_advice(source.format)
        message = f"={source.format!r}: Spark has no such connector on its class path; {advice}"
        return job.at(("source", "format"), message)
    if condition == "UNABLE_TO_INFER_SCHEMA":
        return job.at(("source", "path"), ": holds no files to read the columns from; give schema")
    return job.at(("source",), f": {spark_message(error)}")
