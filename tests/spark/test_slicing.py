"""Slices on Spark: every method finds the greatest edge, and windows of slices equal Spark's."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weft.engine.slicing.edges import TreeEdges, windows_of
from weft.engine.slicing.lookup import NO_SLICE
from weft.engine.slicing.method import SliceMethod, choose_method
from weft.errors import EngineError
from weft.plan.time_axis import TimeAxis
from weft.query.window import Window
from weft.spark.batch.slicing import SLICE, SliceSearch, slice_column, with_slices

SECOND = 1_000_000
SPARK = settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take many jobs
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
trees = st.lists(
    st.builds(
        lambda r, s, o: Window.of_units(r * SECOND, s * SECOND, o * SECOND // 4, "time"),
        st.integers(1, 40),
        st.integers(1, 30),
        st.integers(-500, 500),
    ),
    min_size=1,
    max_size=7,
)


def brute(times: list[int | None], edges: TreeEdges) -> list[int | None]:
    """The greatest edge, in Python's integers."""
    pairs = list(zip(edges.offset.tolist(), edges.step.tolist(), strict=True))
    return [None if t is None else max(t - (t - o) % s for o, s in pairs) for t in times]


def methods(edges: TreeEdges, span: tuple[int, int]) -> list[SliceMethod]:
    """Every possible method, including tables for one period and for a span."""
    found = [choose_method(edges, kind="greatest"), choose_method(edges, kind="search")]
    for table in (edges.lookup_table(1 << 16), edges.span_table(*span, 1 << 16)):
        if table is not None:
            found.append(SliceMethod("lookup", "test", table))
    return found


@given(st.lists(trees, min_size=2, max_size=3), st.lists(st.integers(-300, 300), max_size=20))
@SPARK
def test_every_way_gives_the_greatest_edge(
    spark: SparkSession, drawn: list[list[Window]], seconds: list[int]
) -> None:
    listed = [TreeEdges.of_windows(windows) for windows in drawn]
    hits = [int(e) for edges in listed for e in edges.edges_between(-60 * SECOND, 60 * SECOND)[:30]]
    near = [hit + step for hit in hits for step in (-1, 0, 1)]
    far = [-62_135_596_800 * SECOND, 253_402_300_799 * SECOND]
    times: list[int | None] = [*near, *far, *(s * SECOND + 7 for s in seconds), None]
    df = spark.createDataFrame([(t,) for t in times], "t bigint").coalesce(1)
    ways = [(edges, way) for edges in listed for way in methods(edges, (min(near), max(near)))]
    columns = [slice_column("t", *way).alias(f"c{i}") for i, way in enumerate(ways)]
    found = list(zip(*df.select(*columns).collect(), strict=True))
    for (edges, way), slices in zip(ways, found, strict=True):
        expected = brute(times, edges)
        if way.kind == "search" or (way.kind == "lookup" and way.table.repeats):
            starts = np.array([NO_SLICE if e is None else e for e in expected])
            needed = edges.needed(starts)
            expected = [e if n else None for e, n in zip(expected, needed, strict=True)]
        kept = [(t, a, b) for t, a, b in zip(times, slices, expected, strict=True) if a != b]
        if way.kind == "lookup" and not way.table.repeats:
            # Rows in slices that are in no window are dropped if the table shows it.
            kept = [(t, a, b) for t, a, b in kept if a is not None or edges.needed([b])[0]]
        assert not kept, way


