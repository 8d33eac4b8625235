"""Every kind of part has a monoid, and Spark SQL that parses."""

from __future__ import annotations

import pytest
from aggregate_cases import CASES, Case

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of, spark_merge, spark_partial
from weft.errors import AggregateError
from weft.query.syntax.lexer import tokenize

EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def balanced(sql: str) -> bool:
    texts = [token.text for token in tokenize(sql)]
    return texts.count("(") == texts.count(")")


@EACH
def test_partial_sql_holds_arguments_and_filter(case: Case) -> None:
    args = tuple(f"`argument {i}`" for i in range(len(case.part.args)))
    part = Part(case.part.kind, args, "flag > 7", case.part.options)
    found = spark_partial(part)
    assert found is not None
    for sql in found:
        assert balanced(sql)
        assert "FILTER (WHERE flag > 7)" in sql
        assert "{" not in sql
    assert all(any(arg in sql for sql in found) for arg in args)


@EACH
def test_merge_sql_holds_the_columns(case: Case) -> None:
    columns = tuple(f"column_{i}" for i in range(len(case.monoid.components)))
    found = spark_merge(case.part, columns, order="slice.start")
    assert found is not None
    for sql in found:
        assert balanced(sql)
        assert "{" not in sql
    assert all(any(column in sql for sql in found) for column in columns)


@EACH
def test_what_depends_on_order_merges_by_order(case: Case) -> None:
    columns = tuple(f"column_{i}" for i in range(len(case.monoid.components)))
    found = " ".join(spark_merge(case.part, columns, order="slice.start") or ())
    assert ("slice.start" in found) == (case.monoid.order == "all")


def test_without_filter_there_is_no_filter_clause() -> None:
    assert spark_partial(Part("count", ("a", "b"))) == ("count(a, b)",)


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(AggregateError, match="unknown kind of part 'median': accepted are count,"):
        monoid_of(Part("median", ("x",)))
