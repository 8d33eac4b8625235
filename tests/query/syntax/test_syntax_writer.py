"""Parentheses are written exactly where Spark's grammar needs them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Case, Literal, Name, Node, Op, rebuild
from weft.query.syntax.writer import write, write_tersely

leaves = st.sampled_from(
    [Name(("a",)), Name(("b",)), Literal("number", "5"), Literal("string", "'x'")]
)


def _operators(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    binary = st.sampled_from(
        ["=", "<", "<=>", "+", "-", "*", "/", "%", "DIV", "||", "&", "|", "^", "LIKE", "<<"]
    )
    return st.one_of(
        st.builds(lambda op, a, b: Op(op, (a, b)), binary, inner, inner),
        st.builds(lambda op, a: Op(op, (a,)), st.sampled_from(["NOT", "NEG", "IS NULL"]), inner),
        st.builds(
            lambda op, args: Op(op, tuple(args)),
            st.sampled_from(["AND", "OR"]),
            st.lists(inner, min_size=2, max_size=3),
        ),
        st.builds(lambda a, b, c: Op("BETWEEN", (a, b, c)), inner, inner, inner),
        st.builds(lambda a, b, c: Op("IN", (a, b, c)), inner, inner, inner),
        st.builds(lambda a, b: Case(None, ((a, b),), None), inner, inner),
    )


def plain(node: Node) -> Node:
    """The tree without parentheses, with `x NOT IN (...)` as NOT over `x IN (...)`."""
    while isinstance(node, Op) and node.op == "PAREN":
        node = node.args[0]
    node = rebuild(node, plain)
    if isinstance(node, Op) and node.op != "NOT" and "NOT" in node.op:
        return Op("NOT", (replace(node, op=node.op.replace("NOT ", "")),))
    return node


@settings(max_examples=300, deadline=None)
@given(tree=st.recursive(leaves, _operators, max_leaves=8))
def test_what_is_written_is_read_back(tree: Node) -> None:
    assert plain(read_expression(write(tree))) == tree


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Op("AND", (Op("OR", (Name(("a",)), Name(("b",)))), Name(("c",)))), "(a OR b) AND c"),
        (Op("IS NULL", (Op("=", (Name(("a",)), Name(("b",)))),)), "(a = b) IS NULL"),
        (Op("NEG", (Op("NEG", (Name(("a",)),)),)), "-(-a)"),
        (Op("-", (Name(("a",)), Op("-", (Name(("b",)), Name(("c",)))))), "a - (b - c)"),
        (Op("+", (Name(("a",)), Op("%", (Name(("b",)), Name(("c",)))))), "a + (b % c)"),
    ],
)
def test_parentheses(node: Node, text: str) -> None:
    assert write(node) == text


def test_tersely_is_as_spark_needs_it() -> None:
    node = Op("+", (Name(("a",)), Op("%", (Name(("b",)), Name(("c",))))))
    assert write_tersely(node) == "a + b % c"
