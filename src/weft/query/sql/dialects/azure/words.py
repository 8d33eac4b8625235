"""The vocabulary of Azure Stream Analytics: what it spells or means differently from Spark."""

from __future__ import annotations

import re

from weft.errors import QueryError
from weft.query.sql.dialects.vocabulary import Vocabulary

_SAME = (
    *("count", "sum", "avg", "min", "max", "abs", "floor", "sqrt", "exp", "upper", "lower"),
    *("power", "sign", "coalesce", "nullif", "substring"),
)

WORDS = Vocabulary(
    "Azure Stream Analytics",
    operators=frozenset(
        (
            *("+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "AND", "OR", "NOT"),
            *("IS NULL", "IS NOT NULL", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN"),
            *("LIKE", "NOT LIKE", "NEG", "PAREN", "AS"),
        )
    ),
    functions={
        **{name: name for name in _SAME},
        "ceil": "ceiling",
        "pow": "power",
        "signum": "sign",
        "stddev_samp": "stdev",
        "stddev_pop": "stdevp",
        "var_samp": "var",
        "var_pop": "varp",
    },
    types={"BIGINT": "BIGINT", "DOUBLE": "FLOAT", "STRING": "NVARCHAR(MAX)"},
    synonyms={"DATETIME": "TIMESTAMP"},
    more_types={"BIT": "BOOLEAN", "INT": "BIGINT"},
    false_friends={
        "datediff": "it counts borders of units, not units: compute it in the stream first",
        "datename": "compute it in the stream first",
        "datepart": "weeks and weekdays are counted otherwise: compute it in the stream first",
        "isnull": "write coalesce(a, b)",
        "concat": "nulls are empty strings there: compute it in the stream first",
        "collect": "write collect_list(column) in Spark SQL",
        "percentile_cont": "write approx_percentile(x, p) in Spark SQL",
    },
    reserved=frozenset(
        (
            *("add", "alter", "asc", "desc", "begin", "break", "check", "column", "create", "cube"),
            *("current", "default", "delete", "drop", "else", "exec", "for", "function", "if"),
            *("index", "insert", "key", "kill", "open", "option", "percent", "plan", "primary"),
            *("proc", "public", "read", "return", "rollup", "rule", "schema", "set", "system"),
            *("timestamp", "to", "trigger", "update", "user", "view", "partition", "windows"),
        )
    ),
    quotes=("[", "]"),
    filters=False,
    window=None,
)

UNSUPPORTED = {
    "GETRECORDPROPERTIES": "is not supported: name the properties of the record",
    "GETMETADATAPROPERTYVALUE": "reads what is not in the rows: make it a column of the input",
    **dict.fromkeys(
        ("ANOMALYDETECTION_SPIKEANDDIP", "ANOMALYDETECTION_CHANGEPOINT"),
        "is a model of Azure's: no SQL elsewhere has it",
    ),
}
"""Functions that cannot be said in Spark SQL, in upper case, with the reasons."""
UNITS = {
    **dict.fromkeys(("yyyy", "yy"), "year"),
    **dict.fromkeys(("qq", "q"), "quarter"),
    **dict.fromkeys(("mm", "m"), "month"),
    **dict.fromkeys(("dy", "y"), "dayofyear"),
    **dict.fromkeys(("dd", "d"), "day"),
    **dict.fromkeys(("wk", "ww"), "week"),
    **dict.fromkeys(("hh",), "hour"),
    **dict.fromkeys(("mi", "n"), "minute"),
    **dict.fromkeys(("ss", "s"), "second"),
    "ms": "millisecond",
    "mcs": "microsecond",
}
"""Spark's units of time, by Azure's abbreviations."""
_SECONDS = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}


def unit_of(text: str) -> str:
    """Spark's name for a unit of time.

    >>> unit_of("mi"), unit_of("Hour")
    ('minute', 'hour')
    """
    return UNITS.get(text.lower(), text.lower())


def borders(unit: str, first: str, second: str) -> str | None:
    """DATEDIFF: the number of unit boundaries between two times; None for units longer than a day.

    >>> borders("ms", "a", "b")
    '(unix_millis(b) - unix_millis(a))'
    >>> print(borders("mi", "a", "b").replace("unix_seconds", "s"))
    ((s(b) - pmod(s(b), 60) - s(a) + pmod(s(a), 60)) DIV 60)
    """
    unit = unit_of(unit)
    if unit == "millisecond":
        return f"(unix_millis({second}) - unix_millis({first}))"
    length = _SECONDS.get(unit)
    if length is None:
        return None
    before, after = f"unix_seconds({first})", f"unix_seconds({second})"
    if length == 1:
        return f"({after} - {before})"
    between = f"{after} - pmod({after}, {length}) - {before} + pmod({before}, {length})"
    return f"(({between}) DIV {length})"


def cut(text: str, start: str, length: str) -> str:
    """SUBSTRING, whose start below 1 is before the string; in Spark it counts from the end.

    >>> cut("s", "2", "n"), cut("s", "0", "3"), cut("s", "- 4", "3")
    ('substring(s, 2, n)', 'substring(s, 1, 2)', 'substring(s, 1, 0)')
    """
    first = start.replace(" ", "")
    if not re.fullmatch(r"0|-\d+", first):
        return f"substring({text}, {start}, {length})"
    if not length.isdecimal():
        raise QueryError(f"SUBSTRING({text}, {start}, {length}): start at 1, or write its length")
    return f"substring({text}, 1, {max(int(first) + int(length) - 1, 0)})"
