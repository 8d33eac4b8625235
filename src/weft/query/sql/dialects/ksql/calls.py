"""Functions of ksqlDB that Spark calls otherwise, or that mean something else there.

COLLECT_LIST(x)                           keeps nulls
EXTRACTJSONFIELD(x, '$.a')                get_json_object(x, '$.a')
ARRAY_LENGTH(x)                           array_size(x)
STRINGTOTIMESTAMP(x, p), PARSE_TIMESTAMP  unix_millis(try_to_timestamp(x, p)), try_to_timestamp
FORMAT_DATE(d, p)                         date_format(d, p)
TIMESTAMPADD(HOURS, 1, t), TIMESTAMPSUB   timestampadd(HOUR, 1, t)
STRUCT(a := x), MAP('k' := x)             named_struct('a', x), map('k', x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.errors import QueryError
from weft.query.sql.dialects.in_spark import calls_in_spark


def calls_of_values(sql: str) -> str:
    """Translate the functions whose translation needs nothing but their arguments.

    >>> calls_of_values("SELECT ARRAY_LENGTH(a), TIMESTAMPSUB(DAYS, n, t) FROM s")
    'SELECT array_size(a), timestampadd(DAY, -(n), t) FROM s'
    """
    for name, written in _CALLS.items():
        sql = calls_in_spark(sql, name, written)
    return sql


def lists_in_spark(sql: str) -> str:
    """Translate COLLECT_LIST: Spark's leaves out nulls, but not structs of a null.

    >>> lists_in_spark("SELECT COLLECT_LIST(x) AS xs FROM s")
    "SELECT transform(collect_list(named_struct('v', x)), weft_e -> weft_e.v) AS xs FROM s"
    """
    return calls_in_spark(sql, "COLLECT_LIST", _listed)


def _listed(arguments: list[str]) -> str:
    value = f"named_struct('v', {', '.join(arguments)})"
    return f"transform(collect_list({value}), weft_e -> weft_e.v)"


def _renamed(name: str) -> Callable[[list[str]], str]:
    return lambda arguments: f"{name}({', '.join(arguments)})"


def _parsed(arguments: Sequence[str]) -> str:
    """A text as a time, or null: in the zone of the system, as in ksqlDB."""
    if len(arguments) != 2:
        raise QueryError(f"a time of {', '.join(arguments)}: accepted are a text and its pattern")
    return f"try_to_timestamp({', '.join(arguments)})"


def _moved(sign: str) -> Callable[[list[str]], str]:
    def written(arguments: list[str]) -> str:
        if len(arguments) != 3:
            raise QueryError(
                f"TIMESTAMPADD({', '.join(arguments)}): it takes a unit, a number, a time"
            )
        unit, count, time = arguments
        count = count if not sign else f"{sign}({count})"
        return f"timestampadd({unit.strip().upper().removesuffix('S')}, {count}, {time})"

    return written


def _pairs(name: str, quote: str) -> Callable[[list[str]], str]:
    """`name(a := x)` as a call with commas; `quote` is around names that are no texts there."""

    def written(arguments: list[str]) -> str:
        parts = [argument.partition(":=") for argument in arguments]
        given = (f"{quote}{key.strip()}{quote}, {value.strip()}" for key, _, value in parts)
        return f"{name}({', '.join(given)})"

    return written


_CALLS: dict[str, Callable[[list[str]], str]] = {
    "EXTRACTJSONFIELD": _renamed("get_json_object"),
    "ARRAY_LENGTH": _renamed("array_size"),
    "FORMAT_DATE": _renamed("date_format"),
    "STRINGTOTIMESTAMP": lambda arguments: f"unix_millis({_parsed(arguments)})",
    "PARSE_TIMESTAMP": _parsed,
    "PARSE_DATE": lambda arguments: f"CAST({_parsed(arguments)} AS DATE)",
    "TIMESTAMPADD": _moved(""),
    "TIMESTAMPSUB": _moved("-"),
    "STRUCT": _pairs("named_struct", "'"),
    "MAP": _pairs("map", ""),
}
