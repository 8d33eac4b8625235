"""Masked texts show sqlglot the structure and nothing else."""

from __future__ import annotations

import pytest

from weft.errors import ExpressionError
from weft.query.syntax.masking import EXPRESSION_WORDS, mask, parse


def masked(sql: str) -> str:
    return mask(sql, EXPRESSION_WORDS).text


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("volume > 50", "_w0_ > _w2_"),
        ("date = 'x' and not user", "_w0_ = _w2_ AND NOT _w5_"),
        ("end > 5", "_w0_ > _w2_"),
        ("case when a then 1 else 2 end", "CASE WHEN _w2_ THEN _w4_ ELSE _w6_ END"),
        ("window.end", "_w0_ . _w2_"),
        ("cast(x as decimal(10, 2))", "_w0_ ( _w2_ , _w4_ )"),
        ("extract(year from d)", "_w0_ ( _w2_ , _w4_ )"),
        ("filter(a, x -> x)", "_w0_ ( _w2_ , _w4_ -> _w6_ )"),
        ("max(a) filter (where b)", "_w0_ ( _w2_ ) FILTER ( WHERE _w7_ )"),
        ("first(a) ignore nulls", "_w0_ ( _w2_ ) IGNORE NULLS"),
        ("ignore > nulls", "_w0_ > _w2_"),
        ("x is not null or null", "_w0_ IS NOT NULL OR _w5_"),
        ("not true", "NOT _w1_"),
        ("x like 'a' escape '!'", "_w0_ LIKE _w2_ ESCAPE '_w4_'"),
    ],
)
def test_masks(sql: str, text: str) -> None:
    assert masked(sql) == text


def test_texts_of_one_shape_are_parsed_once() -> None:
    found = [parse(mask(sql, EXPRESSION_WORDS)) for sql in ("price > 1", "volume > 'x'")]
    assert found[0] is found[1]


def test_failures_are_quoted_where_they_are() -> None:
    text = mask("a > 5 and\n  b >", EXPRESSION_WORDS)
    with pytest.raises(ExpressionError, match=r"cannot be read as Spark SQL \(line 2, column"):
        parse(text)


def test_a_cast_needs_a_type() -> None:
    with pytest.raises(ExpressionError, match="CAST has no type"):
        masked("cast(x as )")
