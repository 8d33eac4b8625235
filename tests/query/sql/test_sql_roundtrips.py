"""Any query, written in any dialect that can say it, is the same query when read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.query.query import Query
from weft.query.source import Source
from weft.query.sql import parse_query, write_query
from weft.query.window import Session, Window

DIALECTS = ("spark", "cql", "asa", "flink")
DAY = 86_400_000_000
COLUMNS = ["price", "volume", "Symbol", "side", "`net price`", "event.size", "value", "x"]
columns = st.sampled_from(COLUMNS)
numbers = st.integers(0, 10**6).map(str) | st.sampled_from(["1.5", "0.25", "1e3"])
strings = st.sampled_from(["'a'", "'it''s'", "''", "'a [RANGE'", "'%x_'", "'--'"])


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(" ".join).map("({})".format),
        inner.map("abs({})".format),
        st.tuples(columns, strings).map("coalesce({0[0]}, {0[1]})".format),
        st.tuples(columns, inner).map("CASE WHEN {0[0]} > 3 THEN {0[1]} END".format),
        inner.map("CAST({} AS BIGINT)".format),
    )  # fmt: skip


values = st.recursive(columns | numbers, combined, max_leaves=4)
comparisons = st.one_of(
    st.tuples(values, st.sampled_from(["=", "<>", "<", ">="]), values).map(" ".join),
    st.tuples(columns, strings).map(" = ".join),
    st.tuples(columns, st.sampled_from(["'%x_'", "'it''s%'"])).map("{0[0]} LIKE {0[1]}".format),
    st.tuples(columns, numbers, numbers).map("{0[0]} BETWEEN {0[1]} AND {0[2]}".format),
    st.tuples(columns, numbers, numbers).map("{0[0]} NOT IN ({0[1]}, {0[2]})".format),
    columns.map("{} IS NOT NULL".format),
)
predicates = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("({0[0]} AND {0[1]})".format),
        st.tuples(inner, inner).map("({0[0]} OR {0[1]})".format),
        inner.map("NOT ({})".format),
    ),
    max_leaves=4,
)
calls = st.one_of(
    st.just("count(*)"),
    st.tuples(st.sampled_from(["sum", "min", "max", "stddev_pop", "var_samp"]), values).map(
        "{0[0]}({0[1]})".format
    ),
    columns.map("avg({} + 0.5)".format),  # Flink says no average of what is surely an integer
    columns.map("count(DISTINCT {})".format),
)
outputs = calls | st.tuples(calls, st.sampled_from([" - ", " + ", " * "]), calls).map("".join)
names = st.sampled_from(["n", "hi", "Total", "the total", "user", "value2", "count(1)", "day"])
keys = st.sampled_from(["Symbol", "side AS s", "upper(side) AS `the side`", "`net price` AS np"])

whole = st.integers(1, 10**5)


def windows_of(dialect: str) -> st.SearchStrategy[Window]:
    """Windows that a dialect can say."""
    micros = st.integers(1, 10**10)
    if dialect == "spark":
        return st.builds(
            lambda s, extra, o: Window.of_units(s + extra, s, o),
            micros, st.integers(0, 10**10), st.integers(-(10**10), 10**10),
        )  # fmt: skip
    if dialect == "cql":
        return st.builds(
            lambda r, s, axis: Window.of_units(r, s, -r % s, axis),
            micros, micros, st.sampled_from(["time", "integer"]),
        )  # fmt: skip
    if dialect == "asa":
        slides = st.sampled_from([DAY // n for n in (1, 2, 24, 96, 1440, 8640, 86_400, 864_000)])
        fixed = st.builds(
            lambda s, n, o: Window.of_units(min(n, 7 * DAY // s) * s, s, o),
            slides, st.integers(1, 50), st.integers(-(10**9), 10**9),
        )  # fmt: skip
        sessions = st.builds(lambda gap, more: Session.of_micros(gap, gap + more), micros, micros)
        return fixed | sessions
    even = st.builds(
        lambda s, n, o: Window.of_units(n * s * 1000, s * 1000, o * 1000),
        whole, st.integers(1, 80), whole,
    )  # fmt: skip
    return even | st.builds(lambda r, s: Window.of_units(r * 1000, s * 1000, 0), whole, whole)


common = st.builds(
    lambda s, n: Window.of_units(n * s, s, 0),
    st.sampled_from([DAY // n for n in (1, 24, 288, 1440, 86_400)]),
    st.integers(1, 7),
)


@st.composite
def queries(draw: Any, windows: st.SearchStrategy[Window]) -> Query:
    taken = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    aggs = {name: draw(outputs) for name in taken}
    by = draw(st.lists(keys, max_size=2, unique=True))
    having = [draw(calls) + " > 3"]
    having += [f"`{taken[0]}` <= 5"]
    having += ["`the side` <> 'x'"] if any("the side" in key for key in by) else []
    conditions = st.lists(st.sampled_from(having), min_size=1).map(" AND ".join)
    return Query(
        draw(st.sampled_from(["q", "big trades", "it's; -- odd", "x_10 min"])),
        aggs=aggs,
        window=draw(windows),
        where=draw(st.none() | predicates),
        by=by,
        having=draw(st.none() | conditions),
        source=draw(st.none() | st.just(Source("db.`my trades`", "`event time`"))),
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_written_and_read_back(dialect: Any) -> None:
    @settings(max_examples=60, deadline=None)
    @given(queries(windows_of(dialect)))
    def check(query: Query) -> None:
        text = write_query(query, dialect)
        again = parse_query(text)
        assert again == query, text
        assert again.source is not None
        if query.source is not None:
            assert again.source.table == query.source.table

    check()


@settings(max_examples=50, deadline=None)
@given(queries(common), st.permutations(DIALECTS))
def test_from_dialect_to_dialect(query: Query, way: list[Any]) -> None:
    """A query that all dialects can say goes through them in any order and stays the same."""
    again = query
    for dialect in way:
        text = write_query(again, dialect)
        again = parse_query(text)
        assert again == query, text
