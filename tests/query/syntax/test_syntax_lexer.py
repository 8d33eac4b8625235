"""Tokens keep the original text."""

from __future__ import annotations

import pytest

from weft.errors import ExpressionError
from weft.query.syntax.lexer import place, tokenize


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("a>=1.5e-3", ["a", ">=", "1.5e-3"]),
        ("x<=>y", ["x", "<=>", "y"]),
        ("`a``b`.c", ["`a``b`", ".", "c"]),
        ("'it''s' || 'a\\'b'", ["'it''s'", "||", "'a\\'b'"]),
        (r"r'\d' rlike x", [r"r'\d'", "rlike", "x"]),
        ("5L + .5 + 10. + 1.5BD", ["5L", "+", ".5", "+", "10.", "+", "1.5BD"]),
        ("a -- comment\n > 5", ["a", ">", "5"]),
        ("a /* one /* two */ still */ > 5", ["a", ">", "5"]),
        ("date '2024-01-01'", ["DATE '2024-01-01'"]),
        ("date(x)", ["date", "(", "x", ")"]),
        ("t.date 'x'", ["t", ".", "date", "'x'"]),
        ("x'1F'", ["X '1F'"]),
        ("interval 1 day 2 hours + y", ["INTERVAL 1 DAY 2 HOURS", "+", "y"]),
        ("interval '1' day", ["INTERVAL '1' DAY"]),
        ("interval '1-2' year to month", ["INTERVAL '1-2' YEAR TO MONTH"]),
        ("interval '1 day'", ["INTERVAL '1 day'"]),
        ("interval -5 minutes", ["INTERVAL - 5 MINUTES"]),
        ("interval + 1", ["interval", "+", "1"]),
        ("1a", ["1a"]),
        ("größe", ["größe"]),
    ],
)
def test_tokens(sql: str, texts: list[str]) -> None:
    assert [token.text for token in tokenize(sql)] == texts


def test_tokens_know_their_place() -> None:
    for token in tokenize("a + `b c` > DATE  '2024-01-01'"):
        piece = "a + `b c` > DATE  '2024-01-01'"[token.start : token.end]
        assert piece.replace("  ", " ") == token.text


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("a = 'open", "is not closed"),
        ("`a", "is not closed"),
        ("a /* b", "the comment is not closed"),
        ("a \\ b", "is not SQL"),
    ],
)
def test_refused(sql: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        tokenize(sql)


def test_a_place_keeps_tabs_under_the_caret() -> None:
    assert place("\ta b", 3, "m") == "m (line 1, column 4):\n  \ta b\n  \t  ^"
