"""Whatever the text: queries, or an error of weft's."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sql_texts import DIALECTS, entries

from weft.errors import WeftError
from weft.query.functions import OWN_AGGREGATES
from weft.query.query import Query
from weft.query.sql import parse_queries, parse_query, write_query
from weft.query.syntax.lexer import tokenize

TEXTS = [
    entry["sql"]
    for dialect in DIALECTS
    for kind in ("accepted", "refused")
    for entry in entries(kind, dialect)
]


def pieces() -> list[str]:
    """Every token of the texts, once."""
    found: dict[str, None] = {}
    for text in TEXTS:
        try:
            found.update((text[token.start : token.end], None) for token in tokenize(text))
        except WeftError:
            continue
    return [*found, "'", "`", '"', "\\", "/*", "--", "\n", "é", "\x00", "9" * 40, "²", ";"]


PIECES = pieces()


def check(text: str, dialect: str = "auto") -> None:
    try:
        found = parse_queries(text, dialect)  # type: ignore[arg-type]
    except WeftError:
        return
    for query in found:
        assert isinstance(query, Query)
        # Nothing is half understood: what was read can be said again, in Spark's words or CQL's.
        for other in ("spark", "cql"):
            try:
                written = write_query(query, other)  # type: ignore[arg-type]
            except WeftError:
                continue
            # Spark gets the definition of an aggregate that it lacks.
            asked = " ".join([*query.aggs.values(), query.having or ""]).lower()
            if other == "cql" or not any(own in asked for own in OWN_AGGREGATES):
                assert parse_query(written, dialect=other) == query, written  # type: ignore


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_token_soup(text: str) -> None:
    check(text)
    check(f"SELECT {text}")


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.parametrize("seed", range(8))
def test_mutated_texts(seed: int) -> None:
    """Tokens of good and bad texts dropped, doubled, swapped and replaced."""
    chance = random.Random(seed)
    for _ in range(400):
        words = chance.choice(TEXTS).replace("(", " ( ").replace(")", " ) ").split(" ")
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(words))
            change = chance.randrange(5)
            if change == 0:
                del words[at]
            elif change == 1:
                words.insert(at, words[at])
            elif change == 2:
                other = chance.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            elif change == 3:
                words[at] = chance.choice(PIECES)
            else:
                words.insert(at, chance.choice(PIECES))
            if not words:
                break
        text = " ".join(words)
        check(text)
        check(text, chance.choice(DIALECTS))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) AS n FROM t WHERE " + "(" * 3000 + "x" + ")" * 3000
        + " GROUP BY window(ts, '1 hour')",
        "SELECT max(" + "abs(" * 2000 + "x" + ")" * 2000 + ") AS n FROM t [RANGE 2 SLIDE 1]",
        "SELECT count(*) AS n FROM t WHERE " + "NOT " * 5000 + "x GROUP BY window(ts, '1 hour')",
        "SELECT count(*) AS n FROM t WHERE x" + " AND x > 1" * 800
        + " GROUP BY window(ts, '1 hour')",
        "SELECT " + ", ".join(f"max(x{i}) AS m{i}" for i in range(500))
        + " FROM t GROUP BY window(ts, '1 hour')",
    ],
    ids=["parentheses", "calls", "nots", "ands", "outputs"],
)  # fmt: skip
def test_deep_and_long_texts(text: str) -> None:
    check(text)
