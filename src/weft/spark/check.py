"""Checks queries against the DataFrame that they will run on, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.engine.fragments.safety import typed_expressions
from weft.errors import ExpressionError
from weft.plan.time_axis import TimeAxis
from weft.query import limits
from weft.query.one_source import check_absent
from weft.query.query import Query
from weft.query.syntax.reader import read_expression
from weft.spark.as_written import as_written
from weft.spark.batch.fragments import expression_types
from weft.spark.calendars import check_calendars
from weft.spark.failures import short
from weft.spark.only_spark import check_names
from weft.spark.parsed import check_parsed
from weft.spark.verify.native import native


def check_queries(df: DataFrame, axis: TimeAxis, queries: Sequence[Query]) -> dict[str, str]:
    """The types of aggregate arguments and keys, and of their subexpressions.

    An error names the first query that cannot run.

    All queries are analysed together, because Spark's analysis of hundreds one by one takes
    seconds; only if that fails, the failing query is searched for.
    """
    limits.check_queries(queries)
    check_calendars(df, axis, queries)
    for query in queries:
        check_absent(query, df.columns)
    check_parsed(df, queries)
    check_names(df, queries)
    args = list(dict.fromkeys(arg for q in queries for call in q.calls for arg in call.args))
    keys = list(dict.fromkeys(key.expression for q in queries for key in q.keys))
    predicates = list(dict.fromkeys(q.predicate for q in queries if q.predicate))
    outputs = list(dict.fromkeys(out.native for q in queries for out in q.outputs))
    try:
        row = df.select(
            *(F.expr(sql).alias(f"c{i}") for i, sql in enumerate([*args, *keys, *predicates]))
        ).schema
        for field in row.fields[len(args) + len(keys) :]:
            if not isinstance(field.dataType, T.BooleanType):
                raise _culprit(df, axis, queries, None)
        _ = (
            df.groupBy(*(F.expr(key).alias(f"k{i}") for i, key in enumerate(keys)))
            .agg(*(F.expr(sql).alias(f"a{i}") for i, sql in enumerate(outputs)))
            .schema
        )
    except AnalysisException as error:
        raise _culprit(df, axis, queries, error) from None
    texts = [*args, *keys]
    known = {
        sql: field.dataType.simpleString() for sql, field in zip(texts, row.fields, strict=False)
    }
    inner = dict.fromkeys(typed_expressions([read_expression(text) for text in texts]))
    return {**expression_types(df, [sql for sql in inner if sql not in known]), **known}


def check_columns(df: DataFrame, axis: TimeAxis, query: Query) -> None:
    """Refuse a query that reads a missing column, as soon as it is added.

    Spark is only consulted about names that no column has, because it may resolve them otherwise.
    """
    if query.columns - {column.lower() for column in df.columns}:
        with as_written(df.sparkSession):
            check_queries(df, axis, [query])


def _culprit(
    df: DataFrame, axis: TimeAxis, queries: Sequence[Query], error: AnalysisException | None
) -> ExpressionError:
    for query in queries:
        try:
            _ = native(df, axis, query).schema
        except AnalysisException as found:
            return ExpressionError(
                f"query {query.name!r} cannot run on this DataFrame: {short(str(found))}"
            )
    return ExpressionError(f"the queries cannot run on this DataFrame: {short(str(error))}")
