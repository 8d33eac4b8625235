"""Untrusted queries judged by what Spark itself parses of their texts, before any of it is run.

    text -> Spark's own parser, substitution off -> its tree as JSON -> weft.query.trust.spark_tree

Spark Connect has no parser to ask. There the plan that the server parsed is read as text, in which
constants have no quotes: a constant that looks like a call of a forbidden function is refused too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from weft.errors import ExpressionError
from weft.query.limits import allows
from weft.query.query import Query
from weft.query.trust import Text, check_untrusted, texts
from weft.query.trust.spark_tree import FUNCTIONS, NOT_A_COLUMN, name_refusal, tree_refusal
from weft.spark.as_written import as_written
from weft.spark.failures import spark_message

_PARSING = (
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.ansi.enabled",
    "spark.sql.ansi.enforceReservedKeywords",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.parser.quotedRegexColumnNames",
)
"""Settings on which it depends how a text is read."""


def check_parsed(df: DataFrame, queries: Sequence[Query]) -> None:
    """Refuse untrusted queries of which Spark reads anything that is not allowed."""
    untrusted = [query for query in queries if not query.trusted]
    if not untrusted:
        return
    check_untrusted(untrusted)
    columns = _Columns(df)
    with as_written(df.sparkSession):
        local = hasattr(df, "_jdf")
        judge = _Parser(df.sparkSession) if local else _Explainer(df.sparkSession)
        for query in untrusted:
            for text in dict.fromkeys(texts(query)):
                reason = judge.refusal(text, columns)
                if reason is not None:
                    raise ExpressionError(
                        f"query {query.name!r} cannot run on this DataFrame: {reason}, in "
                        f"{text.sql!r}{columns.listed if NOT_A_COLUMN in reason else ''}"
                    )


class _Columns:
    """The columns of a DataFrame, as names in a query may call them."""

    def __init__(self, df: DataFrame) -> None:
        self.df = df
        self.cased = str(df.sparkSession.conf.get("spark.sql.caseSensitive", "false")) == "true"
        self.names = {self._folded(name) for name in df.columns}

    def _folded(self, name: str) -> str:
        return name if self.cased else name.casefold()

    @property
    def listed(self) -> str:
        """Some of them, for whoever has misspelt one."""
        more = f" and {len(self.df.columns) - 20} more" if len(self.df.columns) > 20 else ""
        return f"; its columns are {', '.join(self.df.columns[:20])}{more}"

    def known(self, parts: tuple[str, ...], more: frozenset[str]) -> bool:
        """Whether a name is that of a column, or of a field in one, perhaps with its table."""
        first = self._folded(parts[0])
        if first in self.names or first in {self._folded(name) for name in more}:
            return True
        folded = tuple(map(self._folded, parts))
        return any(folded[: len(name)] == name for name in self._qualified)

    @cached_property
    def _qualified(self) -> set[tuple[str, ...]]:
        """Columns with the names of their tables before them: `t.price` for `df.alias("t")`."""
        found: set[tuple[str, ...]] = set()
        if not hasattr(self.df, "_jdf"):  # Spark Connect does not tell
            return found
        output = self.df._jdf.queryExecution().analyzed().output()
        for position in range(output.size()):
            attribute = output.apply(position)
            tables = attribute.qualifier()
            names = [tables.apply(i) for i in range(tables.size())]
            for start in range(len(names)):
                found.add(tuple(map(self._folded, (*names[start:], attribute.name()))))
        return found


class _Parser:
    """Spark's own parser in the JVM."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.settings = tuple(str(spark.conf.get(name, None)) for name in _PARSING)

    def refusal(self, text: Text, columns: _Columns) -> str | None:
        nodes = _nodes(_Session(self.spark), text.sql, self.settings)
        return tree_refusal(text.sql, nodes, lambda parts: columns.known(parts, text.names))


class _Session:
    """A session as the key of a cache."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark, self.name = spark, str(spark._jsparkSession.sessionUUID())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Session) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


@lru_cache(maxsize=16384)
def _nodes(session: _Session, sql: str, settings: tuple[str, ...]) -> list[dict[str, Any]]:
    parser = session.spark._jsparkSession.sessionState().sqlParser()
    try:
        nodes: list[dict[str, Any]] = json.loads(parser.parseExpression(sql).toJSON())
    except (PySparkException, Py4JJavaError) as error:
        raise ExpressionError(f"{sql!r}: Spark cannot read this: {spark_message(error)}") from None
    return nodes


_FIELDS = "spark.sql.debug.maxToStringFields"
_CALL = re.compile(r"'([^\s'(),]+)\(")


class _Explainer:
    """The plan that a Spark Connect server has parsed, as text: calls stand in it as `'name(`."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def refusal(self, text: Text, columns: _Columns) -> str | None:
        """A subquery would stand on lines of its own; names are judged by our own reading."""
        before = self.spark.conf.get(_FIELDS, "25")
        self.spark.conf.set(_FIELDS, str(2**31 - 1))  # or the plan leaves some out
        try:
            plan = self.spark.sql(f"EXPLAIN EXTENDED SELECT ({text.sql})").collect()[0][0]
        except PySparkException as error:
            raise ExpressionError(f"Spark cannot read this: {spark_message(error)}") from None
        finally:
            self.spark.conf.set(_FIELDS, str(before))
        parsed = str(plan).partition("Plan ==\n")[2].partition("\n\n== Analyzed")[0]
        first, _, rest = parsed.partition("\n")
        if not first.startswith("'Project [") or rest.strip() != "+- OneRowRelation":
            return "Spark reads more than one expression in it, or a constant of several lines"
        calls = [name.strip("`").lower() for name in _CALL.findall(first)]
        wrong = next((name for name in calls if name not in FUNCTIONS and not allows(name)), None)
        if wrong is not None:
            return f"Spark reads a call of {wrong!r} in it, which is not allowed"
        return name_refusal(text.sql, lambda parts: columns.known(parts, text.names))
