"""Texts of SQL as queries, in whichever dialect each statement is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from weft.errors import QueryError
from weft.query.limits import check_text
from weft.query.query import Query
from weft.query.sql.asa import ASA
from weft.query.sql.cql import CQL
from weft.query.sql.dialect import Dialect, DialectName, ParsedSelect
from weft.query.sql.flink import FLINK
from weft.query.sql.recognise import recognise
from weft.query.sql.refusals import refuse_statement
from weft.query.sql.spark import SPARK
from weft.query.syntax.lexer import Token, place, tokenize
from weft.query.syntax.reader import refuse_substitution

DIALECTS: dict[DialectName, Dialect] = {
    dialect.name: dialect for dialect in (SPARK, CQL, ASA, FLINK)
}
_NAME = re.compile(r"--[ \t]*name:[ \t]*([^\n]*)", re.IGNORECASE)


def parse_query(
    text: str, name: str | None = None, dialect: Literal["auto"] | DialectName = "auto"
) -> Query:
    """The query that one SELECT statement asks.

    >>> q = parse_query("SELECT symbol, max(price) AS hi FROM t "
    ...                 "GROUP BY window(ts, '1 hour', '10 minutes'), symbol", name="hourly_hi")
    >>> q
    Query('hourly_hi', aggs={'hi': 'max(price)'},
          window=Window(range='1 hour', slide='10 minutes'), by=['symbol'])
    >>> q.source
    Source(table='t', time='ts')
    """
    statement = _one(text)
    queries = _queries(text, statement, name, "q1", dialect)
    if len(queries) > 1:
        names = ", ".join(repr(query.name) for query in queries)
        raise QueryError(
            f"this statement asks {len(queries)} queries, one for each of its windows ({names}): "
            f"read it with weft.query.sql.parse_queries, and add each of them"
        )
    return queries[0]


def parse_queries(
    text: str, dialect: Literal["auto"] | DialectName = "auto", *, name: str | None = None
) -> list[Query]:
    """The queries of a text: SELECT statements with `;` between them, each in its own dialect.

    A comment `-- name: xyz` before a statement names its query; others are q1, q2, ... by place.
    A statement with several windows asks a query for each, named after the window's id. A `name`
    is for a text of one statement.

    >>> [q.name for q in parse_queries('''
    ... -- name: per_minute
    ... SELECT count(*) AS n FROM t GROUP BY window(ts, '1 minute');
    ... SELECT count(*) AS n FROM t [RANGE '1 hour' SLIDE '5 min'];
    ... SELECT count(*) AS n FROM t TIMESTAMP BY ts GROUP BY
    ...     Windows(Window('10s', Tumbling(second, 10)), Window('1h', Tumbling(hour, 1)))
    ... ''')]
    ['per_minute', 'q2', 'q3_10s', 'q3_1h']
    """
    if name is not None:
        return _queries(text, _one(text), name, "q1", dialect)
    read = read_statements(text, dialect)
    refusals = [statement.refusal for statement in read if statement.refusal is not None]
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        listed = "\n".join(map(str, refusals))
        raise QueryError(f"{len(refusals)} of {len(read)} statements are refused:\n{listed}")
    return [query for statement in read for query in statement.queries]


@dataclass(frozen=True)
class Statement:
    """A statement of a text: the queries that it asks, or why it is refused."""

    name: str
    queries: tuple[Query, ...] = ()
    refusal: QueryError | None = None


def read_statements(text: str, dialect: Literal["auto"] | DialectName = "auto") -> list[Statement]:
    """The statements of a text; one that is refused stops no other.

    >>> [(s.name, len(s.queries), s.refusal is None) for s in read_statements('''
    ... SELECT count(*) AS n FROM t GROUP BY window(ts, '1 minute');
    ... SELECT * FROM t''')]
    [('q1', 1, True), ('q2', 0, False)]
    """
    read = []
    for position, statement in enumerate(_statements(text), start=1):
        name = statement.name or f"q{position}"
        try:
            queries = _queries(text, statement, None, f"q{position}", dialect)
            read.append(Statement(name, tuple(queries)))
        except QueryError as error:
            read.append(Statement(name, refusal=error))
    return read


@dataclass(frozen=True)
class _Statement:
    name: str | None
    tokens: tuple[Token, ...]


def _one(text: str) -> _Statement:
    statements = _statements(text)
    if len(statements) != 1:
        raise QueryError(f"one SELECT statement is expected, not {len(statements)}")
    return statements[0]


def _statements(text: str) -> list[_Statement]:
    if not isinstance(text, str):
        raise QueryError(f"{text!r} is not SQL: accepted is a string")
    found: list[_Statement] = []
    tokens: list[Token] = []
    begin = 0
    for token in (*tokenize(text), None):
        if token is not None and token.text != ";":
            tokens.append(token)
            continue
        if tokens:
            names = _NAME.findall(text[begin : tokens[0].start])
            name = names[-1].strip() if names else ""
            found.append(_Statement(name or None, tuple(tokens)))
        tokens, begin = [], 0 if token is None else token.end
    return found


def _queries(
    sql: str, statement: _Statement, name: str | None, place_name: str, dialect: str
) -> list[Query]:
    """The queries of a statement: named by the caller, a comment, INTO, or its place."""
    named = name or statement.name
    begin, end = statement.tokens[0].start, statement.tokens[-1].end
    try:
        check_text(sql[begin:end], "the statement")
        refuse_substitution(sql, begin, end)
        asked = _asked(sql, statement.tokens, dialect)
        named = named or asked.into
        return asked.queries(named or place_name)
    except QueryError as error:
        prefix, message = f"query {named or place_name!r}: ", str(error)
        raise type(error)(
            message if message.startswith("query '") else f"{prefix}{message}"
        ) from None
    except RecursionError:
        message = f"query {named or place_name!r}: the statement is nested too deeply"
        raise QueryError(place(sql, statement.tokens[0].start, message)) from None


def _asked(sql: str, tokens: tuple[Token, ...], dialect: str) -> ParsedSelect:
    known = find_dialect(recognise(sql, tokens) if dialect == "auto" else dialect)
    refuse_statement(sql, tokens, known.refused)
    known.words.refuse_tokens(sql, tokens)
    return known.read(sql, tokens)


def find_dialect(name: str) -> Dialect:
    """The dialect of a name."""
    for dialect in DIALECTS.values():
        if dialect.name == name:
            return dialect
    raise QueryError(f"dialect={name!r}: accepted are 'auto', {', '.join(map(repr, DIALECTS))}")
