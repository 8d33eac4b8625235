"""Calendar windows in a batch equal Spark's own grouping by date_trunc in the session's zone."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from agree import assert_agree, loom_of, settings
from engines import plain
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import weft
from weft.errors import WeftError, WindowError
from weft.query import zone
from weft.query.sql.reading import read_statements
from weft.spark import calendars
from weft.spark.verify.statements import verify_whole
from weft.spark.whole import WholeBatch

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "America/Sao_Paulo",
         "Australia/Lord_Howe")  # fmt: skip
DAY = 86_400_000_000
UNITS = ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
EDGES = (
    "1973-01-05", "1976-02-29", "2000-01-01", "2018-02-18", "2018-11-04", "2023-10-29",
    "2024-02-29", "2024-03-31", "2024-04-07", "2036-12-31",
)  # fmt: skip


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Rows around changes of clocks, ends of months and leap days."""
    chance = random.Random(11)
    starts = [datetime.fromisoformat(edge).replace(tzinfo=timezone.utc) for edge in EDGES]
    made = [
        (
            chance.choice(starts)
            + timedelta(minutes=30 * chance.randrange(-100, 100))
            + timedelta(microseconds=chance.choice([0, 0, -1, 7])),
            chance.choice("ab"),
            chance.randrange(100),
        )
        for _ in range(500)
    ]
    return spark.createDataFrame(made, "ts TIMESTAMP, k STRING, x INT").cache()


def query(name: str, window: weft.Window, **more: object) -> weft.Query:
    aggs = {"n": "count(*)", "total": "sum(x)", "spread": "max(x) - min(x)"}
    return weft.Query(name, aggs=aggs, window=window, by=["k"], **more)


def expected_rows(rows: DataFrame, unit: str, back: int) -> Counter:
    """Windows of `back` units every unit, by date_trunc and intervals in the session's zone."""
    start = f"date_trunc('{unit}', ts)"
    step = {"QUARTER": "INTERVAL 3 MONTHS"}.get(unit, f"INTERVAL 1 {unit}")

    def begin(moved: int) -> str:
        # Truncated again, because where there is no midnight, adding a day does not give its start.
        return f"date_trunc('{unit}', {start} + {moved} * {step})"

    pairs = ", ".join(
        f"struct({begin(-i)} AS start, {begin(back - i)} AS end)" for i in range(back)
    )
    spread = rows.selectExpr("k", "x", f"explode(array({pairs})) AS window")
    found = spread.groupBy("window", "k").agg(F.count("*"), F.sum("x")).collect()
    return Counter(plain(tuple(row)) for row in found)


@pytest.mark.parametrize("place", ZONES)
def test_windows_are_those_of_date_trunc(spark: SparkSession, rows: DataFrame, place: str) -> None:
    queries = {
        (unit, back): query(
            f"{unit}{back}", weft.Calendar(range=f"{back} {unit}", slide=f"1 {unit}", zone=place)
        )
        for unit in UNITS
        for back in (1, 3)
    }
    loom = loom_of(rows, [*queries.values(), query("hours", weft.Window(range="90 minutes"))])
    with settings(spark, {"spark.sql.session.timeZone": place}):
        with loom.run(strategy="share_all", keys="union") as results:
            assert len(results.batch.pieces) == 1
            long = [row.asDict() for row in results.all().collect()]
        for (unit, back), asked in queries.items():
            got = Counter(
                plain((row["window"], row["k"], row["n"], row["total"]))
                for row in long
                if row["query"] == asked.name
            )
            assert got == expected_rows(rows, unit, back), (unit, back)


MIXED = [
    query("months", weft.Calendar(range="1 month", zone="Europe/Berlin")),
    query("some", weft.Calendar(range="1 month", zone="Europe/Berlin"), where="x > 50"),
    query("sliding", weft.Calendar(range="3 months", slide="1 month"), where="x < 30"),
    query("gaps", weft.Calendar(range="1 month", slide="1 year", offset="2 months")),
    query("fiscal", weft.Calendar(range="1 year", offset="3 months", zone="Asia/Kolkata")),
    query("days", weft.Window(range="3 days", slide="12 hours"), having="count(*) > 1"),
]


@pytest.mark.parametrize("finals", ["auto", "naive", "flatfit"])
def test_every_structure_gives_the_plain_answers(rows: DataFrame, finals: str) -> None:
    assert assert_agree(loom_of(rows, MIXED), strategy="share_all", finals=finals) > 300


def test_every_engine_and_plan_gives_the_plain_answers(rows: DataFrame) -> None:
    loom = loom_of(rows, MIXED)
    for options in ({}, {"engine": "rewrite"}, {"strategy": "factor"}, {"strategy": "no_share"}):
        assert assert_agree(loom, **options) > 300
    assert "1 month every 1 year from 2 months, UTC" in loom.explain()


