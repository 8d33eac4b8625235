"""Which statements of the corpus a stream could start with, as far as checks before a run show."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from weft.errors import WeftError
from weft.query.names import quoted_name
from weft.query.query import Query
from weft.query.sql.reading import Statement
from weft.query.trust import check_untrusted
from weft.spark.calendars import in_session
from weft.spark.schema import time_axis
from weft.spark.streaming.compile import argument_types, compile_catalogue
from weft.stream.catalogue import Settings
from weft.stream.evolve import first_catalogue
from weft.stream.planning import stream_plan

STREAMS = "streams"


def stream_verdict(
    spark: SparkSession,
    tables: dict[str, DataFrame],
    times: dict[str, str],
    statement: Statement,
) -> str:
    """`streams`, or why not, found by planning and compiling its queries for a stream."""
    try:
        queries = statement.as_queries()
        check_untrusted(queries)
        frame, time = _rows(spark, tables, times, queries)
        axis = time_axis(frame.schema, time)
        queries = [in_session(query, frame, axis) for query in queries]
        settings = Settings(axis.column, axis.kind, "0 seconds", (0,), 1, "append")
        types = argument_types(frame, axis, queries)
        compile_catalogue(first_catalogue(stream_plan(queries), settings, types), frame, axis)
    except (WeftError, PySparkException, LookupError) as error:
        return f"refused: {str(error).splitlines()[0]}"
    return STREAMS


def _rows(
    spark: SparkSession, tables: dict[str, DataFrame], times: dict[str, str], queries: list[Query]
) -> tuple[DataFrame, str]:
    """The rows that the queries of a statement read; all must read the same."""
    sources = [query.source for query in queries if query.source is not None]
    first = sources[0]
    if len({source.key for source in sources}) > 1:
        raise LookupError("its SELECTs are from several streams")
    name = first.table.replace("`", "").rpartition(".")[2].casefold()
    time = (first.time or times.get(name, "ts")).strip("`")
    if first.relation is None:
        return tables[name], time
    relation = first.relation
    for source in sources[1:]:
        assert source.relation is not None
        relation = relation.with_columns(source.relation.columns)
    for table, frame in tables.items():
        frame.createOrReplaceTempView(quoted_name(table))
    return spark.sql(relation.sql), time
