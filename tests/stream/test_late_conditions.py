"""The SQL that finds late rows agrees with what the operator says of each row's slice."""

from __future__ import annotations

import random
import sqlite3

import numpy as np
import pytest

from weft.engine.preaggregate import OLDEST
from weft.engine.program import Program, TreeProgram
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.shards import ShardSchema
from weft.plan import calendar_sql
from weft.plan.optimizer import optimize
from weft.query.calendar import Calendar
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.stream.catalogue import Settings
from weft.stream.evolve import first_catalogue
from weft.stream.late_rows import late_condition, losers
from weft.stream.losses import Lost

DAY = 86_400_000_000


def true_of(condition: str, rows: list[dict[str, int]]) -> list[bool]:
    """The rows for which SQL is true, by SQLite, whose integers are like Spark's."""
    names = list(rows[0])
    with sqlite3.connect(":memory:") as db:
        db.create_function("pmod", 2, lambda a, b: a % b)
        db.create_function("greatest", 2, max)
        db.create_function("least", 2, min)
        db.execute(f"CREATE TABLE t ({', '.join(names)})")
        db.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})",
                       [tuple(row.values()) for row in rows])  # fmt: skip
        return [bool(value) for (value,) in db.execute(f"SELECT {condition} FROM t ORDER BY rowid")]


@pytest.mark.parametrize("seed", range(30))
def test_fixed_windows(seed: int) -> None:
    drawn = random.Random(seed)
    window = Window(
        range=drawn.randint(1, 30), slide=drawn.randint(1, 30), offset=drawn.randint(0, 9)
    )
    since = drawn.choice([-FAR, drawn.randint(-50, 50)])
    until = drawn.choice([FAR, drawn.randint(0, 90)])
    service = QueryWindows.of(window, since=since, until=until)
    times = list(range(-120, 120))
    for frontier in (0, 17, drawn.randint(-60, 110)):
        said = true_of(late_condition(service, window, "t", frontier), [{"t": t} for t in times])
        assert said == service.is_late(np.array(times), frontier).tolist()


@pytest.mark.parametrize(
    "window",
    [
        Calendar(range="2 months", slide="1 month", zone="Europe/Berlin"),
        Calendar(range="1 week"),
        Calendar(range="1 day", slide="3 days", zone="America/New_York"),
    ],
)
def test_calendar_windows(window: Calendar, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(3)
    times = drawn.integers(19_000 * DAY, 19_400 * DAY, 500)
    numbers = window.scale.numbers(times)
    monkeypatch.setattr(calendar_sql, "number", lambda window, units: "n")
    rows = [{"n": n} for n in numbers.tolist()]
    for since in (-FAR, 19_100 * DAY + 5, window.scale.time(window.scale.floor(19_100 * DAY))):
        service = QueryWindows.of(window, since=since, until=19_350 * DAY)
        for frontier in (0, 19_200 * DAY, 19_200 * DAY + 12_345, int(times.max())):
            said = true_of(late_condition(service, window, "t", frontier), rows)
            assert said == service.is_late(times, frontier).tolist()


def test_sessions_are_late_when_one_of_this_row_alone_is_over() -> None:
    window = Session(gap="1 second")
    service = QueryWindows.of(window, since=500_000)
    rows = [{"t": t} for t in (400_000, 500_000, 1_000_000, 1_000_001)]
    condition = late_condition(service, window, "t", 2_000_000)
    assert true_of(condition, rows) == [False, True, True, False]


def test_only_queries_that_lost_rows_are_looked_at_and_equal_ones_together() -> None:
    tens, fives = Window(range="10 seconds"), Window(range="5 seconds")
    queries = [
        Query("a", aggs={"n": "count(*)"}, window=tens, where="x > 1"),
        Query("b", aggs={"s": "sum(x)"}, window=tens, where="x > 1"),
        Query("c", aggs={"n": "count(*)"}, window=tens),
        Query("d", aggs={"n": "count(*)"}, window=fives),
    ]
    settings = Settings("ts", "timestamp", "0 seconds", (0,), 1, "append")
    catalogue = first_catalogue(optimize(queries), settings, {"x": "bigint"})
    numbers = {entry.query.name: entry.number for entry in catalogue.entries}
    services = tuple(QueryWindows.of(e.query.window, query=e.number) for e in catalogue.entries)
    tree = TreeProgram(1, ShardSchema((), ()), ((0, 1),), (), None, services, seam=-5)
    lost = Lost(60_000_000, {numbers["a"]: 1, numbers["b"]: 1, numbers["c"]: 1}, 0)
    found = losers(catalogue, Program(1, (tree,), 1, 1000, "append"), lost, "t")
    assert [(one.names, one.where) for one in found] == [(("a", "b"), "x > 1"), (("c",), None)]
    rows = [{"t": t} for t in (-6, -5, 49_999_999, 59_999_999, 60_000_000, 2**63 - 1)]
    assert true_of(found[0].condition, rows) == [False, True, True, True, False, False]


def test_times_at_the_ends_of_the_axis_do_not_overflow() -> None:
    """Times before the oldest are treated as it; times after the frontier are never added to."""
    held = f"least(greatest(t, {OLDEST}), 100)"
    window = Window(range=10, slide=5)
    condition = late_condition(QueryWindows.of(window), window, held, 100)
    rows = [{"t": -(2**63)}, {"t": 2**63 - 1}]
    assert true_of(condition, rows) == [True, False]
