"""Checks a statement that runs unchanged by the plan that Spark itself parses."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from weft.errors import EngineError, ExpressionError
from weft.query.sql.select.nodes import unquoted
from weft.query.syntax.lexer import tokenize
from weft.query.trust.statement_text import check_statement_text, refuse_clocks
from weft.query.trust.statement_tree import named_windows, statement_refusal, tables_read
from weft.spark.as_written import as_written
from weft.spark.failures import spark_message


def statement_tables(spark: SparkSession, sql: str) -> list[tuple[str, ...]]:
    """The tables that a statement reads, as name parts; empty if Spark cannot parse it."""
    if not hasattr(spark, "_jsparkSession"):
        return []
    with as_written(spark):
        parser = spark._jsparkSession.sessionState().sqlParser()
        try:
            return tables_read(json.loads(parser.parsePlan(sql).toJSON()))
        except (PySparkException, Py4JJavaError):
            return []


def check_statement(
    spark: SparkSession, sql: str, tables: Collection[str], *, again: bool = False
) -> None:
    """Refuse a statement that is anything but a query of these tables, before it runs.

    One that runs repeatedly (`again`) must give the same result each time.
    """
    check_statement_text(sql)
    if again:
        refuse_clocks(sql)
    if not hasattr(spark, "_jsparkSession"):
        raise EngineError("Spark Connect does not expose what it parses, so weft cannot check it")
    with as_written(spark):
        parser = spark._jsparkSession.sessionState().sqlParser()
        try:
            plan = parser.parsePlan(sql)
        except (PySparkException, Py4JJavaError) as error:
            raise ExpressionError(f"Spark cannot read it: {spark_message(error)}") from None
        parsed = json.loads(plan.toJSON())
        reason = statement_refusal(parsed, tables, again=again)
        reason = reason or _window_refusal(plan, parsed, tables, again=again)
    if reason is not None:
        raise ExpressionError(reason)


def checked_sql(
    spark: SparkSession, sql: str, tables: Collection[str], *, again: bool = False
) -> DataFrame:
    """Run a statement after checking that it is only a query of these tables.

    A table with a qualified name is found by the last part of the name.
    """
    known = {name.casefold() for name in tables}
    for parts in statement_tables(spark, sql):
        if len(parts) > 1 and parts[-1].casefold() in known:
            sql = renamed(sql, parts)
    check_statement(spark, sql, tables, again=again)
    with as_written(spark):
        return spark.sql(sql)


def renamed(sql: str, parts: Sequence[str]) -> str:
    """A statement in which a qualified table name is replaced by its last part.

    >>> renamed("SELECT x FROM shop.trades AS t", ("shop", "trades"))
    'SELECT x FROM trades AS t'
    """
    tokens, found, position = tokenize(sql), "", 0
    wanted = [piece for part in parts for piece in (".", part.casefold())][1:]
    for index in range(len(tokens) - len(wanted) + 1):
        some = tokens[index : index + len(wanted)]
        if [unquoted(token.text).casefold() for token in some] == wanted:
            found, position = found + sql[position : some[0].start], some[-1].start
    return found + sql[position:]


def _window_refusal(
    plan: Any, parsed: Any, tables: Collection[str], *, again: bool = False
) -> str | None:
    """Why WINDOW clauses, which the plan's JSON does not show, are refused; or None."""
    hidden = named_windows(parsed)
    if not hidden:
        return None
    specs = list(_windows(plan))
    if len({position for position, _ in specs}) != hidden:
        return "a clause WINDOW in a subquery of an expression: write OVER (...) itself"
    for _, spec in specs:
        reason = statement_refusal(json.loads(spec.toJSON()), tables, again=again)
        if reason is not None:
            return reason
    return None


def _windows(plan: Any) -> Iterator[tuple[int, Any]]:
    """The definitions in WINDOW clauses of a plan, each with the number of its clause."""
    waiting, clause = [plan], 0
    while waiting:
        node = waiting.pop()
        if node.getClass().getSimpleName() == "WithWindowDefinition":
            clause += 1
            values = node.windowDefinitions().values().iterator()
            while values.hasNext():
                yield clause, values.next()
        children = node.children()
        waiting += [children.apply(i) for i in range(children.size())]
        if node.getClass().getSimpleName() == "UnresolvedWith":
            relations = node.cteRelations()
            waiting += [relations.apply(i)._2() for i in range(relations.size())]