def test_gaps_alone_and_times_before_1970_in_utc(spark: SparkSession) -> None:
    chance = random.Random(3)
    first = datetime(1583, 1, 1, tzinfo=timezone.utc)
    made = [
        (first + timedelta(days=chance.randrange(800 * 365)), chance.choice("ab"), i)
        for i in range(300)
    ]
    old = spark.createDataFrame(made, "ts TIMESTAMP, k STRING, x INT")
    gaps = query("gaps", weft.Calendar(range="1 month", slide="1 quarter"))
    weeks = query("weeks", weft.Calendar(range="2 weeks", slide="1 week"))
    assert assert_agree(loom_of(old, [gaps]), finals="blocks") > 50
    assert assert_agree(loom_of(old, [gaps, weeks]), strategy="share_all") > 600


def test_answers_side_by_side(rows: DataFrame) -> None:
    """At each instant, each query has its newest complete window, never an older one."""
    asked = [query("m", weft.Calendar(range="3 months", slide="1 month", zone="Europe/Berlin")),
             query("d", weft.Window(range="40 days", slide="1 day"))]  # fmt: skip
    with loom_of(rows, asked).run() as results:
        wide = results.wide(["k"]).collect()
        ends = {(row["k"], row["window"]["end"]): row["n"] for row in results["m"].collect()}
    assert {(row["k"], row["time"]): row["n_3mo"] for row in wide
            if (row["k"], row["time"]) in ends} == ends  # fmt: skip
    window, held = asked[0].window, 0
    for row in wide:
        at = int(row["time"].replace(tzinfo=timezone.utc).timestamp()) * 1_000_000
        ends_by = [end for end in window.instances(at - 99 * DAY, at)[1].tolist() if end <= at]
        close = datetime.fromtimestamp(max(ends_by) / 1e6, timezone.utc)
        assert row["n_3mo"] == ends.get((row["k"], close.replace(tzinfo=None)))
        held += row["n_3mo"] is not None
    assert held > len(ends)


def test_times_without_a_zone(spark: SparkSession, rows: DataFrame) -> None:
    local = rows.selectExpr("CAST(ts AS TIMESTAMP_NTZ) AS ts", "k", "x")
    with pytest.raises(
        WindowError, match=r"TIMESTAMP_NTZ.*zone='UTC' to take the times as they are"
    ):
        loom_of(local, MIXED[:1]).run()
    utc = [q for q in MIXED if getattr(q.window, "zone", "UTC") == "UTC"]
    assert assert_agree(loom_of(local, utc), strategy="share_all") > 100


def test_what_cannot_be_right_is_refused(spark: SparkSession, rows: DataFrame) -> None:
    old = spark.createDataFrame([(datetime(1950, 1, 1), "a", 1)], rows.schema)
    loom = loom_of(old, MIXED[:2])
    with pytest.raises(Exception, match=r"starts at 1949|starts at 1950"):
        loom.run()["months"].collect()
    with pytest.raises(WeftError, match="a training set needs a fixed range before each moment"):
        weft.training_set(rows, [MIXED[0]], rows, time="ts", at="ts")
    loom = loom_of(rows, [query("s", weft.Calendar(range="1 day", zone="session"))])
    assert loom.queries[0].window.zone == spark.conf.get("spark.sql.session.timeZone")


def test_months_days_hours_and_windows_of_a_file_share_one_tree(
    spark: SparkSession, rows: DataFrame
) -> None:
    text = ";".join(
        f"SELECT {key} AS cut, k, count(*) AS n, sum(x) AS s FROM t GROUP BY {key}, k"
        for key in ("date_trunc('month', ts)", "to_date(ts)", "date_trunc('week', ts)",
                    "date_trunc('hour', ts)", "window(ts, '2 days', '1 day')")
    )  # fmt: skip
    with WholeBatch(spark, {"t": rows}, (), read_statements(text)) as batch:
        (loom,) = batch.looms.values()
        assert len(loom.queries) == 5
        assert len(loom.plan(strategy="share_all").trees) == 1
        report = verify_whole(batch)
    assert report.ok, report


def test_a_zone_that_java_knows_otherwise_is_served_from_when_they_agree(
    spark: SparkSession, rows: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = zone.zone_of("Europe/Paris")
    asked = query("months", weft.Calendar(range="1 month", zone="Europe/Paris"))
    monkeypatch.setattr(calendars, "_agreed", set())
    # Without the changes of 1976, one of its past summers differs.
    past = replace(real, changes=real.changes[2:], offsets=real.offsets[2:])
    monkeypatch.setattr(zone, "_known", {"Europe/Paris": past})
    calendars.check_calendars(rows, loom_of(rows, []).axis, [asked])
    summer = datetime.fromtimestamp(asked.window.scale.zone.since / 1e6, timezone.utc)
    assert (summer.year, summer.month) == (1976, 9)
    with pytest.raises(WindowError, match="known from 1976-09"):
        asked.window.scale.check(*asked.window.instances(0, 1))
    # Without the last ones, today's rules differ.
    today = replace(real, changes=real.changes[:-9], offsets=real.offsets[:-9])
    monkeypatch.setattr(calendars, "_agreed", set())
    monkeypatch.setattr(zone, "_known", {"Europe/Paris": today})
    with pytest.raises(
        WindowError, match=r"'months': zone='Europe/Paris': 2100-01-01 begins.*Java than by Python"
    ):
        calendars.check_calendars(rows, loom_of(rows, []).axis, [asked])
