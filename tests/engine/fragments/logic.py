"""Predicates with known results: SQL, and the same in Python by Spark's three-valued logic."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]
Truth = bool | None


@dataclass(frozen=True)
class Known:
    """A predicate in SQL, and a function that gives its value for a row."""

    sql: str
    of: Callable[[Row], Truth]

    def __repr__(self) -> str:
        return self.sql


def both(*parts: Known) -> Known:
    def of(row: Row) -> Truth:
        found = [part.of(row) for part in parts]
        return False if False in found else None if None in found else True

    return Known(" AND ".join(f"({part.sql})" for part in parts), of)


def either(*parts: Known) -> Known:
    def of(row: Row) -> Truth:
        found = [part.of(row) for part in parts]
        return True if True in found else None if None in found else False

    return Known(" OR ".join(f"({part.sql})" for part in parts), of)


def opposite(part: Known) -> Known:
    def of(row: Row) -> Truth:
        found = part.of(row)
        return None if found is None else not found

    return Known(f"NOT ({part.sql})", of)


COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def ordered(value: Any) -> Any:
    """A value's position in Spark's order: NaN comes after every other number."""
    return (value != value, 0 if value != value else value)


def compared(column: str, op: str, sql: str, constant: Any) -> Known:
    def of(row: Row) -> Truth:
        value = row[column]
        return None if value is None else COMPARE[op](ordered(value), ordered(constant))

    return Known(f"{column} {op} {sql}", of)


def listed(column: str, items: list[tuple[str, Any]], negated: bool) -> Known:
    def of(row: Row) -> Truth:
        value = row[column]
        return None if value is None else (value in [item for _, item in items]) != negated

    words = ", ".join(sql for sql, _ in items)
    return Known(f"{column} {'NOT ' if negated else ''}IN ({words})", of)


def null_safe(column: str, sql: str, constant: Any, negated: bool) -> Known:
    op = "IS DISTINCT FROM" if negated else "<=>"
    return Known(f"{column} {op} {sql}", lambda row: (row[column] == constant) != negated)


def nulls(column: str, negated: bool) -> Known:
    word = "IS NOT NULL" if negated else "IS NULL"
    return Known(f"{column} {word}", lambda row: (row[column] is None) != negated)


CONSTANTS: dict[str, list[tuple[str, Any]]] = {
    "i": [("-3", -3), ("0", 0), ("2", 2), ("2.5", 2.5), ("3L", 3), ("7", 7), ("1.0", 1)],
    "d": [("-1.5", -1.5), ("0", 0), ("0.0D", 0.0), ("2.5", 2.5), ("1e3", 1000.0), ("7", 7)],
    "s": [("'a'", "a"), ("'b'", "b"), ("''", ""), ("'é'", "é"), ("'zz'", "zz")],
}
"""For each column, constants in SQL and in Python."""


@st.composite
def leaves(draw: st.DrawFn) -> Known:
    column = draw(st.sampled_from(["i", "i", "d", "s", "f"]))
    if column == "f":
        plain = Known("f", lambda row: row["f"])
        known = Known("f = TRUE", lambda row: row["f"])
        sure = Known("f IS TRUE", lambda row: row["f"] is True)
        unsure = Known("f IS NOT FALSE", lambda row: row["f"] is not False)
        return draw(st.sampled_from([plain, plain, known, sure, unsure, opposite(plain)]))
    sql, constant = draw(st.sampled_from(CONSTANTS[column]))
    shape = draw(st.integers(0, 9))
    if shape == 0:
        return nulls(column, draw(st.booleans()))
    if shape == 1:
        return null_safe(column, sql, constant, draw(st.booleans()))
    if shape <= 3:
        items = draw(st.lists(st.sampled_from(CONSTANTS[column]), min_size=1, max_size=3))
        return listed(column, items, draw(st.booleans()))
    return compared(column, draw(st.sampled_from(list(COMPARE))), sql, constant)


def predicates() -> st.SearchStrategy[Known]:
    """Random predicates over the columns i, d, s and f."""
    return st.recursive(
        leaves(),
        lambda inner: st.one_of(
            st.builds(both, inner, inner),
            st.builds(either, inner, inner),
            st.builds(both, inner, inner, inner),
            st.builds(opposite, inner),
        ),
        max_leaves=5,
    )


ROWS: list[Row] = [
    {"i": i, "d": d, "s": s, "f": f}
    for i, d, s, f in zip(
        [0, None, 2, 3, -3, 7, 1, 2, None, 100, -4, 0] * 3,
        [0.0, 2.5, None, float("nan"), -1.5, 7.0, -0.0, 1000.0, float("inf"), 2.4] * 3 + [1.0] * 6,
        ["a", "b", None, "", "é", "zz", "a\0", "~"] * 4 + ["a", "b", None, ""],
        [True, False, None, True, None] * 7 + [False],
        strict=True,
    )
]
"""Rows that hit every constant, its neighbours, nulls, NaN and both zeros."""
