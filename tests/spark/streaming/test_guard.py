"""Rows years ahead are set aside, and windows stay open for the following rows."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest
from same import AXIS, assert_same, rows

from weft.engine.preaggregate import set_aside
from weft.errors import CheckpointError, EngineError
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import MemorySink, read_results
from weft.spark.streaming.launch import settings
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native
from weft.stream.deployment import Lookup
from weft.stream.future_rows import Guard
from weft.stream.progress import Progress, ProgressFile

MINUTE = 60_000_000
YEAR = 365 * 24 * 60 * MINUTE
TEN = Query("ten", aggs={"n": "count(*)"}, window=Window(range="10 minutes"), by=["k"])


@pytest.mark.parametrize(
    ("given", "limit"),
    [("auto", 86_400_000_000), ("off", None), (None, None), ("2 hours", 7_200_000_000)],
)
def test_what_is_accepted(given, limit):
    assert Guard.of(given, AXIS).limit == limit


@pytest.mark.parametrize("limit", [0, 1, 999, 86_400_000_000])
@pytest.mark.parametrize("floor", [0, 1_800_000_000_000_000])
def test_sql_and_arrow_set_the_same_rows_aside(spark, limit, floor):
    clock, guard = 1_700_000_000_123_000, Guard(limit, floor)
    times = [max(clock, floor) + limit, max(clock, floor) + limit + 1]
    sql = guard.condition("t").replace("unix_micros(current_timestamp())", f"{clock}L")
    listed = ", ".join(f"({one}L)" for one in times)
    found = spark.sql(f"SELECT {sql} AS ahead FROM VALUES {listed} AS v(t)").collect()
    assert found == [(False,), (True,)]
    kept, aside = set_aside(pa.table({"t": times}), guard.latest(clock))
    assert (kept.column("t").to_pylist(), aside) == (times[:1], 1)


def test_the_clock_is_the_one_that_spark_logs(spark, feed, tmp_path):
    """This also holds when a micro-batch is repeated, on which `read_again` relies."""
    feed.minutes(0, 15)
    checkpoint = str(tmp_path / "ck")
    stream = feed.stream(spark).selectExpr("unix_micros(current_timestamp()) AS now")
    writer = stream.writeStream.option("checkpointLocation", checkpoint)
    seen: list[int] = []
    writer.foreachBatch(lambda frame, number: seen.append(frame.first()[0])).trigger(
        availableNow=True
    ).start().awaitTermination()
    lookup = Lookup(f"{checkpoint}/weft/programs", b"")
    assert seen
    assert [lookup.clock(batch) for batch in range(len(seen))] == seen


def test_a_log_without_a_clock_is_told(tmp_path):
    offsets = tmp_path / "offsets"
    offsets.mkdir()
    lookup = Lookup(f"{tmp_path}/weft/programs", b"")
    for text in ("v1", "v1\n{}\n", "v1\nnot json\n", "v1\n[]\n"):
        (offsets / "3").write_text(text)
        with pytest.raises(CheckpointError, match=r"offsets/3 does not tell .* max_ahead='off'"):
            lookup.clock(3)


def test_steady_micro_batches_compile_nothing_of_ours(spark, feed, tmp_path):
    """Code that is compiled again in every micro-batch would be interpreted most of the time."""
    for minute in range(8):
        feed.minutes(minute, minute + 1)
    compiled: list[int] = []
    metrics = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics

    class Counting(MemorySink):
        def deliver(self, batch):
            figures = super().deliver(batch)
            compiled.append(metrics.METRIC_COMPILATION_TIME().getCount())
            return figures

    given = {"checkpoint": str(tmp_path / "ck"), "trigger": "available_now"}
    given |= {"watermark": "5 minutes"}
    with settings(spark, {"spark.sql.codegen.wholeStage": "true"}):
        start(feed.stream(spark), AXIS, Counting(), queries=[TEN], **given).await_termination()
    # Spark itself compiles a predicate for each watermark.
    assert np.diff(compiled)[3:7].max() <= 1


def test_what_is_refused():
    with pytest.raises(EngineError, match=r"max_ahead='soon'.*also accepted are 'off'"):
        Guard.of("soon", AXIS)
    with pytest.raises(EngineError, match="must not be negative"):
        Guard.of("-1 hour", AXIS)
    with pytest.raises(EngineError, match="is an integer, which cannot be compared"):
        Guard.of("1 hour", TimeAxis("n", "integer"))
    assert Guard.of("auto", TimeAxis("n", "integer")).limit is None


def test_a_clock_that_is_not_set_is_not_believed():
    with pytest.raises(EngineError, match=r"1970-01-01 00:00:05 UTC, so it is not set"):
        Guard(limit=10).check_clock(5_000_000, None)
    Guard(limit=None).check_clock(5_000_000, 2**62)


@pytest.mark.parametrize("engine", ["operator", "rewrite"])
def test_a_row_years_ahead_closes_no_window(spark, feed, tmp_path, engine):
    out, given = str(tmp_path / "out"), {"checkpoint": str(tmp_path / "ck")}
    given |= {"trigger": "available_now", "watermark": "5 minutes"}
    if engine == "rewrite":
        given |= {"engine": "rewrite", "strategy": "coverage"}
    far = time.time_ns() // 1000 + 3 * YEAR
    feed.minutes(0, 15)
    # Spark's own operators fail on times whose windows overflow; weft's operator accepts any time.
    past = -(2**63) if engine == "operator" else -62_135_596_800_000_000
    feed.put(np.array([far, 2**63 - 1, past, past + 1]))
    feed.minutes(11, 30)
    feed.end()
    running = start(feed.stream(spark), AXIS, out, queries=[TEN], **given)
    running.await_termination()
    status = running.status()
    assert status.ahead_rows == 2
    assert "weft_ahead_rows_total 2\n" in running.metrics()
    if engine == "operator":
        assert running.progress.max_event_time < far
        assert status.query("ten").late_rows == 2  # those before 1970
    expected = native(feed.batch(spark).where("year(ts) between 2000 and 2024"), AXIS, TEN)
    found = rows(read_results(spark, out, "ten").collect())
    assert_same("ten", found, rows(expected.collect()))
    assert len(found) > 20


def test_the_guard_is_off_where_that_is_asked(spark, feed, tmp_path):
    sink = MemorySink()
    feed.put(np.array([time.time_ns() // 1000 + YEAR]))
    feed.put(np.array([time.time_ns() // 1000 + 2 * YEAR]))
    given = {"checkpoint": str(tmp_path / "ck"), "trigger": "available_now"}
    given |= {"watermark": "5 minutes", "max_ahead": "off"}
    running = start(feed.stream(spark), AXIS, sink, queries=[TEN], **given)
    running.await_termination()
    assert running.status().ahead_rows == 0
    assert len(sink.rows["ten"]) == 1


def test_a_clock_that_goes_back_stops_the_stream_and_loses_nothing(spark, feed, tmp_path):
    """The clock was right until yesterday's run, and is ten days behind today."""
    out, given = str(tmp_path / "out"), {"checkpoint": str(tmp_path / "ck")}
    given |= {"trigger": "available_now", "watermark": "5 minutes"}
    now = time.time_ns() // 1000
    feed.minutes(0, 15)
    running = start(feed.stream(spark), AXIS, out, queries=[TEN], **given)
    running.await_termination()
    before = running.progress
    assert before.clock >= now
    right = Progress(**{**before.__dict__, "clock": now + 240 * 60 * MINUTE})
    ProgressFile(given["checkpoint"]).write(right)
    with pytest.raises(EngineError, match=r"the clock says .* has said .* set it and start"):
        start(feed.stream(spark), AXIS, out, **given)
    # Rows at the real time count, whatever the clock says, because of the floor.
    feed.put(np.array([now + 239 * 60 * MINUTE] * 5), k=["a"] * 5)
    condition = (
        Guard.of("auto", AXIS).since(right.max_event_time, right.clock).condition("unix_micros(ts)")
    )
    assert feed.batch(spark).where(condition).count() == 0
