"""Runs a file of statements in a batch: what can be shared is shared, the rest runs unchanged.

    statement            queries on looms            its answers
    one SELECT           one                         the columns selected from the query's answers
    more around it       one for each window         Spark SQL over the queries' answers
    anything else        none                        the statement itself, as Spark runs it

Queries over one table, join or subquery with the same time column are on one loom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.errors import EngineError, QueryError, WeftError
from weft.query.calendar import Calendar
from weft.query.names import quoted_name
from weft.query.query import Query
from weft.query.source import NO_NULLS, Relation
from weft.query.sql.reading import Statement, in_spark
from weft.query.sql.select.select import STREAM_TIME
from weft.query.zone import FAR
from weft.spark.as_written import as_written
from weft.spark.calendars import in_session, time_span
from weft.spark.check import check_queries
from weft.spark.failures import short, spark_message
from weft.spark.finishing import answer_tables
from weft.spark.loom import Loom
from weft.spark.parsed_statement import checked_sql, statement_tables
from weft.spark.results.results import Results
from weft.spark.results.sound import Failed, SoundResults

Made = TypeVar("Made")
SourceKey = tuple[str, str, str]
"""The WITH clause, the FROM clause, and the time column."""
_SPARK_ERRORS = (PySparkException, Py4JJavaError)
_ERRORS = (WeftError, *_SPARK_ERRORS)


@dataclass(eq=False)
class Asked:
    """One requested answer: that of a query or of a statement."""

    name: str
    queries: tuple[Query, ...]
    statement: Statement | None = None
    why: str | None = None
    """Why it is not shared, if it runs unchanged."""
    error: str | None = None
    """Why it cannot be answered at all."""
    plain: DataFrame | None = field(default=None, repr=False)
    """The statement as Spark runs it, if the request is a statement."""

    @property
    def query(self) -> Query | None:
        """The query, if the answer is just that query's answers."""
        return self.queries[0] if self.is_shared and self.finish is None else None

    @property
    def finish(self) -> str | None:
        """Spark SQL over the queries' answers, if there is any."""
        if self.statement is not None:
            return self.statement.finish
        own = self.queries[0].finish
        return None if own is None else own.sql

    @property
    def is_shared(self) -> bool:
        """Whether its queries are on looms."""
        return self.why is None and self.error is None

    @property
    def how(self) -> str:
        """How it runs, in a word or two, for display."""
        if not self.is_shared:
            return "as it is"
        return "shared" if self.finish is None else "shared, then SQL"


