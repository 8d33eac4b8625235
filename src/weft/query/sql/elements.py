"""Elements of arrays and parts of strings, which Spark alone counts and finds in its own way."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.syntax.lexer import Token, tokenize


def elements_in_spark(sql: str) -> str:
    """A statement with the elements of arrays by function: `[1]` is the first, in Spark the second.

    A key of a map may stand there too, so it is a function that takes both, and gives null where
    there is no such element.

    >>> elements_in_spark("SELECT a.tags[1], f(b)[c[2]], m['k']")
    "SELECT try_element_at(a.tags, 1), try_element_at(f(b), try_element_at(c, 2)), m['k']"
    """
    tokens = tokenize(sql)
    for index in reversed(range(1, len(tokens))):
        begin = _operand(tokens, index - 1) if tokens[index].text == "[" else None
        if begin is None:
            continue
        end = _matching(tokens, index, 1)
        inside = tokens[index + 1 : end]
        if end >= len(tokens) or not inside or inside[0].kind == "string":
            continue
        array = sql[tokens[begin].start : tokens[index - 1].end]
        made = f"try_element_at({array}, {sql[inside[0].start : inside[-1].end]})"
        sql = f"{sql[: tokens[begin].start]}{made}{sql[tokens[end].end :]}"
        tokens = tokenize(sql)
    return sql


def _operand(tokens: Sequence[Token], last: int) -> int | None:
    """Where what ends at a place begins: `a.b`, `f(x)`, `a[1]`; None if it is no array."""
    first = last
    if tokens[last].text in (")", "]"):
        first = _matching(tokens, last, -1)
        if first > 0 and (tokens[last].text == "]" or tokens[first - 1].kind == "name"):
            return _operand(tokens, first - 1)
        return max(first, 0)
    if tokens[last].kind not in ("name", "quoted") or tokens[last].word in ("ARRAY", "MAP", "FROM"):
        return None
    while first > 1 and tokens[first - 1].text == ".":
        first -= 2
    return first


def _matching(tokens: Sequence[Token], at: int, step: int) -> int:
    """The place of the bracket that belongs to another, forwards or backwards."""
    depth = 0
    for index in range(at, len(tokens) if step > 0 else -1, step):
        depth += {"(": step, "[": step, ")": -step, "]": -step}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return len(tokens) if step > 0 else -1


def extracted(text: str, pattern: str, group: str | None) -> str:
    """What a pattern finds: null where nothing matches, the whole match where no group is named."""
    if group is None:
        return f"regexp_substr({text}, {pattern})"
    return f"get(regexp_extract_all({text}, {pattern}, {group}), 0)"


def split_at(text: str, delimiter: str) -> str:
    """A string split at another, which for Spark is a pattern.

    >>> split_at("url", "'.'")
    "split(url, '[.]')"
    """
    if not re.fullmatch(r"'[^'^\\\[\]]+'", delimiter):
        raise QueryError(f"{text} is split at {delimiter}: accepted is a constant such as '/'")
    pattern = "".join(f"[{character}]" for character in delimiter[1:-1])
    return f"split({text}, '{pattern}')"
