"""Grouping keys: columns, and expressions with a name."""

from __future__ import annotations

import pytest

from weft.errors import ExpressionError
from weft.query.keys import read_key


@pytest.mark.parametrize(
    ("sql", "name", "expression"),
    [
        ("symbol", "symbol", "symbol"),
        ("Symbol", "Symbol", "symbol"),
        ("`Net Price`", "Net Price", "`net price`"),
        ("event.kind", "kind", "event.kind"),
        ("upper(Symbol) AS s", "s", "upper(symbol)"),
        ("UCASE(symbol) as `S t`", "S t", "upper(symbol)"),
        ("5 < volume AS big", "big", "volume > 5"),
    ],
)
def test_keys(sql: str, name: str, expression: str) -> None:
    key = read_key(sql)
    assert (key.name, key.expression) == (name, expression)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("upper(symbol)", r"'upper\(symbol\)' needs a name: write 'upper\(symbol\) AS name'"),
        ("max(x) AS m", "max is an aggregate"),
        ("rand() AS r", "rand is not deterministic"),
        ("window(ts, '1 hour') AS w", "window makes windows"),
        ("symbol s", "is ambiguous"),
        ("", "the expression is empty"),
    ],
)
def test_refused(sql: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        read_key(sql)
