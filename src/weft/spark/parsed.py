"""Checks untrusted queries by how Spark itself parses their expressions, before anything runs.

    text -> Spark's own parser, substitution off -> its tree as JSON -> weft.query.trust.spark_tree

Spark Connect does not expose a parser. There the plan that the server parsed is checked as text, in
which constants have no quotes: a constant that looks like a forbidden call is refused too.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from functools import cached_property
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
"""The settings that affect parsing."""
TOGETHER = 200
"""Texts parsed at a time."""
REMEMBERED = 65536
"""Most texts whose trees are cached."""
_trees: dict[tuple[str, ...], list[dict[str, Any]]] = {}


def check_parsed(df: DataFrame, queries: Sequence[Query]) -> None:
    """Refuse untrusted queries in which Spark's parser finds anything that is not allowed."""
    untrusted = [query for query in queries if not query.trusted]
    if not untrusted:
        return
    check_untrusted(untrusted)
    columns = _Columns(df)
    with as_written(df.sparkSession):
        local = hasattr(df, "_jdf")
        judge = _Parser(df.sparkSession) if local else _Explainer(df.sparkSession)
        listed = {query.name: list(dict.fromkeys(texts(query))) for query in untrusted}
        judge.read([text for some in listed.values() for text in some])
        for query in untrusted:
            for text in listed[query.name]:
                reason = judge.refusal(text, columns)
                if reason is not None:
                    raise ExpressionError(
                        f"query {query.name!r} cannot run on this DataFrame: {reason}, in "
                        f"{text.sql!r}{columns.listed if NOT_A_COLUMN in reason else ''}"
                    )


class _Columns:
    """The columns of a DataFrame, by the names that a query may use for them."""

    def __init__(self, df: DataFrame) -> None:
        self.df = df
        self.cased = str(df.sparkSession.conf.get("spark.sql.caseSensitive", "false")) == "true"
        self.names = {self._folded(name) for name in df.columns}

    def _folded(self, name: str) -> str:
        return name if self.cased else name.casefold()

    @property
    def listed(self) -> str:
        """Some of the columns as text, for messages about a misspelt one."""
        more = f" and {len(self.df.columns) - 20} more" if len(self.df.columns) > 20 else ""
        return f"; its columns are {', '.join(self.df.columns[:20])}{more}"

    def known(self, parts: tuple[str, ...], more: frozenset[str]) -> bool:
        """Whether a name is that of a column or of a field in one, possibly with its table."""
        first = self._folded(parts[0])
        if first in self.names or first in {self._folded(name) for name in more}:
            return True
        folded = tuple(map(self._folded, parts))
        return any(folded[: len(name)] == name for name in self._qualified)

    @cached_property
    def _qualified(self) -> set[tuple[str, ...]]:
        """Columns qualified by the names of their tables: `t.price` for `df.alias("t")`."""
        found: set[tuple[str, ...]] = set()
        if not hasattr(self.df, "_jdf"):  # not available on Spark Connect
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
    """Spark's own parser in the JVM, with a cache of its trees."""

    def __init__(self, spark: SparkSession) -> None:
        session = str(spark._jsparkSession.sessionUUID())
        self.settings = (session, *(str(spark.conf.get(name, None)) for name in _PARSING))
        self.parser = spark._jsparkSession.sessionState().sqlParser()

    def read(self, listed: Sequence[Text]) -> None:
        """Parse the new texts, many at a time, because one by one takes four times as long."""
        if len(_trees) > REMEMBERED:
            _trees.clear()
        distinct = dict.fromkeys(text.sql for text in listed)
        new = [sql for sql in distinct if self._key(sql) not in _trees]
        for start in range(0, len(new), TOGETHER):
            some = new[start : start + TOGETHER]
            if len(some) == 1 or not self._read_together(some):
                for sql in some:
                    _trees[self._key(sql)] = self._read_one(sql)

    def refusal(self, text: Text, columns: _Columns) -> str | None:
        nodes = _trees[self._key(text.sql)]
        return tree_refusal(text.sql, nodes, lambda parts: columns.known(parts, text.names))

    def _key(self, sql: str) -> tuple[str, ...]:
        return (*self.settings, sql)

    def _read_one(self, sql: str) -> list[dict[str, Any]]:
        try:
            nodes: list[dict[str, Any]] = json.loads(self.parser.parseExpression(sql).toJSON())
        except (PySparkException, Py4JJavaError) as error:
            reason = spark_message(error)
            raise ExpressionError(f"{sql!r}: Spark cannot read this: {reason}") from None
        return nodes

    def _read_together(self, some: Sequence[str]) -> bool:
        """Parse texts as one SELECT; False if any of them is not exactly one item of it.

        The items have random names that no text can contain, so that no text can end its item early
        or extend into the next; an expression in parentheses has the same tree as without them.
        """
        names = [f"w_{secrets.token_hex(8)}_{at}" for at in range(len(some))]
        items = (f"({sql}\n) AS {name}" for sql, name in zip(some, names, strict=True))
        try:
            plan = json.loads(self.parser.parsePlan(f"SELECT {', '.join(items)}").toJSON())
        except (PySparkException, Py4JJavaError):
            return False
        kinds = [str(node["class"]).rpartition(".")[2] for node in plan]
        found = plan[0].get("projectList", []) if kinds == ["Project", "OneRowRelation"] else []
        if [item[0].get("name") for item in found] != names:
            return False
        for sql, item in zip(some, found, strict=True):
            _trees[self._key(sql)] = item[1:]
        return True


_FIELDS = "spark.sql.debug.maxToStringFields"
_CALL = re.compile(r"'([^\s'(),]+)\(")


class _Explainer:
    """The plan that a Spark Connect server has parsed, as text: calls appear as `'name(`."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def read(self, listed: Sequence[Text]) -> None:
        """Does nothing: texts are not parsed in advance."""

    def refusal(self, text: Text, columns: _Columns) -> str | None:
        """Why a text is refused; subqueries show as extra lines, names are checked by weft."""
        before = self.spark.conf.get(_FIELDS, "25")
        self.spark.conf.set(_FIELDS, str(2**31 - 1))  # so that the plan is not truncated
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