class WholeBatch:
    """All answers requested from some tables; a context manager, because it persists shared work.

    `tables` are DataFrames by the names used in statements; a single table under the name "" is
    used for any name. The time column of queries that do not name one is that of `times` for their
    table, or else `time`.
    """

    def __init__(
        self,
        spark: SparkSession,
        tables: Mapping[str, DataFrame],
        queries: Sequence[Query] = (),
        statements: Sequence[Statement] = (),
        *,
        time: str = "ts",
        times: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.spark, self.time, self.options = spark, time, dict(options or {})
        self.times = {name.casefold(): column for name, column in (times or {}).items()}
        self.asked = _asked(queries, statements)
        self.tables = {name.casefold(): df for name, df in tables.items()}
        self.looms: dict[SourceKey, Loom] = {}
        self._results: dict[SourceKey, SoundResults] = {}
        self._null_times: dict[SourceKey, bool] = {}
        self._spans: dict[SourceKey, npt.NDArray[np.int64]] = {}
        self._stack = ExitStack()
        with as_written(spark):
            self._name_only_table()
            for name, df in self.tables.items():
                df.createOrReplaceTempView(quoted_name(name))
            self._weave()

    def __enter__(self) -> WholeBatch:
        """Plan what is shared; a statement that would then have other columns runs unchanged."""
        with as_written(self.spark):
            for key, loom in self.looms.items():
                if loom.queries:
                    results = SoundResults(loom, self.options)
                    self._results[key] = self._stack.enter_context(results)
            for asked in self.asked:
                if asked.is_shared and asked.finish is not None:
                    self._check_form(asked)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def use(self, asked: Asked, work: Callable[[DataFrame, bool], Made]) -> Made:
        """Do something with an answer; raises `Failed` if it cannot be computed, not even alone.

        `work` gets the answer, and whether it may already have been called with it.
        """
        if asked.error is not None:
            raise Failed(asked.error)
        query = asked.query
        if query is not None:
            return self._results[self._key(query)].use(query, work)
        again = False
        try:
            if asked.is_shared:
                try:
                    return work(self._finished(asked), False)
                except _SPARK_ERRORS:
                    if not _is_spark(asked):
                        raise
                    again = True  # perhaps another query that shares the work has failed
            return work(self._plain(asked), again)
        except _SPARK_ERRORS as error:
            raise Failed(_said(error)) from error

    def plain(self, asked: Asked) -> DataFrame | None:
        """A statement as plain Spark runs it; None if it is in another dialect."""
        return self._plain(asked) if _is_spark(asked) else None

    def results_of(self, key: SourceKey) -> Results:
        """The answers of the queries on one loom."""
        return self._results[key].all()

    def only_results(self) -> Results:
        """The answers of all queries, which must have one source."""
        if len(self._results) != 1:
            raise EngineError(f"the queries have {len(self._results)} sources instead of one")
        return next(iter(self._results.values())).all()

    # Reading.

    def _name_only_table(self) -> None:
        """Give a single table the name that the statements use for it."""
        if "" not in self.tables:
            return
        names: Counter[str] = Counter()
        for asked in self.asked:
            found = [q.source.key[1] for q in asked.queries if q.source and not q.source.relation]
            if asked.statement is not None and (not found or asked.finish is not None):
                found = [".".join(p) for p in statement_tables(self.spark, asked.statement.sql)]
            names.update(name.rpartition(".")[2].casefold() for name in found)
        only = self.tables.pop("")
        self.tables[names.most_common(1)[0][0] if names else "rows"] = only

    def _weave(self) -> None:
        """Put every query on a loom of its source; if that fails, its statement runs unchanged."""
        relations: dict[SourceKey, Relation] = {}
        for query in (query for asked in self.asked for query in asked.queries):
            if query.source is not None and query.source.relation is not None:
                key = self._key(query)
                known = relations.get(key, query.source.relation)
                relations[key] = known.with_columns(query.source.relation.columns)
        for asked in self.asked:
            if asked.error is not None:
                continue
            if not asked.queries:
                assert asked.statement is not None
                self._run_beside(asked, asked.statement.unshared or str(asked.statement.refusal))
                continue
            try:
                self._add(asked, relations)
            except _ERRORS as error:
                self._run_beside(asked, _said(error))
        for loom in self.looms.values():
            self._check(loom)

    def _add(self, asked: Asked, relations: Mapping[SourceKey, Relation]) -> None:
        added: list[tuple[Loom, Query]] = []
        try:
            placed = []
            for query in asked.queries:
                key = self._key(query)
                if key not in self.looms:
                    self.looms[key] = Loom(self._rows(key, relations.get(key)), key[2])
                loom = self.looms[key]
                query = in_session(query, loom.df, loom.axis)
                self._check_needs(query, key)
                loom.add(query)
                added.append((loom, query))
                placed.append(query)
            asked.queries = tuple(placed)
        except _ERRORS:
            for loom, query in added:
                loom.drop(query.name)
            raise

    def _check_needs(self, query: Query, key: SourceKey) -> None:
        """Refuse to share a query whose preconditions on rows or settings are not met."""
        needs = () if query.source is None else query.source.needs
        if NO_NULLS in needs:
            if key not in self._null_times:
                frame = self.looms[key].df
                null = F.col(quoted_name(key[2])).isNull()
                self._null_times[key] = not frame.where(null).isEmpty()
            if self._null_times[key]:
                raise QueryError("it groups rows without a time, which are in no window")
        if isinstance(query.window, Calendar) and query.window.scale.zone.since > -FAR:
            if key not in self._spans:
                self._spans[key] = time_span(self.looms[key].df, self.looms[key].axis)
            for time in self._spans[key].tolist():
                query.window.scale.check(*query.window.instances(time, time + 1))

    def _check(self, loom: Loom) -> None:
        """Remove from a loom queries that Spark cannot answer, or that weft answers differently."""
        try:
            if loom.queries:
                loom.types()
        except _ERRORS:
            for asked, query in list(self._on(loom)):
                try:
                    check_queries(loom.df, loom.axis, [query])
                except _ERRORS as error:
                    for other in asked.queries:
                        found = self.looms[self._key(other)]
                        if other in found.queries:
                            found.drop(other.name)
                    self._run_beside(asked, _said(error))

    def _on(self, loom: Loom) -> Iterator[tuple[Asked, Query]]:
        for asked in self.asked:
            for query in asked.queries:
                if asked.is_shared and self.looms[self._key(query)] is loom:
                    yield asked, query
                    break

    def _rows(self, key: SourceKey, relation: Relation | None) -> DataFrame:
        """The DataFrame of a source."""
        if relation is not None:
            return self._run(relation.sql)
        name = key[1].rpartition(".")[2]
        if name not in self.tables:
            known = ", ".join(map(repr, self.tables)) or "none"
            raise QueryError(f"there is no table {name!r} (--source {name}=PATH); there is {known}")
        return self.tables[name]

    def _key(self, query: Query) -> SourceKey:
        if query.source is None:
            return "", next(iter(self.tables), ""), self.time
        time = query.source.time or self._time_of(query.source.table)
        return (*query.source.key, time.strip("`"))

    def _time_of(self, table: str) -> str:
        return self.times.get(table.replace("`", "").rpartition(".")[2].casefold(), self.time)

    # Answering.

    def _finished(self, asked: Asked) -> DataFrame:
        """The answers of a statement: Spark SQL over those of its queries."""
        assert asked.finish is not None
        queries = asked.queries
        results = [(q, self._results[self._key(q)].all().answers(q.name)) for q in queries]
        with answer_tables(results) as tables:
            found = self._run(asked.finish, tables)
        if not _is_spark(asked):
            return found
        plain = self._plain(asked).schema
        for at, (mine, theirs) in enumerate(zip(found.schema, plain, strict=False)):
            if isinstance(mine.dataType, T.NullType):  # a key in none of the grouping sets
                null = F.lit(None).cast(theirs.dataType)
                found = found.toDF(*(f"c{i}" for i in range(len(plain)))).withColumn(f"c{at}", null)
        return found.toDF(*plain.names)  # with Spark's column names

    def _check_form(self, asked: Asked) -> None:
        """Run a statement unchanged if its shared form fails, or has other columns."""
        try:
            made = self._finished(asked).schema
            plain = self._plain(asked).schema if _is_spark(asked) else made
            for mine, theirs in zip(made, plain, strict=True):
                found, wanted = mine.dataType.simpleString(), theirs.dataType.simpleString()
                if found != wanted:
                    asked.why = f"{theirs.name} would be of {found} if it were shared, not {wanted}"
        except _ERRORS as error:
            self._run_beside(asked, _said(error))

    def _plain(self, asked: Asked) -> DataFrame:
        if asked.plain is None:
            assert asked.statement is not None
            sql = asked.statement.sql
            if STREAM_TIME in sql:
                tables = statement_tables(self.spark, sql)
                time = self._time_of(tables[0][-1]) if tables else self.time
                sql = sql.replace(STREAM_TIME, quoted_name(time))
            asked.plain = self._run(sql)
        return asked.plain

    def _run_beside(self, asked: Asked, why: str) -> None:
        """Make a statement run unchanged, in Spark's words if it is of another dialect."""
        if asked.statement is not None:
            with suppress(QueryError):
                asked.statement = in_spark(asked.statement)
        if not _is_spark(asked):
            asked.error = why
            return
        try:
            self._plain(asked)
            asked.why = why
        except _ERRORS as error:
            said = _said(error)
            asked.error = why if said in why else f"{why}\nand as it is: {said}"

    def _run(self, sql: str, views: Sequence[str] = ()) -> DataFrame:
        """Run a statement on the tables, after checking that it is only a query of them."""
        return checked_sql(self.spark, sql, [*self.tables, *views])


def _asked(queries: Sequence[Query], statements: Sequence[Statement]) -> list[Asked]:
    """The requested answers in the order of the text; duplicate names are refused."""
    found: list[Asked] = []
    for statement in statements:
        if statement.queries and statement.finish is None:
            found += [Asked(query.name, (query,), statement) for query in statement.queries]
        else:
            found.append(Asked(statement.name, statement.queries, statement))
    known = {query.name for statement in statements for query in statement.queries}
    alone = {query.name: query for query in queries if query.name not in known}
    parts = {name for query in alone.values() if query.finish for name in query.finish.parts}
    for name, query in alone.items():
        if name not in parts:
            own = query.finish.parts if query.finish else ()
            found.append(Asked(name, (query, *(alone[part] for part in own))))
    seen: set[str] = set()
    for asked in found:
        if asked.name.casefold() in seen:
            asked.error = f"the name {asked.name!r} is taken by another statement"
        seen.add(asked.name.casefold())
    return found


def _is_spark(asked: Asked) -> bool:
    return asked.statement is not None and asked.statement.is_spark


def _said(error: BaseException) -> str:
    if isinstance(error, WeftError):
        return str(error)
    return spark_message(error) or short(str(error))
