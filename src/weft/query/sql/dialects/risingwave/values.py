"""Functions that RisingWave and Spark spell alike and mean differently, in whole statements.

log(x), array_position(a, x)                   log10(x), nullif(array_position(a, x), 0)
ltrim(x, '0'), trim(x, '0')                    ltrim('0', x), btrim(x, '0')
left(x, -1), substr(x, 0, 3), initcap(x)       refused
"""

from __future__ import annotations

import re
from functools import partial

from weft.errors import QueryError
from weft.query.sql.dialects.in_spark import calls_in_spark
from weft.query.sql.tokens.elements import trimmed

_BELOW_ONE = re.compile(r"0+|-\s*\d+")


def values_in_spark(sql: str) -> str:
    """Translate the functions of single values whose meaning in Spark is another.

    >>> values_in_spark("SELECT avg(log(x)), log(2, x) FROM t")
    'SELECT avg(log10(x)), log(2, x) FROM t'
    """
    sql = calls_in_spark(sql, "LOG", _logarithm)
    sql = calls_in_spark(sql, "INITCAP", _capitals)
    sql = calls_in_spark(sql, "ARRAY_POSITION", _position)
    sql = calls_in_spark(sql, "TRIM", _trim)
    for name in ("LTRIM", "RTRIM"):
        sql = calls_in_spark(sql, name, partial(trimmed, name.lower()))
    for name in ("LEFT", "RIGHT"):
        sql = calls_in_spark(sql, name, partial(_end, name.lower()))
    for name in ("SUBSTR", "SUBSTRING"):
        sql = calls_in_spark(sql, name, partial(_part, name.lower()))
    return sql


def starts_below_one(arguments: list[str]) -> bool:
    """Whether SUBSTRING has a constant start below 1, from which Spark counts differently."""
    return len(arguments) > 1 and _BELOW_ONE.fullmatch(arguments[1].strip()) is not None


def _logarithm(arguments: list[str]) -> str:
    name = "log10" if len(arguments) == 1 else "log"
    return f"{name}({', '.join(arguments)})"


def _position(arguments: list[str]) -> str:
    """`array_position`, which is null where nothing is found, in Spark 0."""
    return f"nullif(array_position({', '.join(arguments)}), 0)"


def _trim(arguments: list[str]) -> str:
    return f"{'btrim' if len(arguments) > 1 else 'trim'}({', '.join(arguments)})"


def _capitals(arguments: list[str]) -> str:
    reason = "takes what is between letters and digits as the end of a word, Spark's only spaces"
    raise QueryError(f"initcap({', '.join(arguments)}) {reason}: compute it in the stream first")


def _end(name: str, arguments: list[str]) -> str:
    call = f"{name}({', '.join(arguments)})"
    if len(arguments) == 2 and arguments[1].strip().startswith("-"):
        reason = "leaves out characters for a negative number, Spark's gives none: use substr"
        raise QueryError(f"{call} {reason}")
    return call


def _part(name: str, arguments: list[str]) -> str:
    call = f"{name}({', '.join(arguments)})"
    if starts_below_one(arguments):
        reason = "counts from before the first character, Spark's from the end: start at 1 or later"
        raise QueryError(f"{call} {reason}")
    return call
