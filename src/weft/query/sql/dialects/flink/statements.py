"""Translates whole statements of Flink SQL: the older windows of GROUP BY, and its functions.

FLOOR(ts TO HOUR)                          date_trunc('HOUR', ts)
LISTAGG(x), FIRST_VALUE(x)                 listagg(x, ','), first_value(x, TRUE)
EXTRACT(SECOND FROM ts)                    second(ts)
CROSS JOIN UNNEST(tags) AS t (tag)         LATERAL VIEW explode(tags) t AS tag
"""

from __future__ import annotations

import re
from functools import partial

from weft.errors import QueryError
from weft.query.sql.dialects.flink.calls import CALLS
from weft.query.sql.dialects.flink.words import DEFAULTS, WORDS
from weft.query.sql.dialects.in_spark import calls_in_spark, table_windows_in_spark
from weft.query.sql.dialects.table_window import TableWindow
from weft.query.sql.select.lengths import constant, read_length
from weft.query.sql.tokens.elements import (
    elements_in_spark,
    extracted,
    literals_in_spark,
    split_at,
)
from weft.query.syntax.lexer import closed, place, tokenize
from weft.query.syntax.tree import Literal


def in_spark(sql: str, *, apart: bool = False) -> str:
    """Translate a whole statement into Spark SQL; see `table_windows_in_spark` for `apart`."""
    for kind in ("TUMBLE", "HOP", "SESSION"):
        for suffix, field in (("_START", ".start"), ("_END", ".end"), ("_ROWTIME", "")):
            sql = calls_in_spark(sql, kind + suffix, partial(_grouped_window, kind, field))
    sql = table_windows_in_spark(sql, apart=apart)
    for kind in ("TUMBLE", "HOP", "SESSION"):
        sql = calls_in_spark(sql, kind, partial(_grouped_window, kind, None))
    sql = calls_in_spark(sql, "FLOOR", _floor)
    for name in ("CEIL", "CEILING"):
        sql = calls_in_spark(sql, name, _ceil)
    for name in DEFAULTS:
        sql = calls_in_spark(sql, name, partial(_with_default, name))
    for name, written in CALLS.items():
        sql = calls_in_spark(sql, name, written)
    sql = calls_in_spark(sql, "EXTRACT", _part)
    sql = calls_in_spark(sql, "REGEXP_EXTRACT", _extract)
    sql = calls_in_spark(sql, "SPLIT_INDEX", _split_index)
    sql = _unnested(sql)
    sql = elements_in_spark(WORDS.statement_in_spark(literals_in_spark(sql)))
    for word in ("MATCH_RECOGNIZE", "UNNEST", "PROCTIME"):
        for token in tokenize(sql):
            if token.word == word:
                raise QueryError(place(sql, token.start, f"{word} is not supported"))
    return sql


def _grouped_window(kind: str, field: str | None, arguments: list[str]) -> str:
    """`TUMBLE(ts, INTERVAL '1' HOUR)` in GROUP BY, or one of its bounds, as Spark's window."""
    time, *lengths = arguments
    names = {"TUMBLE": ("SIZE",), "HOP": ("SLIDE", "SIZE"), "SESSION": ("GAP",)}[kind]
    found = {}
    for name, text in zip(names, lengths, strict=False):
        value = constant(Literal("typed", tokenize(text)[0].text))
        if value is None:
            raise QueryError(f"{kind}: {text} is no constant such as INTERVAL '10' MINUTES")
        found[name] = read_length(text, 0, name.lower(), value)
    if len(found) != len(names):
        raise QueryError(f"{kind} takes a time and {len(names)} lengths")
    window = TableWindow(kind, "", time, found).call
    if field == "":
        return f"({window}.end - INTERVAL '0.001' SECOND)"
    return f"{window}{field or ''}"


def _floor(arguments: list[str]) -> str:
    """`FLOOR(ts TO HOUR)`; without TO, `floor` of a number."""
    time, unit = _time_to(arguments)
    return f"floor({time})" if unit is None else _begin(time, unit)


def _ceil(arguments: list[str]) -> str:
    """`CEIL(ts TO HOUR)`: the time itself if it is a full hour, else the next full hour."""
    time, unit = _time_to(arguments)
    if unit is None:
        return f"ceil({time})"
    length = {"QUARTER": "3 MONTH", "MILLISECOND": "0.001 SECOND"}.get(unit, f"1 {unit}")
    count, name = length.split()
    begin = _begin(time, unit)
    return f"(CASE WHEN {begin} = {time} THEN {begin} ELSE {begin} + INTERVAL '{count}' {name} END)"


def _time_to(arguments: list[str]) -> tuple[str, str | None]:
    """The arguments of FLOOR or CEIL, and the unit after TO; None if they round a number."""
    tokens = tokenize(arguments[0]) if len(arguments) == 1 else []
    if len(tokens) < 3 or tokens[-2].word != "TO":
        return ", ".join(arguments), None
    unit = tokens[-1].word
    if unit not in _FLOORS:
        raise QueryError(f"{arguments[0]}: accepted units are {', '.join(_FLOORS)}")
    return arguments[0][: tokens[-2].start].strip(), unit


def _begin(time: str, unit: str) -> str:
    """The start of the unit that a time is in."""
    if unit == "WEEK":  # Flink's weeks begin on Sunday, Spark's on Monday
        return f"(date_trunc('WEEK', {time} + INTERVAL 1 DAY) - INTERVAL 1 DAY)"
    return f"date_trunc('{unit}', {time})"


def _with_default(name: str, arguments: list[str]) -> str:
    """A call with the argument that Flink takes where none is given, and Spark another."""
    given = arguments if len(arguments) > 1 else [*arguments, *DEFAULTS[name]]
    return f"{name.lower()}({', '.join(given)})"


def _part(arguments: list[str]) -> str:
    """`EXTRACT(SECOND FROM ts)` without the fraction that Spark's has."""
    found = _SECOND.fullmatch(arguments[0]) if len(arguments) == 1 else None
    return f"extract({', '.join(arguments)})" if found is None else f"second({found[1]})"


def _unnested(sql: str) -> str:
    """`CROSS JOIN UNNEST(array) AS t (column)` as a LATERAL VIEW."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 3)):
        words = [token.word for token in tokens[index : index + 4]]
        if words != ["CROSS", "JOIN", "UNNEST", "("]:
            continue
        end = closed(tokens, index + 3)
        at = end + 1 + (end + 1 < len(tokens) and tokens[end + 1].word == "AS")
        names = tokens[at : at + 4]
        if [token.text for token in names[1::2]] != ["(", ")"]:
            continue
        array = sql[tokens[index + 3].end : tokens[end].start].strip()
        view = f"LATERAL VIEW explode({array}) {names[0].text} AS {names[2].text}"
        sql = f"{sql[: tokens[index].start]}{view}{sql[names[3].end :]}"
    return sql


def _extract(arguments: list[str]) -> str:
    if not 2 <= len(arguments) <= 3:
        raise QueryError("REGEXP_EXTRACT takes a string, a pattern, and a group if need be")
    return extracted(arguments[0], arguments[1], arguments[2] if len(arguments) == 3 else None)


def _split_index(arguments: list[str]) -> str:
    """SPLIT_INDEX: a part of a string, counted from 0."""
    if len(arguments) != 3:
        raise QueryError("SPLIT_INDEX takes a string, where to split it, and a number")
    return f"get({split_at(arguments[0], arguments[1])}, {arguments[2]})"


_SECOND = re.compile(r"SECOND\s+FROM\b\s*(.+)", re.IGNORECASE | re.DOTALL)
_FLOORS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")
