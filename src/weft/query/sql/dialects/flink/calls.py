"""Functions of Flink that Spark takes with other arguments, in single SELECTs and whole statements.

SPLIT(x, '.')     split(x, '[.]')     Spark's takes a pattern
ARRAY_SORT(x)     sort_array(x)       nulls are first, in Spark's last
LTRIM(x, '0')     ltrim('0', x)       Spark takes the characters first
"""

from __future__ import annotations

from collections.abc import Callable

from weft.errors import QueryError
from weft.query.sql.tokens.elements import split_at, trimmed


def _sorted(arguments: list[str]) -> str:
    if len(arguments) > 2:
        reason = "where nulls are is not supported: leave the third argument out"
        raise QueryError(f"ARRAY_SORT({', '.join(arguments)}): {reason}")
    return f"sort_array({', '.join(arguments)})"


def _split(arguments: list[str]) -> str:
    if len(arguments) != 2:
        raise QueryError(f"SPLIT({', '.join(arguments)}): it takes a text and where to split it")
    return split_at(*arguments)


CALLS: dict[str, Callable[[list[str]], str]] = {
    "ARRAY_SORT": _sorted,
    "SPLIT": _split,
    "LTRIM": lambda arguments: trimmed("ltrim", arguments),
    "RTRIM": lambda arguments: trimmed("rtrim", arguments),
}
"""How such a call is written in Spark SQL, given its arguments, by its name in upper case."""
