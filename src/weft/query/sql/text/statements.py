"""Splits a text into statements, each with its name, its owner and the views that it reads.

-- name: hourly
SELECT ...;                                             one statement
WITH c AS (...) SELECT * INTO a ... SELECT * INTO b ... two, each with the WITH before them
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from weft.errors import QueryError
from weft.query.duration import read_number
from weft.query.sql.text.comments import said
from weft.query.sql.text.form import malformed, not_a_query
from weft.query.sql.text.streams import without_stream
from weft.query.sql.text.views import View, defined_view, problem, read_views, with_views
from weft.query.sql.text.wrappers import into, outputs, unwrapped, without_set
from weft.query.sql.tokens.casts import casts_spelled_out
from weft.query.sql.tokens.standard_calls import calls_spelled_out
from weft.query.syntax.lexer import Token, tokenize


@dataclass(frozen=True)
class StatementText:
    """One statement, not yet parsed."""

    name: str | None
    text: str
    """The text that its tokens index: the whole text, or its own with the views that it reads."""
    tokens: tuple[Token, ...]
    view: str | None = None
    """The view that it defines, in lower case."""
    reads: frozenset[str] = frozenset()
    """The views that it reads, in lower case."""
    owner: str | None = None
    lateness: str | int | None = None
    problem: str = ""
    """Why it cannot read its views; empty if it can."""
    malformed: QueryError | None = None
    """Why it is not a SQL statement at all; None if it is one."""
    not_query: QueryError | None = None
    """Why it is not a query; None if it is one."""


def only_statement(text: str) -> StatementText:
    """The only statement of a text; an error if there is not exactly one."""
    statements = statement_texts(text)
    if len(statements) != 1:
        raise QueryError(f"one SELECT statement is expected, not {len(statements)}")
    return statements[0]


def statement_texts(text: str) -> list[StatementText]:
    """The statements of a text, which `;` separates."""
    if not isinstance(text, str):
        raise QueryError(f"{text!r} is not SQL: accepted is a string")
    found: list[StatementText] = []
    views: dict[str, View] = {}
    tokens: list[Token] = []
    begin = 0
    for token in (*tokenize(text), None):
        if token is not None and token.text != ";":
            tokens.append(token)
            continue
        tokens = list(without_set(tokens))
        if tokens:
            found += _outputs(text, text[begin : tokens[0].start], tokens, views)
        tokens, begin = [], 0 if token is None else token.end
    return found


def _outputs(
    text: str, before: str, tokens: Sequence[Token], views: dict[str, View]
) -> Iterator[StatementText]:
    """The statements up to a `;` or the end: one, or one for each output (Azure)."""
    late, owner = said("lateness", before), said("owner", before)
    lateness = None if late is None else read_number(late)
    wrong = malformed(text, tokens)
    if wrong:
        made = _statement(said("name", before, None), text, tokens, {})
        yield replace(made, malformed=wrong, owner=owner, lateness=lateness)
        return
    setup = not_a_query(text, tokens)
    if setup:
        made = _statement(said("name", before, None), text, tokens, {})
        yield replace(made, not_query=setup)
        return
    inner, target = unwrapped(tokens)
    parts = outputs(inner)
    first = inner if len(parts) == 1 else inner[: parts[0][1]]
    name = said("name", before, target or into(inner[parts[0][0] :]))
    made = replace(_statement(name, text, first, views), owner=owner, lateness=lateness)
    view = defined_view(text, tokens, inner, target, views)
    if view is not None:
        made = replace(made, view=view.name.lower())
        views[view.name.lower()] = view
    yield made
    for begin, end in parts[1:]:
        steps = text[inner[0].start : inner[parts[0][0]].start]
        own = f"{steps}{text[inner[begin].start : inner[end - 1].end]}"
        more = _statement(into(inner[begin:end]), own, tokenize(own), views)
        yield replace(more, owner=owner, lateness=lateness)


def _statement(
    name: str | None, text: str, tokens: Sequence[Token], views: Mapping[str, View]
) -> StatementText:
    streamless = without_stream(text, tokens)
    if streamless is not None:
        text, tokens = streamless, tokenize(streamless)
    reads = read_views(tokens, views)
    if not reads or problem(reads):
        return StatementText(name, text, tuple(tokens), problem=problem(reads))
    text = with_views(text, tokens, reads)
    names = frozenset(one.name.lower() for one in reads)
    return StatementText(name, text, tuple(tokenize(text)), reads=names)


def spelled_out(statement: StatementText) -> StatementText:
    """A statement with CAST instead of `::`, and commas in calls of standard SQL."""
    given = statement.text[statement.tokens[0].start : statement.tokens[-1].end]
    text = calls_spelled_out(casts_spelled_out(given))
    if text == given:
        return statement
    return replace(statement, text=text, tokens=tuple(tokenize(text)))
