"""Reads SQL texts as queries, whichever dialect each statement is in."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from weft.errors import QueryError
from weft.query.finish import Finish
from weft.query.limits import check_text
from weft.query.query import Query
from weft.query.sql.composed import Composed, is_column, read_composed
from weft.query.sql.dialects.azure.azure import ASA
from weft.query.sql.dialects.cql.cql import CQL
from weft.query.sql.dialects.dialect import Dialect, DialectName, ParsedSelect
from weft.query.sql.dialects.flink.flink import FLINK
from weft.query.sql.dialects.ksql.ksql import KSQL
from weft.query.sql.dialects.risingwave.risingwave import RISINGWAVE
from weft.query.sql.dialects.spark import SPARK
from weft.query.sql.recognise import recognise
from weft.query.sql.text.form import NOTHING_THERE, unread
from weft.query.sql.text.statements import (
    StatementText,
    only_statement,
    spelled_out,
    statement_texts,
)
from weft.query.sql.tokens.blocks import blocks
from weft.query.sql.tokens.casts import casts_spelled_out
from weft.query.sql.tokens.refusals import refuse_statement
from weft.query.sql.tokens.standard_calls import calls_spelled_out
from weft.query.syntax.lexer import Token, place, tokenize
from weft.query.syntax.reader import refuse_substitution

DIALECTS: dict[DialectName, Dialect] = {
    dialect.name: dialect for dialect in (SPARK, CQL, ASA, FLINK, KSQL, RISINGWAVE)
}


def parse_query(
    text: str,
    name: str | None = None,
    dialect: Literal["auto"] | DialectName = "auto",
    *,
    unnamed: str = "q1",
) -> Query:
    """Read one SELECT statement as a query; `unnamed` is its name if nothing else names it.

    >>> q = parse_query("SELECT symbol, max(price) AS hi FROM t "
    ...                 "GROUP BY window(ts, '1 hour', '10 minutes'), symbol", name="hourly_hi")
    >>> q
    Query('hourly_hi', aggs={'hi': 'max(price)'},
          window=Window(range='1 hour', slide='10 minutes'), by=['symbol'])
    >>> q.source.table, q.source.time
    ('t', 'ts')
    """
    return _only(_queries(only_statement(text), name, unnamed, dialect))


def parse_statement(text: str, name: str | None = None) -> list[Query]:
    """Read one statement as a query whose `finish` is what the statement does with its answers.

    If that reads the answers of several SELECTs, the queries of the others follow.

    >>> most, = parse_statement('''
    ... WITH c AS (SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), k)
    ... SELECT window, max(n) AS m FROM c GROUP BY window''', name="most")
    >>> print(most.finish.sql)
    WITH c AS (SELECT window AS `window`, `k` AS `k`, `n` AS `n` FROM weft_answers_0) SELECT window,
    max(n) AS m FROM c GROUP BY window
    """
    queries = _whole(only_statement(text), name, "q1", "auto")
    return queries if queries[0].finish is not None else [_only(queries)]


def _only(queries: list[Query]) -> Query:
    if len(queries) > 1:
        names = ", ".join(repr(query.name) for query in queries)
        raise QueryError(
            f"this statement has {len(queries)} queries, one for each of its windows ({names}): "
            f"read it with weft.query.sql.parse_queries, and add each of them"
        )
    return queries[0]


def parse_queries(
    text: str,
    dialect: Literal["auto"] | DialectName = "auto",
    *,
    name: str | None = None,
    whole: bool = False,
) -> list[Query]:
    """Read the queries of a text: SELECT statements separated by `;`, each in its own dialect.

    A comment `-- name: xyz` before a statement names its query; others are q1, q2, ... by position.
    `-- owner: xyz` says whose it is, `-- lateness: 10 minutes` how long it waits for late rows.
    A statement with several windows gives one query for each, named after the window's id. A `name`
    is for a text of one statement. With `whole`, a statement may have more around a SELECT with a
    window, which becomes the `finish` of its query.

    >>> [q.name for q in parse_queries('''
    ... -- name: per_minute
    ... SELECT count(*) AS n FROM t GROUP BY window(ts, '1 minute');
    ... SELECT count(*) AS n FROM t [RANGE '1 hour' SLIDE '5 min'];
    ... SELECT count(*) AS n FROM t TIMESTAMP BY ts GROUP BY
    ...     Windows(Window('10s', Tumbling(second, 10)), Window('1h', Tumbling(hour, 1)))
    ... ''')]
    ['per_minute', 'q2', 'q3_10s', 'q3_1h']
    """
    read = _whole if whole else _queries
    if name is not None:
        return read(only_statement(text), name, "q1", dialect)
    statements, found = statement_texts(text), []
    refusals: list[QueryError] = []
    for position, statement in enumerate(statements, start=1):
        try:
            found += read(statement, None, f"q{position}", dialect)
        except QueryError as error:
            refusals.append(error)
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        listed = "\n".join(map(str, refusals))
        raise QueryError(f"{len(refusals)} of {len(statements)} statements are refused:\n{listed}")
    return found


@dataclass(frozen=True)
class Statement:
    """A statement of a text: its queries, and why they are not all of it.

    - `queries` alone: it is one SELECT, and its answers are those of the queries.
    - with `finish`: its answers are Spark SQL over those of the queries, which a batch can run.
    - neither: no part of it can be shared; a batch can run it as it is, if it is Spark SQL.
    """

    name: str
    queries: tuple[Query, ...] = ()
    refusal: QueryError | None = None
    """Why it is not one shared query."""
    finish: str | None = None
    """Spark SQL over `weft_answers_0`, ..., the answers of its queries."""
    is_plain: bool = False
    """Whether `finish` only selects from the answers, so that a stream can deliver them."""
    unshared: str = ""
    """Why no part of it can be shared, if so."""
    sql: str = ""
    """Its query, without the part that says where answers go; in Spark SQL, if that is possible."""
    dialect: DialectName = "spark"
    is_spark: bool = True
    """Whether `sql` is a query in Spark SQL, so that a batch can run it."""
    is_read: bool = False
    """Whether it is a view that other statements read."""

    def as_queries(self) -> list[Query]:
        """Its queries, the first with the `finish` over all of them; refused if it has none."""
        if self.refusal is None or self.is_plain:
            return list(self.queries)
        first = self.queries[0] if self.queries else None
        if first is None or self.finish is None:
            named = f"query {self.name!r}: "
            reason = self.unshared or str(self.refusal)
            raise QueryError(f"{named}{reason.removeprefix(named)}")
        parts = self.queries[1:]
        finish = Finish(self.finish, tuple(query.name for query in parts))
        return [first.finished(finish, self.name), *parts]


def read_statements(text: str, dialect: Literal["auto"] | DialectName = "auto") -> list[Statement]:
    """Read the statements of a text; one that is refused does not stop the others.

    >>> [(s.name, len(s.queries), s.refusal is None, s.finish) for s in read_statements('''
    ... SELECT count(*) AS n FROM t GROUP BY window(ts, '1 minute');
    ... SELECT count(*) AS n FROM t GROUP BY window(ts, '1 minute') LIMIT 3;
    ... SELECT * FROM t''')]
    [('q1', 1, True, None),
     ('q2', 1, False, 'SELECT `n` AS `n` FROM weft_answers_0 LIMIT 3'),
     ('q3', 0, False, None)]
    """
    statements = statement_texts(text)
    read = [_read(one, f"q{position}", dialect) for position, one in enumerate(statements, start=1)]
    needed = {name for one in statements for name in one.reads}
    return [
        replace(made, is_read=one.view in needed)
        for made, one in zip(read, statements, strict=True)
    ]


def _read(statement: StatementText, place_name: str, dialect: str) -> Statement:
    text, name = statement.text, statement.name or place_name
    begin, end = statement.tokens[0].start, statement.tokens[-1].end
    read = Statement(name, sql=text[begin:end])
    if statement.not_query is not None:
        named = QueryError(f"query {name!r}: {statement.not_query}")
        return replace(read, refusal=named, unshared=str(named), is_spark=False)
    try:
        known = _dialect(text, statement.tokens, dialect)
        read = replace(read, dialect=known.name, is_spark=known.name == "spark")
        queries = _queries(statement, None, place_name, dialect)
        read = replace(read, queries=tuple(queries))
        if all(is_column(query.source.time) for query in queries if query.source is not None):
            return read
        time = QueryError(f"query {name!r}: its time is no column: compute it in the stream first")
        read = replace(read, queries=(), refusal=time)
    except QueryError as error:
        read = replace(read, refusal=error)
    try:
        if statement.malformed is not None:
            raise statement.malformed
        check_text(read.sql, "the statement")
        refuse_substitution(text, begin, end)
        told = read.sql
        read = in_spark(read)
        if read.dialect == "spark":
            spelled = spelled_out(statement)
            made = read_composed(spelled.text, spelled.tokens, SPARK, name)
        else:
            sql = calls_spelled_out(casts_spelled_out(read.sql))
            made = _composed(sql, told, find_dialect(read.dialect), name)
        queries = list(_commented(made.queries, statement))
    except QueryError as error:
        translated = read.dialect != "spark" and read.is_spark
        own = translated and len(blocks(statement.tokens)) == 1  # of the text as it was written
        return replace(read, unshared=str(read.refusal if own else error))
    except RecursionError:
        return read
    except NOTHING_THERE:
        return replace(read, unshared=unread(text, statement.tokens, statement.malformed))
    return replace(read, queries=tuple(queries), finish=made.finish, is_plain=made.is_plain)


def _composed(sql: str, told: str, dialect: Dialect, name: str) -> Composed:
    """The queries of a translated statement: as Spark SQL, or else in its form to be shared."""
    try:
        return read_composed(sql, tuple(tokenize(sql)), SPARK, name)
    except QueryError:
        if dialect.to_share is None:
            raise
        with suppress(QueryError):
            shared = dialect.to_share(told)
            if shared != sql:
                return read_composed(shared, tuple(tokenize(shared)), SPARK, name)
        raise


def in_spark(read: Statement) -> Statement:
    """Translate the text of a statement into Spark SQL; refused if that is impossible."""
    if read.is_spark:
        return read
    dialect = find_dialect(read.dialect)
    if dialect.in_spark is None:
        raise QueryError(f"{dialect.title} is read one SELECT at a time: {read.refusal}")
    try:
        return replace(read, sql=dialect.in_spark(read.sql), is_spark=True)
    except QueryError:
        raise
    except (*NOTHING_THERE, RecursionError):
        raise QueryError(f"query {read.name!r}: this cannot be read as {dialect.title}") from None


def _commented(queries: Iterable[Query], statement: StatementText) -> tuple[Query, ...]:
    """The queries with the owner and lateness from the comments before their statement."""
    owned = (query.owned(statement.owner) for query in queries)
    if statement.lateness is None:
        return tuple(owned)
    return tuple(query.late_by(statement.lateness) for query in owned)


def _queries(
    statement: StatementText, name: str | None, place_name: str, dialect: str
) -> list[Query]:
    """The queries of a statement: named by the caller, a comment, INTO, or its position."""
    statement = spelled_out(statement)
    sql, named = statement.text, name or statement.name
    begin, end = statement.tokens[0].start, statement.tokens[-1].end
    try:
        if statement.not_query is not None:
            raise statement.not_query
        if statement.problem:
            raise QueryError(place(sql, begin, statement.problem))
        check_text(sql[begin:end], "the statement")
        refuse_substitution(sql, begin, end)
        asked = _asked(sql, statement.tokens, dialect)
        named = named or asked.into
        if asked.select.needs:
            reason = "a truncated time is shared in whole files only: write window(time, '1 day')"
            raise asked.select.fail(None, reason)
        return [*_commented(asked.queries(named or place_name), statement)]
    except QueryError as error:
        prefix, message = f"query {named or place_name!r}: ", str(error)
        raise type(error)(
            message if message.startswith("query '") else f"{prefix}{message}"
        ) from None
    except RecursionError:
        message = f"query {named or place_name!r}: the statement is nested too deeply"
        raise QueryError(place(sql, statement.tokens[0].start, message)) from None
    except NOTHING_THERE:
        why = unread(sql, statement.tokens, statement.malformed)
        raise QueryError(f"query {named or place_name!r}: {why}") from None


def _whole(
    statement: StatementText, name: str | None, place_name: str, dialect: str
) -> list[Query]:
    """Like `_queries`, for a statement that may have more around its SELECTs."""
    try:
        return _queries(statement, name, place_name, dialect)
    except QueryError as error:
        named = replace(statement, name=name or statement.name)
        read = _read(named, place_name, dialect)
        sources = [query.source for query in read.queries if query.source is not None]
        if read.finish is None or any(source.relation is not None for source in sources):
            raise error from None  # no part of it is shared, or not over the rows at hand
        return read.as_queries()


def _asked(sql: str, tokens: tuple[Token, ...], dialect: str) -> ParsedSelect:
    known = _dialect(sql, tokens, dialect)
    if known.simplified is not None:
        tokens = known.simplified(sql, tokens)
    if not known.reads_spark:
        refuse_statement(sql, tokens, known.refused)
    known.words.refuse_tokens(sql, tokens)
    return known.read(sql, tokens)


def _dialect(sql: str, tokens: tuple[Token, ...], dialect: str) -> Dialect:
    return find_dialect(recognise(sql, tokens) if dialect == "auto" else dialect)


def find_dialect(name: str) -> Dialect:
    """Look up a dialect by its name."""
    for dialect in DIALECTS.values():
        if dialect.name == name:
            return dialect
    raise QueryError(f"dialect={name!r}: accepted are 'auto', {', '.join(map(repr, DIALECTS))}")
