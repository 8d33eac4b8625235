"""A query over its own limit fails or is paused, as its owner chose; others are not affected."""

from __future__ import annotations

import pytest
from same import assert_same, rows
from test_failing_alone import assert_others_complete, start
from test_live_changes import finished
from test_running import batch_rows, wait_for

from weft.query.query import Query
from weft.query.query_limits import QueryLimits
from weft.query.window import Window
from weft.sinks import read_results

W = Window(range="4 minutes")


def by_x(name, **limits):
    """A query with about a group for every row."""
    return Query(name, aggs={"n": "count(*)"}, window=W, by=["x"], limits=limits)


def states(running):
    return {query.name: query.state for query in running.status().queries}


@pytest.mark.parametrize("mode", ["append", "update"])
def test_groups_and_answers(spark, feed, tmp_path, mode):
    """Some are far over the limit, and a worker stops them before computing answers; some fit."""
    asked = (
        by_x("groups", groups=3),
        by_x("answers", answers=3),
        by_x("paused", groups=3, over="pause"),
        by_x("fits", groups=1_000_000, answers=1_000_000, share=1.0, state_bytes=10**12),
    )
    feed.minutes(0, 30)
    running = start(spark, feed, tmp_path, *asked, mode=mode)
    wait_for(lambda: set(states(running).values()) == {"answering", "failed", "paused"})
    wait_for(lambda: len(running.catalogue.failed) == 2)
    said = {failure.query.name: failure.said for failure in running.catalogue.failed}
    assert "groups in one window: its limit is 3" in said["groups"]
    assert "answers in one micro-batch: its limit is 3" in said["answers"]
    assert "groups in one window: its limit is 3" in running.status().query("paused").why
    if mode == "update":
        running.stop()
        return
    until = finished(feed, running)
    status = running.status()
    assert states(running) == {
        **dict.fromkeys(("five", "ten", "fits"), "answering"),
        **dict.fromkeys(("groups", "answers"), "failed"),
        "paused": "paused",
    }
    fits = status.query("fits")
    assert fits.groups > 3
    assert fits.state_bytes > 0
    assert 0 < fits.share < 1
    assert fits.limits["groups"] == 1_000_000
    metrics = running.metrics()
    assert 'weft_query_limit{query="fits",limit="groups"} 1000000' in metrics
    assert f'weft_query_groups{{query="fits"}} {fits.groups}' in metrics
    assert 'weft_query_paused{query="paused"} 1' in metrics
    assert_others_complete(spark, feed, tmp_path, running, asked[-1], until=until)


def test_over_only_in_all_buckets_together(spark, feed, tmp_path):
    """No single bucket is over: the micro-batch is delivered, and the query removed after it."""
    feed.minutes(0, 10)
    first = start(spark, feed, tmp_path, by_x("all"))
    wait_for(lambda: first.status().query("all").groups > 10)
    most = first.status().query("all").groups - 1
    first.limit("all", groups=most, over="pause")
    assert first.catalogue.entry("all").query.limits == QueryLimits(groups=most, over="pause")
    feed.minutes(10, 30)
    wait_for(lambda: states(first)["all"] == "paused")
    assert f"its limit is {most}" in first.status().query("all").why
    first.limit("all")
    first.resume("all")
    assert first.status().query("all").why is None
    finished(feed, first)


def test_state_is_failed_whatever_was_chosen_and_share_needs_time(spark, feed, tmp_path):
    feed.minutes(0, 10)
    fat = by_x("fat", state_bytes=10, over="pause")
    greedy = by_x("greedy", share=0.01, over="pause")
    running = start(spark, feed, tmp_path, fat, greedy)
    wait_for(lambda: states(running)["fat"] == "failed")
    said = running.status().query("fat").failed
    assert "bytes of state: its limit is 10" in said
    running.limit("fat", state_bytes="1 GB")
    assert running.catalogue.failed[0].query.limits == QueryLimits(state_bytes=10**9)
    running.resume("fat")
    for minute in range(10, 40, 2):
        feed.minutes(minute, minute + 2)
        batch = running.progress.batch
        wait_for(lambda batch=batch: running.progress.batch > batch)
    wait_for(lambda: states(running)["greedy"] == "paused")
    assert "of the operator's time: its limit is 1%" in running.status().query("greedy").why
    until = finished(feed, running)
    assert states(running)["fat"] == "answering"
    since = running.catalogue.entry("fat").complete_from
    found = read_results(spark, str(tmp_path / "out"), "fat")
    found = found.where(f"window.start >= timestamp_micros({since})")  # some came before it failed
    assert_same("fat", rows(found.collect()), batch_rows(spark, feed, fat, since, until))
    assert_others_complete(spark, feed, tmp_path, running, until=until)
