"""Functions of Azure Stream Analytics that Spark spells differently, in whole statements.

TopOne(x) OVER (ORDER BY y DESC)    max_by(x, y)
DATEDIFF(minute, a, b)              minute boundaries between a and b
GetRecordPropertyValue(r, 'p')      r.`p`
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.names import quoted_name
from weft.query.sql.dialects.azure.words import borders, cut, unit_of
from weft.query.sql.dialects.in_spark import calls_in_spark
from weft.query.sql.tokens.over import split
from weft.query.syntax.lexer import Token, closed, tokenize


def calls_of_values(sql: str) -> str:
    """Translate the functions whose translation needs nothing but their arguments."""
    sql = calls_in_spark(sql, "CONCAT", _concat)
    sql = calls_in_spark(sql, "DATEPART", _part)
    sql = calls_in_spark(sql, "DATEADD", _added)
    sql = calls_in_spark(sql, "SUBSTRING", _cut)
    sql = calls_in_spark(sql, "COLLECT", _collected, at_least=0)
    sql = calls_in_spark(sql, "GETARRAYELEMENT", lambda given: f"get({', '.join(given)})")
    sql = calls_in_spark(sql, "GETARRAYLENGTH", lambda given: f"array_size({', '.join(given)})")
    sql = calls_in_spark(sql, "GETRECORDPROPERTYVALUE", _field)
    return _aggregates(sql)


def differences(sql: str) -> str:
    """Translate DATEDIFF."""
    return calls_in_spark(sql, "DATEDIFF", _difference)


_OVER = ("TOPONE", "COLLECTTOP", "PERCENTILE_CONT", "PERCENTILE_DISC")
_TEXT = re.compile(r"'([^']+)'")
_PARTS = ("year", "quarter", "month", "day", "dayofyear", "hour", "minute", "second")
_WEEKDAYS = ("weekday", "dw")
"""Counted from 1 on Sundays, as by Spark's `dayofweek`."""


def _concat(arguments: list[str]) -> str:
    """CONCAT, for which nulls are empty strings."""
    return f"concat_ws('', {', '.join(f'CAST({one} AS NVARCHAR(MAX))' for one in arguments)})"


def _difference(arguments: list[str]) -> str:
    found = borders(arguments[0].strip(), *arguments[1:]) if len(arguments) == 3 else None
    if found is None:
        given = ", ".join(arguments)
        raise QueryError(f"DATEDIFF({given}): accepted units are milliseconds to days")
    return found


def _part(arguments: list[str]) -> str:
    unit = unit_of(arguments[0].strip())
    if len(arguments) == 2 and unit in _WEEKDAYS:
        return f"dayofweek({arguments[1]})"
    if len(arguments) != 2 or unit not in _PARTS:
        accepted = f"accepted parts are {', '.join(_PARTS)}, weekday"
        hint = ": weeks are counted otherwise in Spark" if unit == "week" else ""
        raise QueryError(f"DATEPART({', '.join(arguments)}){hint}: {accepted}")
    return f"{unit}({arguments[1]})"  # extract(second FROM ...) would have a fraction


def _added(arguments: list[str]) -> str:
    return f"dateadd({', '.join([unit_of(arguments[0].strip()), *arguments[1:]])})"


def _cut(arguments: list[str]) -> str:
    given = ", ".join(arguments)
    return cut(*arguments) if len(arguments) == 3 else f"substring({given})"


def _aggregates(sql: str) -> str:
    """Translate the aggregates that Azure writes as window functions."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 1)):
        if tokens[index].word not in _OVER or tokens[index + 1].text != "(":
            continue
        end = closed(tokens, index + 1)
        words = [token.word for token in tokens[end + 1 : end + 5]]
        if words != ["OVER", "(", "ORDER", "BY"]:
            continue
        until = closed(tokens, end + 2)
        inside = sql[tokens[index + 1].end : tokens[end].start].strip()
        made = _aggregate(sql, tokens[index].text, inside, tokens[end + 5 : until])
        sql = f"{sql[: tokens[index].start]}{made}{sql[tokens[until].end :]}"
        tokens = tokenize(sql)
    return sql


def _aggregate(sql: str, called: str, inside: str, order: Sequence[Token]) -> str:
    """Translate one such aggregate; `order` is what follows its ORDER BY."""
    name, text = called.lower(), sql[order[0].start : order[-1].end] if order else ""
    if name.startswith("percentile"):
        return f"weft_{name}({inside}) WITHIN GROUP (ORDER BY {text})"
    keys, ways = [], set()
    for key in split(order):
        directed = key[-1].word in ("ASC", "DESC")
        ways.add(key[-1].word if directed else "ASC")
        keys.append(sql[key[0].start : key[-2 if directed else -1].end])
    if len(ways) != 1:
        raise QueryError(f"{called} OVER (ORDER BY {text}): one direction for all is accepted")
    by = f"struct({', '.join(keys)})"  # a struct is not null: null columns come first, as in Azure
    function = "max_by" if ways == {"DESC"} else "min_by"
    if name == "topone":
        return f"{function}({inside or 'struct(*)'}, {by})"
    count, _, value = (part.strip() for part in inside.partition(","))
    if not count.isdigit():
        raise QueryError(f"CollectTop({inside}): how many rows must be a constant")
    rows = f"{function}({value or 'struct(*)'}, {by}, {count})"
    ranked = "named_struct('rank', weft_i + 1, 'value', weft_v)"
    return f"transform({rows}, (weft_v, weft_i) -> {ranked})"


def _collected(arguments: list[str]) -> str:
    """COLLECT of all rows of a window; of values it stays, because Spark's would omit nulls."""
    return "collect_list(struct(*))" if not arguments else f"Collect({', '.join(arguments)})"


def _field(arguments: list[str]) -> str:
    name = _TEXT.fullmatch(arguments[1]) if len(arguments) == 2 else None
    if name is None:
        raise QueryError("GetRecordPropertyValue takes a record and a constant name")
    return f"({arguments[0]}).{quoted_name(name[1])}"
