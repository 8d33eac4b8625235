"""A query that fails, fails alone: the error names it and the cause; the others lose nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from same import assert_same, rows
from test_live_changes import finished
from test_running import FIVE, TEN, batch_rows, wait_for

from conftest import MINUTE, START
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import ForeachBatchSink, read_results
from weft.spark.loom import Loom

W = Window(range="4 minutes")
# Keys are letters, so none of them is a number; and x and g are now and then zero.
CAST = Query("cast", aggs={"s": "sum(CAST(k AS int))"}, window=W)
SOME = Query("some", aggs=CAST.aggs, window=W, where="g >= 0")
NONE = Query("none", aggs={"s": "sum(CAST(k AS int))"}, window=W, where="g < -1000")
DIVISION = Query("division", aggs={"r": "max(100 / (g - g))"}, window=W, by=["k"])
FILTERED = Query("filtered", aggs={"s": "sum(CAST(k AS int)) FILTER (WHERE b)"}, window=W)
KEY = Query("key", aggs={"n": "count(*)"}, window=W, by=["CAST(k AS int) AS number"])
WHERE = Query("where", aggs={"n": "count(*)"}, window=W, where="CAST(k AS int) > 5")
HAVING = Query(
    "having", aggs={"s": "sum(x)"}, window=W, having="CAST(concat('a', max(x)) AS int) > 1"
)
OUTPUT = Query("output", aggs={"r": "sum(x) / (count(*) - count(*))"}, window=W)
OVERFLOW = Query(
    "overflow", aggs={"s": "sum(x + 9000000000000000000L)"}, window=W, lateness="3 minutes"
)
PATIENT = Query("patient", aggs={"n": "count(*)"}, window=W, lateness="3 minutes")


def start(spark, feed, tmp_path, *queries, mode="append", sink=None):
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    for query in (FIVE, TEN, *queries):
        loom.add(query)
    return loom.start(
        sink or str(tmp_path / "out"),
        checkpoint=str(tmp_path / "ck"),
        trigger="100 milliseconds",
        output_mode=mode,
    )


def assert_others_complete(spark, feed, tmp_path, running, *others, until):
    for query in (FIVE, TEN, *others):
        found = rows(read_results(spark, str(tmp_path / "out"), query.name).collect())
        expected = batch_rows(spark, feed, query, None, until)
        assert_same(query.name, found, expected)
        assert len(expected) > 5 or query is NONE


def test_each_kind_of_failure_beside_queries_that_go_on(spark, feed, tmp_path):
    """They fail one after the other, each with its cause; the others lose nothing."""
    bad = {
        CAST: ("CAST_INVALID_INPUT", "sum(CAST(k AS int))"),
        DIVISION: ("DIVIDE_BY_ZERO", "max(100 / (g - g))"),
        FILTERED: ("CAST_INVALID_INPUT", "sum(CAST(k AS int)) FILTER (WHERE b)"),
        KEY: ("CAST_INVALID_INPUT", "CAST(k AS int) AS number"),
        WHERE: ("CAST_INVALID_INPUT", "CAST(k AS int) > 5"),
        HAVING: ("CAST_INVALID_INPUT", "CAST(concat('a', max(x)) AS int) > 1"),
        OUTPUT: ("DIVIDE_BY_ZERO", "sum(x) / (count(*) - count(*))"),
        OVERFLOW: ("sum overflows", ""),
    }
    feed.minutes(0, 30)
    running = start(spark, feed, tmp_path, PATIENT, *bad)
    feed.minutes(30, 60)
    wait_for(lambda: len(running.catalogue.failed) == len(bad))
    until = finished(feed, running)
    status = running.status()
    failed = {failure.query.name: failure for failure in running.catalogue.failed}
    assert set(failed) == {query.name for query in bad}
    for query, (cause, place) in bad.items():
        failure = failed[query.name]
        assert cause in failure.message, query.name
        assert failure.expression == place
        said = status.query(query.name).failed
        assert f"query {query.name!r} failed at micro-batch {failure.batch}" in said
        assert "weft query resume" in said
        assert f'weft_query_failed{{query="{query.name}"}} 1' in running.metrics()
    assert [query.state for query in status.queries] == ["answering"] * 3 + ["failed"] * len(bad)
    assert_others_complete(spark, feed, tmp_path, running, until=until)
    found = rows(read_results(spark, str(tmp_path / "out"), "patient").collect())
    assert_same("patient", found, batch_rows(spark, feed, PATIENT, None, until - 3 * MINUTE))


def test_of_queries_that_share_an_expression_those_fail_that_take_the_row(spark, feed, tmp_path):
    """One of them is guarded by its WHERE and the other is not; trying each alone shows which."""
    feed.minutes(0, 30)
    running = start(spark, feed, tmp_path, SOME, NONE)
    wait_for(lambda: running.catalogue.failed)
    until = finished(feed, running)
    assert [failure.query.name for failure in running.catalogue.failed] == ["some"]
    assert_others_complete(spark, feed, tmp_path, running, NONE, until=until)


def test_a_failed_query_is_resumed_dropped_or_replaced(spark, feed, tmp_path):
    feed.minutes(0, 20)
    running = start(spark, feed, tmp_path, CAST, DIVISION, KEY)
    wait_for(lambda: len(running.catalogue.failed) == 3)
    assert [query.name for query in running.queries] == ["five", "ten"]
    running.drop("division")
    mended = Query("key", aggs=KEY.aggs, window=W, by=["try_cast(k AS int) AS number"])
    running.add(mended)
    assert [failure.query.name for failure in running.catalogue.failed] == ["cast"]
    running.resume("cast")  # its rows are as they were, so it fails again
    assert running.catalogue.failed == ()
    assert running.catalogue.entry("cast").complete_from is not None
    feed.minutes(20, 40)
    wait_for(lambda: running.catalogue.failed)
    until = finished(feed, running)
    assert [failure.query.name for failure in running.catalogue.failed] == ["cast"]
    since = running.catalogue.entry("key").complete_from
    found = rows(read_results(spark, str(tmp_path / "out"), "key").collect())
    assert_same("key", found, batch_rows(spark, feed, mended, since, until))
    assert_others_complete(spark, feed, tmp_path, running, until=until)


def test_it_stays_failed_over_a_restart_and_in_update_mode(spark, feed, tmp_path):
    feed.minutes(0, 20)
    running = start(spark, feed, tmp_path, CAST, mode="update")
    wait_for(lambda: running.catalogue.failed)
    running.stop()
    again = start(spark, feed, tmp_path, CAST, mode="update")
    feed.minutes(20, 40)
    wait_for(lambda: again.progress.batch > running.progress.batch)
    assert [query.name for query in again.queries] == ["five", "ten"]
    assert [failure.query for failure in again.catalogue.failed] == [CAST]
    again.stop()


def test_answers_of_one_query_that_cannot_be_written(spark, feed, tmp_path):
    given = []

    def write(name, answers, batch):
        if name == "ten":
            raise OSError("no room for ten")
        given.extend((name, row) for row in answers.collect())

    feed.minutes(0, 40)
    running = start(spark, feed, tmp_path, sink=ForeachBatchSink(write))
    feed.minutes(40, 80)
    wait_for(lambda: running.catalogue.failed)
    wait_for(lambda: given)
    running.stop()
    (failure,) = running.catalogue.failed
    assert "no room for ten" in failure.message
    assert {name for name, _ in given} == {"five"}


def test_when_none_is_left_the_stream_stops_with_the_truth(spark, feed, tmp_path):
    feed.minutes(0, 20)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(CAST)
    running = loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
    with pytest.raises(EngineError, match="no query is left to answer: query 'cast' failed at"):
        running.await_termination(120)
    assert "CAST_INVALID_INPUT" in running.status().error


def test_a_leftover_of_a_dropped_query_fails_nobody(spark, feed, tmp_path):
    """Its expressions in the projection are evaluated until the stream is restarted."""
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(FIVE)
    loom.add(TEN)
    loom.add(Query("risky", aggs={"s": "sum(100 / (x - 500))"}, window=W))
    feed.minutes(0, 20)
    running = loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
    wait_for(lambda: running.progress.batch >= 0)
    running.drop("risky")
    feed.minutes(20, 40)
    until = finished(feed, running)
    assert running.catalogue.failed == ()
    assert_others_complete(spark, feed, tmp_path, running, until=until)


def test_a_change_and_a_failure_at_the_same_micro_batch(spark, feed, tmp_path):
    """The restart need not project what the last micro-batch needed, as Spark has finished it."""
    risky = Query("risky", aggs={"s": "sum(100 / (x - 500))"}, window=W)
    feed.minutes(0, 20)
    running = start(spark, feed, tmp_path, risky)
    wait_for(lambda: running.progress.batch >= 0)
    wait_for(lambda: not running.last_query.status["isTriggerActive"])
    running.pause("ten")
    running.resume("ten")  # a catalogue that holds from the next micro-batch on
    feed.put(START + np.arange(20, 40) * MINUTE, x=pa.array([500] * 20, pa.int64()))
    wait_for(lambda: running.catalogue.failed)
    until = finished(feed, running)
    assert [failure.query.name for failure in running.catalogue.failed] == ["risky"]
    assert_others_complete(spark, feed, tmp_path, running, until=until)


def test_an_error_without_a_place_is_traced_by_trying_the_queries_apart(spark, feed, tmp_path):
    """A Python function that raises, and errors in outputs for which Spark gives no position."""

    def picky(value):
        if value == "c":
            raise ValueError("c is not for me")
        return 1

    spark.udf.register("picky", picky, "int")
    causes = {"function": "c is not for me", "twice": "DUPLICATED", "output": "DUPLICATED"}
    outputs = {
        "function": "sum(picky(k))",
        "twice": f"sum({twice('k')})",
        "output": twice("max(k)"),
    }
    bad = [Query(name, aggs={"s": sql}, window=W) for name, sql in outputs.items()]
    feed.minutes(0, 30)
    running = start(spark, feed, tmp_path, *bad)
    wait_for(lambda: len(running.catalogue.failed) == len(bad), seconds=100)
    until = finished(feed, running)
    failed = {failure.query.name: failure.message for failure in running.catalogue.failed}
    assert failed.keys() == causes.keys()
    assert all(cause in failed[name] for name, cause in causes.items())
    assert not (tmp_path / "ck" / "weft" / "trial").exists()
    assert_others_complete(spark, feed, tmp_path, running, until=until)


def twice(key):
    """SQL that fails without Spark saying where it is in the query."""
    return f"size(map_from_arrays(array({key}, lower({key})), array(1, 2)))"


def test_answers_that_a_folder_or_a_table_does_not_take(spark, feed, tmp_path):
    """There is a file in place of the folder of one query."""
    feed.minutes(0, 40)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ten").write_text("in the way")
    running = start(spark, feed, tmp_path)
    wait_for(lambda: running.catalogue.failed)
    until = finished(feed, running)
    (failure,) = running.catalogue.failed
    assert failure.query.name == "ten"
    assert "its answers cannot be written" in failure.message
    found = rows(read_results(spark, str(tmp_path / "out"), "five").collect())
    assert_same("five", found, batch_rows(spark, feed, FIVE, None, until))
