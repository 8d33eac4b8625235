"""Every form that sqlglot can parse is either supported or refused by name."""

from __future__ import annotations

import pytest

from weft.errors import ExpressionError
from weft.query.syntax.converter import convert
from weft.query.syntax.masking import EXPRESSION_WORDS, mask, parse
from weft.query.syntax.tree import Call, Case, Cast, Lambda, Literal, Name, Node, Op, Star


def read(sql: str) -> Node:
    masked = mask(sql, EXPRESSION_WORDS)
    (found,) = parse(masked)
    assert found is not None
    return convert(masked, found)


A, B, ONE = Name(("a",)), Name(("b",)), Literal("number", "1")


@pytest.mark.parametrize(
    ("sql", "node"),
    [
        ("a AND b AND 1", Op("AND", (A, B, ONE))),
        ("a AND (b AND 1)", Op("AND", (A, Op("PAREN", (Op("AND", (B, ONE)),))))),
        ("a NOT IN (b, 1)", Op("NOT IN", (A, B, ONE))),
        ("a IS NOT TRUE", Op("IS NOT TRUE", (A,))),
        ("a <=> b", Op("<=>", (A, B))),
        ("a IS NOT DISTINCT FROM b", Op("IS NOT DISTINCT FROM", (A, B))),
        ("a.b", Name(("a", "b"))),
        ("f(a).b", Op(".", (Call("f", (A,)), B))),
        ("a[1].b", Op(".", (Op("[]", (A, ONE)), B))),
        ("CAST(a AS INT)", Cast("CAST", A, "INT")),
        ("EXTRACT(YEAR FROM a)", Cast("EXTRACT", A, "YEAR")),
        ("CASE WHEN a THEN 1 END", Case(None, ((A, ONE),), None)),
        ("f(a -> 1)", Call("f", (Lambda(("a",), ONE),))),
        ("count(*)", Call("count", (Star(),))),
        ("f(DISTINCT a)", Call("f", (A,), distinct=True)),
        ("f(a) FILTER (WHERE b)", Call("f", (A,), where=B)),
        ("f(a) IGNORE NULLS", Call("f", (A,), nulls="IGNORE")),
        ("f(a IGNORE NULLS)", Call("f", (A,), nulls="IGNORE")),
        ("TRUE", Literal("boolean", "TRUE")),
        ("`TRUE`", Name(("`TRUE`",))),
        ("DATE '2024-01-01'", Literal("typed", "DATE '2024-01-01'")),
    ],
)
def test_forms(sql: str, node: Node) -> None:
    assert read(sql) == node


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("a -> b", r"weft does not know this form of SQL \(JSONExtract\)"),
        ("f(a b)[1:2]", "weft does not know|cannot be read"),
        ("'a' 'b'", "two values in a row"),
        ("f(x) FILTER (WHERE a) FILTER (WHERE b)", "weft does not know|cannot be read"),
    ],
)
def test_refused(sql: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        read(sql)
