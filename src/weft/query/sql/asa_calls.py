"""Functions of Azure Stream Analytics that Spark spells otherwise, in whole statements.

TopOne(x) OVER (ORDER BY y DESC)    max_by(x, y)
DATEDIFF(minute, a, b)              borders of minutes between a and b
GetRecordPropertyValue(r, 'p')      r.`p`
"""

from __future__ import annotations

import re

from weft.errors import QueryError
from weft.query.names import quoted_name
from weft.query.sql.asa_words import borders
from weft.query.sql.in_spark import calls_in_spark


def calls_of_values(sql: str) -> str:
    """A statement with the functions that need nothing but their arguments in Spark's words."""
    sql = calls_in_spark(sql, "CONCAT", _concat)
    sql = calls_in_spark(sql, "DATEPART", _part)
    sql = calls_in_spark(sql, "COLLECT", _collected)
    sql = calls_in_spark(sql, "GETARRAYELEMENT", lambda given: f"get({', '.join(given)})")
    sql = calls_in_spark(sql, "GETARRAYLENGTH", lambda given: f"array_size({', '.join(given)})")
    sql = calls_in_spark(sql, "GETRECORDPROPERTYVALUE", _field)
    return _OVER.sub(_over, sql)


def differences(sql: str) -> str:
    """A statement with DATEDIFF in Spark's words."""
    return calls_in_spark(sql, "DATEDIFF", _difference)


_OVER = re.compile(
    r"\b(TopOne|CollectTop|PERCENTILE_CONT|PERCENTILE_DISC)\s*\(([^()]*)\)\s*OVER\s*\(\s*ORDER\s+BY\s+"
    r"([^()]*)\)",
    re.IGNORECASE,
)
_ORDER = re.compile(r"([\w.`]+)(?:\s+(ASC|DESC))?", re.IGNORECASE)
_TEXT = re.compile(r"'([^']+)'")
_PARTS = frozenset(("year", "quarter", "month", "day", "hour", "minute", "second"))
_WEEKDAYS = ("weekday", "dw")
"""From 1 on Sundays, as Spark's `dayofweek`."""


def _concat(arguments: list[str]) -> str:
    """Nulls are empty strings."""
    return f"concat_ws('', {', '.join(f'CAST({one} AS NVARCHAR(MAX))' for one in arguments)})"


def _difference(arguments: list[str]) -> str:
    found = borders(arguments[0].strip(), *arguments[1:]) if len(arguments) == 3 else None
    if found is None:
        given = ", ".join(arguments)
        raise QueryError(f"DATEDIFF({given}): accepted units are milliseconds to days")
    return found


def _part(arguments: list[str]) -> str:
    unit = arguments[0].strip().lower()
    if len(arguments) == 2 and unit in _WEEKDAYS:
        return f"dayofweek({arguments[1]})"
    if len(arguments) != 2 or unit not in _PARTS:
        raise QueryError(f"DATEPART({', '.join(arguments)}): weeks are counted otherwise in Spark")
    return f"extract({unit} FROM {arguments[1]})"


def _over(found: re.Match[str]) -> str:
    """An aggregate that Azure writes as a window function."""
    name, inside, order = found[1].lower(), found[2].strip(), found[3].strip()
    if name.startswith("percentile"):
        return f"weft_{name}({inside}) WITHIN GROUP (ORDER BY {order})"
    keys = [_ORDER.fullmatch(one.strip()) for one in order.split(",")]
    ways = {(key[2] or "ASC").upper() for key in keys if key is not None}
    if None in keys or len(ways) != 1:
        raise QueryError(f"{found[1]} OVER (ORDER BY {order}): one direction for all is accepted")
    by = f"struct({', '.join(key[1] for key in keys if key is not None)})"  # nulls come first
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
    """All rows of a window; of values the nulls would be missing in Spark."""
    return "collect_list(struct(*))" if not arguments else f"Collect({', '.join(arguments)})"


def _field(arguments: list[str]) -> str:
    name = _TEXT.fullmatch(arguments[1]) if len(arguments) == 2 else None
    if name is None:
        raise QueryError("GetRecordPropertyValue takes a record and a constant name")
    return f"({arguments[0]}).{quoted_name(name[1])}"
