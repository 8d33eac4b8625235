"""Runs a statement's SQL over the answers of its queries, in a batch and on a stream.

answers of its queries, as tables weft_answers_0, ...  --checked as untrusted SQL--> its rows
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from threading import RLock

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.errors import EngineError, ExpressionError, QueryError
from weft.query.finish import ANSWERS, Finish
from weft.query.names import quoted_name
from weft.query.query import Query
from weft.query.sql.select.nodes import unquoted
from weft.query.sql.select.truncation import truncated_times
from weft.query.syntax.lexer import tokenize
from weft.query.window import Session, Window
from weft.spark.arrow import arrow_schema, nullable_schema
from weft.spark.failures import spark_message
from weft.spark.parsed_statement import checked_sql
from weft.stream.one_window import Answers, Leaves, judge
from weft.stream.outer_window import Outer

_IS_WINDOW, _IS_SESSION = {"spark.timeWindow": True}, {"spark.sessionWindow": True}
"""The metadata that marks a window column in Spark, for window_time and windows over windows."""
_naming = RLock()
"""Views are per session, and several streams of one session may be changed at the same time."""


@contextmanager
def answer_tables(answers: Sequence[tuple[Query, DataFrame]]) -> Iterator[list[str]]:
    """Within this context, SQL can read the queries' answers as tables numbered by position."""
    spark = answers[0][1].sparkSession
    names = [f"{ANSWERS}{number}" for number in range(len(answers))]
    with _naming:
        try:
            for name, (query, frame) in zip(names, answers, strict=True):
                marked = _IS_SESSION if isinstance(query.window, Session) else _IS_WINDOW
                window = F.col("window").alias("window", metadata=marked)
                others = [quoted_name(column) for column in frame.columns if column != "window"]
                frame.select(window, *others).createOrReplaceTempView(name)
            yield names
        finally:
            for name in names:
                spark.catalog.dropTempView(name)


def finished(finish: Finish, answers: Sequence[tuple[Query, DataFrame]]) -> DataFrame:
    """The rows that a statement computes from its queries' answers."""
    spark = answers[0][1].sparkSession
    with answer_tables(answers) as tables:
        return checked_sql(spark, finish.sql, tables, again=True)


@dataclass(frozen=True, eq=False)
class Form:
    """The result of SQL over answers on a stream: its columns, and what identifies its rows."""

    schema: T.StructType
    arrow: pa.Schema
    keys: tuple[str, ...] | None
    """The columns that, with `window`, identify a row; None if there are none."""
    outer: Outer | None = None
    """The outer windows for which answers are held before the SQL runs."""


def finished_form(
    spark: SparkSession, finish: Finish, answers: Sequence[tuple[Query, T.StructType]]
) -> Form:
    """The form of the result of SQL over some queries' answers, given their schemas.

    Refused if it combines answers of different windows, which arrive in different micro-batches.
    """
    name = answers[0][0].name
    if not hasattr(spark, "_jsparkSession"):
        raise EngineError(
            f"query {name!r}: Spark Connect does not expose its plan of the SQL over answers, so "
            f"weft cannot check it: start the stream in a classic session, or select the window's "
            f"answers alone"
        )
    if _calls(finish.sql, "session_window"):
        raise QueryError(
            f"query {name!r} on a stream: sessions over answers of several windows, which arrive "
            f"one by one: GROUP BY window(window, '1 hour'), or make the sessions from rows"
        )
    kinds: dict[Window, str] = {}
    judged, frames = [], []
    for table, (query, schema) in zip(finish.tables, answers, strict=True):
        kind = kinds.setdefault(query.window, _kind(query.window, len(kinds)))
        keys = tuple(key.name for key in query.keys)
        length = query.window.range if query.window.has_fixed_length else None
        judged.append(Answers(table, keys, kind, length, truncated_times(query)))
        frames.append((query, spark.range(1).mapInArrow(_Unread(table), schema)))
    try:
        made = finished(finish, frames)
        verdict = judge(json.loads(made._jdf.queryExecution().optimizedPlan().toJSON()), judged)
    except ExpressionError as error:
        raise ExpressionError(f"query {name!r}: {error}") from None
    except (PySparkException, Py4JJavaError) as error:
        raise QueryError(f"query {name!r}: {spark_message(error) or error}") from None
    except RecursionError:
        raise QueryError(f"query {name!r}: the statement is nested too deeply") from None
    if isinstance(verdict, Leaves):
        raise QueryError(f"query {name!r} on a stream: {verdict.reason}")
    columns = [column.casefold() for column in made.columns]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise QueryError(f"query {name!r}: two columns are called {twice!r}: rename one")
    schema = nullable_schema(made.schema)
    return Form(schema, arrow_schema(schema), verdict.keys, verdict.outer)


def _calls(sql: str, function: str) -> bool:
    """Whether SQL calls a function: in Spark's plan its session windows look like other structs."""
    tokens = tokenize(sql)
    return any(
        unquoted(name.text).lower() == function and bracket.text == "("
        for name, bracket in pairwise(tokens)
    )


def _kind(window: Window, number: int) -> str:
    """The kind of windows, equal if equal starts mean equal ends: not so for sessions, nor in time
    zones that skipped a day."""
    if isinstance(window, Session):
        return "session"
    uneven = not window.has_fixed_length and window.slide != window.range
    return "uneven" if uneven else str(number)


class _Unread:
    """For `mapInArrow`: a placeholder for answers when only the plan matters, found by its name."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from ()