@given(trees)
@SPARK
def test_windows_of_slices_are_sparks_windows(spark: SparkSession, drawn: list[Window]) -> None:
    windows = [w for w in drawn if w.slide <= w.range] or [Window(range="10 seconds")]
    edges = TreeEdges.of_windows(windows)
    random = np.random.default_rng(len(drawn))
    times = [*random.integers(-90, 90, 40).tolist(), 0, -1]
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
    stamps = [epoch + dt.timedelta(seconds=t) for t in times]
    df = spark.createDataFrame([(s,) for s in stamps], "ts timestamp").coalesce(1)
    own = with_slices(df, TimeAxis("ts").units(), edges, choose_method(edges))
    sparks = [
        df.select(
            F.lit(i).alias("w"),
            F.unix_micros(
                F.window(
                    "ts",
                    f"{w.range} microseconds",
                    f"{w.slide} microseconds",
                    f"{w.phase} microseconds",
                ).start
            ).alias("start"),
        )
        for i, w in enumerate(windows)
    ]
    rows = own.select(F.lit(-1).alias("w"), F.col(SLICE).alias("start"))
    for one in sparks:
        rows = rows.unionAll(one)
    counted = Counter(tuple(row) for row in rows.collect())
    slices = {start: n for (w, start), n in counted.items() if w == -1}
    starts = np.array(list(slices))
    ends = edges.slice_end(starts)
    for i, window in enumerate(windows):
        found: Counter[int] = Counter()
        first, count = windows_of(window, starts, ends)
        for low, many, rows_in in zip(first, count, slices.values(), strict=True):
            found.update({int(low) + k * window.slide: rows_in for k in range(int(many))})
        assert found == Counter({start: n for (w, start), n in counted.items() if w == i})


ZONES = ("UTC", "America/New_York", "Asia/Kathmandu")


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz", "date"])
def test_times_of_every_type_as_window_sees_them(spark: SparkSession, kind: str) -> None:
    values = ["1969-12-31 23:59:59.999999", "2024-03-10 02:30:00", "2024-11-03 01:30:00.000001"]
    values += ["0001-01-01 00:00:00", "9999-12-31 00:00:00", "1970-01-01 00:00:00"]
    edges = TreeEdges.of_windows([Window(range="1 hour", offset="7 minutes")])
    method = choose_method(edges)
    axis = TimeAxis("v", kind)  # type: ignore[arg-type]
    try:
        for zone in ZONES:
            spark.conf.set("spark.sql.session.timeZone", zone)
            df = spark.createDataFrame([(v,) for v in [*values, None]], "v string")
            df = df.select(F.col("v").cast(kind).alias("v")).coalesce(1)
            window = F.window("v", "1 hour", "1 hour", "7 minutes").start
            ours = with_slices(df, axis.units(), edges, method)
            pairs = ours.select(window.alias("a"), F.expr(axis.instant(SLICE)).alias("b"))
            rows = pairs.select(F.count("*"), F.count_if(F.expr("a <=> b"))).collect()
            assert tuple(rows[0]) == (6, 6), zone
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_rows_that_no_window_takes_are_dropped(spark: SparkSession) -> None:
    edges = TreeEdges.of_windows([Window(range=3, slide=10)])
    df = spark.range(-10, 20).selectExpr("CAST(id AS INT) AS t")
    df = df.unionAll(spark.sql("SELECT CAST(NULL AS INT) AS t"))
    kept = [t for t in range(-10, 20) if t % 10 < 3]
    for kind in ("lookup", "search"):
        method = choose_method(edges, kind=kind)  # type: ignore[arg-type]
        rows = with_slices(df, "CAST(t AS BIGINT)", edges, method).collect()
        assert sorted(rows) == [(t, t - t % 10) for t in kept]


def test_whole_batches_can_be_sliced(spark: SparkSession) -> None:
    edges = TreeEdges([(0, 5), (2, 7)])
    df = spark.range(-50, 50).selectExpr("id", "IF(id % 9 = 0, NULL, id) AS t")
    add = SliceSearch(edges).batches("t")
    rows = df.mapInArrow(add, f"id bigint, t bigint, {SLICE} bigint").collect()
    times = [row["t"] for row in rows]
    assert [row[SLICE] for row in rows] == brute(times, edges)
    assert None in times


def test_a_filter_on_the_slice_is_not_pushed_into_its_computation(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    edges = TreeEdges([(0, 5), (2, 7), (3, 11)])
    df: DataFrame = spark.range(10)
    out = with_slices(df, "id", edges, choose_method(edges, kind="lookup"))
    out.where(f"{SLICE} > 3").groupBy(SLICE).count().explain()
    filters = [line for line in capsys.readouterr().out.splitlines() if "Filter" in line]
    assert filters
    assert not any("pmod" in line for line in filters)


def test_a_table_method_without_a_table_is_refused() -> None:
    with pytest.raises(EngineError, match="no table"):
        slice_column("t", TreeEdges([(0, 5)]), SliceMethod("lookup", "none"))
