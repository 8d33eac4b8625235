"""SQL that is judged to stay within a window gives the same rows by micro-batch as at once."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta, timezone
from functools import reduce
from itertools import pairwise

import pytest
from pyspark.sql import DataFrame, SparkSession

from weft.errors import QueryError
from weft.query.finish import Finish
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.spark.finishing import finished, finished_form

WINDOWS = (
    Window(range="10 minutes"),
    Window(range="20 minutes", slide="10 minutes"),
    Session(gap="3 minutes"),
)
SCHEMA = "window struct<start: timestamp, end: timestamp>, k string, n bigint"
OUTER = (
    "window(window, '30 minutes')",
    "window(window, '30 minutes').end",
    "window(window, '30 minutes', '30 minutes', '7 minutes').start",
    "window(window_time(window), '1 hour')",
    "window(window.start, '30 minutes')",
    "date_trunc('hour', window.end)",
    "to_date(window.start)",
    "window(window.end - INTERVAL '0.001' SECOND, '30 minutes').start",
    "window(window, '30 minutes', '10 minutes')",
)
START = datetime(2023, 11, 14, 22, 0, tzinfo=timezone.utc)


def query(window: Window) -> Query:
    return Query("s", aggs={"n": "count(*)"}, window=window, by=["k"])


def answers(window: Window, chance: random.Random) -> list[tuple[object, ...]]:
    """Answers of about eight windows for a few keys."""
    found = []
    for at in range(8):
        for key in chance.sample("abcd", 3):
            start = START + timedelta(minutes=10 * at)
            end = start + timedelta(microseconds=window.range)
            if isinstance(window, Session):  # some have the same start and different ends
                end = start + timedelta(minutes=chance.choice((4, 8, 31)))
            found.append(((start, end), key, chance.randrange(1, 5)))
    return found


def relation(chance: random.Random, tables: int, depth: int) -> str:
    """SQL of rows with a window `w` (or a column in its place), a key `k` and a number `n`."""
    if depth == 0:
        table = f"weft_answers_{chance.randrange(tables)}"
        inner = ("window", "window", "window.end", "window.start", "window_time(window)")
        mark = chance.choice(chance.choice((inner, OUTER)))
        return f"SELECT {mark} AS w, k, n FROM {table}"
    one = relation(chance, tables, depth - 1)
    made = chance.choice(("filter", "over", "over", "group", "group", "join", "union", "distinct"))
    if made == "filter":
        return f"SELECT w, k, n + 1 AS n FROM ({one}) WHERE n > 1"
    if made == "over":
        by = chance.choice(("w", "w, k", "k", "w"))
        what = chance.choice(("sum(n)", "count(*)", "max(n)"))
        return f"SELECT w, k, {what} OVER (PARTITION BY {by}) AS n FROM ({one})"
    if made == "group":
        keys = chance.choice(("w, k", "w, k", "k"))
        shown = "w, k" if keys == "w, k" else "min(w) AS w, k"
        return f"SELECT {shown}, sum(n) AS n FROM ({one}) GROUP BY {keys}"
    other = relation(chance, tables, depth - 1)
    if made == "join":
        kind = chance.choice(("", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"))
        on = chance.choice(("a.w = b.w", "a.w = b.w AND a.k = b.k", "a.k = b.k"))
        side = chance.choice("ab") if "SEMI" not in kind and "ANTI" not in kind else "a"
        return f"SELECT {side}.w, a.k, a.n FROM ({one}) a {kind} JOIN ({other}) b ON {on}"
    if made == "union":
        return f"{one} UNION ALL {other}"
    return f"SELECT DISTINCT {chance.choice(('w, k, n', 'w, k, 1 AS n'))} FROM ({one})"


def micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)


def rows(frame: DataFrame) -> Counter[str]:
    return Counter(str(tuple(row)) for row in frame.collect())


@pytest.mark.parametrize("seed", range(2))
def test_what_is_accepted_is_the_same_by_micro_batches(spark: SparkSession, seed: int) -> None:
    chance = random.Random(seed)
    accepted = refused = held = 0
    while accepted < 6 or refused < 4 or held < 3:
        count = chance.choice((1, 2))
        queries = [query(chance.choice(WINDOWS)) for _ in range(count)]
        sql = relation(chance, count, chance.choice((1, 2, 2)))
        finish = Finish(sql, tuple("s_2" for _ in queries[1:]))
        given = [answers(one.window, chance) for one in queries]
        frames = [spark.createDataFrame(some, SCHEMA).coalesce(1) for some in given]
        both = list(zip(queries, frames, strict=True))
        try:
            form = finished_form(spark, finish, [(q, f.schema) for q, f in both])
        except QueryError as error:
            # Columns of two kinds side by side are Spark's to refuse.
            refused += "arrive one by one" in str(error)
            continue
        accepted += 1
        held += form.outer is not None
        until = "unix_micros(window.end)"
        until = until if form.outer is None else form.outer.edge_sql(until)
        ends = sorted({row[0][1] for some in given for row in some})
        cuts = [START, *sorted(chance.sample(ends, 3)), START + timedelta(days=9)]
        parts = []
        for low, high in pairwise(cuts):
            between = f"{until} > {micros(low)} AND {until} <= {micros(high)}"
            some = [(q, f.where(between)) for q, f in both]
            parts.append(finished(finish, some))
        by_parts = rows(reduce(DataFrame.unionAll, parts))
        at_once = rows(finished(finish, both))
        assert by_parts == at_once, f"{[q.window for q in queries]}: {sql}"
