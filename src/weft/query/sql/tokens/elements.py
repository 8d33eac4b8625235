"""Array elements and parts of strings, which Spark counts and matches in a way of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from weft.errors import QueryError
from weft.query.sql.tokens.edits import Edit, edited
from weft.query.syntax.lexer import Token, tokenize


def elements_in_spark(sql: str) -> str:
    """A statement with subscripts as function calls: `[1]` is the first element, Spark's second.

    A subscript may also be the key of a map, so the function takes both. It returns null if there
    is no such element.

    >>> elements_in_spark("SELECT a.tags[1], f(b)[c[2]], m['k']")
    "SELECT try_element_at(a.tags, 1), try_element_at(f(b), try_element_at(c, 2)), m['k']"
    """
    tokens = tokenize(sql)
    edits: list[Edit] = []
    for index in range(1, len(tokens)):
        begin = _operand(tokens, index - 1) if tokens[index].text == "[" else None
        if begin is None:
            continue
        end = _matching(tokens, index, 1)
        inside = tokens[index + 1 : end]
        if end >= len(tokens) or not inside:
            continue
        if inside[0].kind == "string" and "[" not in [token.text for token in inside[1:2]]:
            continue  # the key of a map
        edits.append((tokens[begin].start, tokens[begin].start, "try_element_at("))
        edits.append((tokens[index - 1].end, inside[0].start, ", "))
        edits.append((inside[-1].end, tokens[end].end, ")"))
    return edited(sql, edits)


def literals_in_spark(sql: str) -> str:
    """A statement with arrays and maps as function calls.

    >>> literals_in_spark("SELECT ARRAY[1, ARRAY[2][1]], MAP['a', 1]['a'], array FROM t")
    "SELECT array(1, array(2)[1]), map('a', 1)['a'], array FROM t"
    """
    tokens = tokenize(sql)
    edits: list[Edit] = []
    for index, (word, opening) in enumerate(pairwise(tokens)):
        if word.word in ("ARRAY", "MAP") and opening.text == "[":
            end = _matching(tokens, index + 1, 1)
            if end < len(tokens):
                edits.append((word.start, opening.end, f"{word.text.lower()}("))
                edits.append((tokens[end].start, tokens[end].end, ")"))
    return edited(sql, edits)


def _operand(tokens: Sequence[Token], last: int) -> int | None:
    """Where the operand that ends at an index begins (`a.b`, `f(x)`); None if it is no array."""
    if tokens[last].word in ("ARRAY", "MAP", "FROM"):
        return None
    return operand(tokens, last)


def operand(tokens: Sequence[Token], last: int) -> int | None:
    """Where the value that ends at an index begins; None if no value ends there.

    >>> tokens = tokenize("a + sum(b) FILTER (WHERE c)")
    >>> operand(tokens, len(tokens) - 1)
    2
    """
    token = tokens[last]
    if token.word == "END":
        return _case(tokens, last)
    if token.text not in (")", "]"):
        first = last
        while first > 1 and tokens[first - 1].text == ".":
            first -= 2
        is_value = token.kind != "op" and token.word not in _NO_VALUES
        return first if is_value else None
    first = _matching(tokens, last, -1)
    before = tokens[first - 1] if first > 0 else token
    if first < 0 or token.text == "]":
        return operand(tokens, first - 1) if first > 0 else None
    if before.word in ("OVER", "FILTER") or _is_within(tokens, first):
        return operand(tokens, first - (3 if before.word == "GROUP" else 2))
    called = first > 0 and before.kind in ("name", "quoted") and before.word not in _NO_VALUES
    return operand(tokens, first - 1) if called else first


_NO_VALUES = frozenset(
    (
        *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ON", "AND", "OR", "NOT"),
        *("IN", "BETWEEN", "LIKE", "RLIKE", "CASE", "WHEN", "THEN", "ELSE", "AS", "IS", "DIV"),
    )
)
"""Keywords that end no value; parentheses after one of them enclose a value."""


def _is_within(tokens: Sequence[Token], at: int) -> bool:
    return [token.word for token in tokens[max(at - 2, 0) : at]] == ["WITHIN", "GROUP"]


def _case(tokens: Sequence[Token], last: int) -> int | None:
    """Where the CASE that ends at an index begins."""
    depth = 0
    for index in range(last, -1, -1):
        depth += {"END": 1, "CASE": -1}.get(tokens[index].word, 0)
        if depth == 0:
            return index
    return None


def _matching(tokens: Sequence[Token], at: int, step: int) -> int:
    """The index of the matching bracket, searching forwards or backwards."""
    depth = 0
    for index in range(at, len(tokens) if step > 0 else -1, step):
        depth += {"(": step, "[": step, ")": -step, "]": -step}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return len(tokens) if step > 0 else -1


def extracted(text: str, pattern: str, group: str | None) -> str:
    """The match of a pattern: null if nothing matches, the whole match if no group is given."""
    if group is None:
        return f"regexp_substr({text}, {pattern})"
    return f"get(regexp_extract_all({text}, {pattern}, {group}), 0)"


def split_at(text: str, delimiter: str) -> str:
    """Split a string at a delimiter, which Spark takes as a pattern.

    >>> split_at("url", "'.'")
    "split(url, '[.]')"
    """
    if not re.fullmatch(r"'[^'^\\\[\]]+'", delimiter):
        raise QueryError(f"{text} is split at {delimiter}: accepted is a constant such as '/'")
    pattern = "".join(f"[{character}]" for character in delimiter[1:-1])
    return f"split({text}, '{pattern}')"


def joined(arguments: Sequence[str]) -> str:
    """CONCAT for which a null is an empty string; in Spark the whole is null then."""
    return f"concat_ws('', {', '.join(f'CAST({one} AS STRING)' for one in arguments)})"


def trimmed(name: str, arguments: Sequence[str]) -> str:
    """LTRIM or RTRIM; of two arguments, Spark takes the characters before the text.

    >>> trimmed("ltrim", ["code", "'0'"]), trimmed("ltrim", ["code"])
    ("ltrim('0', code)", 'ltrim(code)')
    """
    return f"{name}({', '.join(reversed(arguments))})"
