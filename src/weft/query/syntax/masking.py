"""Masks SQL for sqlglot: every name, constant and function becomes a number, the structure stays.

sqlglot knows many dialects and translates between them, so its reading sometimes differs from
Spark's: `'it''s'`, `1.5BD`, `array(1, 2)[0]`. Masking hides all of these from it. Masked text
depends only on the structure, so texts that differ in names and constants are parsed once.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from weft.errors import ExpressionError
from weft.query.syntax.lexer import Token, place, tokenize

# sqlglot warns when it falls back to a command; here that is an error, with weft's own message.
logging.getLogger("sqlglot").setLevel(logging.ERROR)

EXPRESSION_WORDS = frozenset(
    (
        *("AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "BETWEEN", "CASE", "DISTINCT"),
        *("LIKE", "ILIKE", "RLIKE", "REGEXP", "ESCAPE", "FROM", "DIV", "AS", "WHERE"),
    )
)
_CASE_WORDS = frozenset(("WHEN", "THEN", "ELSE", "END"))  # outside of a CASE they are names
STATEMENT_WORDS = EXPRESSION_WORDS | frozenset(("SELECT", "GROUP", "BY", "HAVING"))
SYNTAX_CALLS = {"CAST": "AS", "TRY_CAST": "AS", "EXTRACT": "FROM"}
"""Calls with a word between their arguments instead of a comma."""
_WORD = re.compile(r"_w(\d+)_")


@dataclass(frozen=True)
class Masked:
    """A masked text: the word with number i replaces token i."""

    sql: str
    tokens: tuple[Token, ...]
    text: str

    def token(self, word: str) -> Token:
        """The token that a word replaces."""
        match = _WORD.fullmatch(word)
        if match is None:  # sqlglot took a word of SQL for a name
            start = next((t.start for t in self.tokens if t.word == word.upper()), 0)
            raise self.fail(start, f"{word} is a word of SQL: as a name, write `{word.lower()}`")
        return self.tokens[int(match.group(1))]

    def fail(self, position: int, message: str) -> ExpressionError:
        """An error that quotes a place in the text."""
        return ExpressionError(place(self.sql, position, message))


def mask(sql: str, words: frozenset[str], given: Sequence[Token] | None = None) -> Masked:
    """Replace everything in a text by numbers, except operators and the given SQL keywords.

    `given` are the tokens of one statement among several in the text.
    """
    tokens = tuple(join_types(sql, tokenize(sql) if given is None else given))
    pieces: list[str] = []
    calls: list[str] = []  # what each open parenthesis belongs to
    cases = 0  # how many CASEs are open
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        piece = token.text
        if token.text == "(":
            calls.append("" if before is None or before.kind != "name" else before.word)
        elif token.text == ")" and calls:
            calls.pop()
        elif token.kind == "name" and _is_structure(
            tokens, index, words | _CASE_WORDS if cases else words, within=calls[-1:] == ["GROUP"]
        ):
            piece = token.word
            cases += {"CASE": 1, "END": -1}.get(piece, 0)
            if calls and SYNTAX_CALLS.get(calls[-1]) == piece:
                piece = ","
        elif token.kind != "op":
            piece = f"_w{index}_"
            if before is not None and before.word == "ESCAPE" and token.kind == "string":
                piece = f"'{piece}'"  # only a string is allowed here
        pieces.append(piece)
    return Masked(sql, tokens, " ".join(pieces))


def _is_structure(
    tokens: Sequence[Token], index: int, words: frozenset[str], *, within: bool
) -> bool:
    """Whether a word is an SQL keyword here rather than a name.

    `within` is for tokens in the parentheses of WITHIN GROUP.
    """
    word = tokens[index].word
    before = tokens[index - 1].word if index else ""
    after = tokens[index + 1].word if index + 1 < len(tokens) else ""
    if before == ".":
        return False
    if word == "FILTER":  # after a call, not the function filter(array, ...)
        return before == ")" and after == "("
    if word == "WITHIN":
        return before == ")" and after == "GROUP"
    if word == "GROUP" and before == "WITHIN":
        return True
    if within and word in ("ORDER", "BY"):
        return before == ("(" if word == "ORDER" else "ORDER")
    if word in ("ASC", "DESC"):
        return within and after in (",", ")")
    if word in ("IGNORE", "RESPECT"):
        return after == "NULLS"
    if word == "NULLS":
        return before in ("IGNORE", "RESPECT")
    if word in ("NULL", "TRUE", "FALSE"):  # constants, except in IS [NOT] NULL
        return before == "IS" or (before == "NOT" and index > 1 and tokens[index - 2].word == "IS")
    return word in words


def words_in(found: exp.Expression) -> list[str]:
    """The numbered words in what sqlglot found."""
    names = (node.args.get("this") for node in found.walk())
    return [name for name in names if isinstance(name, str) and _WORD.fullmatch(name)]


def join_types(sql: str, tokens: Sequence[Token]) -> list[Token]:
    """The type in CAST(... AS type) as one token."""
    joined: list[Token] = []
    opened: list[bool] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token.text == "(":
            before = joined[-1].word if joined else ""
            opened.append(before in ("CAST", "TRY_CAST"))
        elif token.text == ")" and opened:
            opened.pop()
        joined.append(token)
        position += 1
        if token.kind == "name" and token.word == "AS" and opened and opened[-1]:
            start, depth = position, 0
            while position < len(tokens) and (depth or tokens[position].text != ")"):
                depth += {"(": 1, ")": -1}.get(tokens[position].text, 0)
                position += 1
            inside = tokens[start:position]
            if not inside:
                raise ExpressionError(place(sql, token.start, "CAST has no type"))
            text = _type(inside)
            joined.append(Token("literal", text, inside[0].start, inside[-1].end, text))
    return joined


def _type(tokens: Sequence[Token]) -> str:
    """The text of a type; the names of a struct's fields stay as they are."""
    nested = any(token.text == "<" for token in tokens)
    text = ""
    for token in tokens:
        piece = token.text if nested else token.word
        text += f" {piece}" if text[-1:].isalnum() and piece[0].isalnum() else piece
    return text


def parse(masked: Masked, title: str = "Spark SQL") -> tuple[exp.Expression | None, ...]:
    """Parse a masked text with sqlglot; errors give the place in the original text.

    The trees are shared between texts of equal structure, so they must not be modified.
    """
    found = _parse(masked.text)
    if isinstance(found, _Failure):
        raise masked.fail(_position(masked, found), f"this cannot be read as {title}")
    return found


@dataclass(frozen=True)
class _Failure:
    """Where sqlglot gave up: what it quoted, and the column after it."""

    quoted: str
    column: int


@lru_cache(maxsize=4096)
def _parse(text: str) -> tuple[exp.Expression | None, ...] | _Failure:
    try:
        return tuple(sqlglot.parse(text, dialect="spark"))  # type: ignore[arg-type]
    except SqlglotError as error:
        details: Sequence[dict[str, object]] = getattr(error, "errors", None) or [{}]
        quoted, column = details[0].get("highlight"), details[0].get("col")
        return _Failure(str(quoted or ""), column if isinstance(column, int) else len(text))


def _position(masked: Masked, failure: _Failure) -> int:
    """The place in the text at which the masked text failed."""
    word = _WORD.search(failure.quoted)
    if word is not None:
        return masked.tokens[int(word.group(1))].start
    if not masked.tokens:
        return 0
    before = masked.text[: max(failure.column - len(failure.quoted), 0)]
    return masked.tokens[min(before.count(" "), len(masked.tokens) - 1)].start
