"""Queries with history: rows before the seam are read from a table, later ones from the stream."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from same import AXIS, assert_same, rows
from test_running import wait_for

from conftest import MINUTE, SCHEMA, START, Feed
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.sinks import read_results
from weft.spark.streaming.as_of_checkpoint import answer_from
from weft.spark.streaming.changes import add_with_history
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native
from weft.stream.catalogue_files import CatalogueFiles

FIVE = Query(
    "five",
    aggs={"n": "count(*)", "s": "sum(x)"},
    window=Window(range="20 minutes", slide="5 minutes"),
    by=["k"],
)
LONG = Query(
    "long",
    aggs={"n": "count(*)", "s": "sum(x)", "mid": "median(x)", "who": "max_by(k, ts)"},
    window=Window(range="3 hours", slide="5 minutes"),
    by=["k"],
    where="x > 2",
)
SHARED = Query(
    "shared",  # in the tree of FIVE: of the windows before the seam it has a store of its own
    aggs={"n": "count(*)", "s": "sum(x)", "lo": "min(y)"},
    window=Window(range="1 hour", slide="5 minutes"),
    by=["k"],
)
WIDE = Query(
    "wide",  # no keys, so that it cannot be in a tree with the others' buckets
    aggs={"n": "count(*)", "hi": "max(y)"},
    window=Window(range="2 hours", slide="10 minutes"),
    where="b",
)


def go(spark, feed, tmp_path, queries=(), **more):
    return start(
        feed.stream(spark),
        AXIS,
        str(tmp_path / "out"),
        checkpoint=str(tmp_path / "ck"),
        watermark="5 minutes",
        queries=queries,
        **{"trigger": "available_now", **more},
    )


def table(spark, *folders: Path):
    return spark.read.schema(SCHEMA).parquet(*map(str, folders))


def entry_of(tmp_path, name: str):
    catalogue = CatalogueFiles(str(tmp_path / "ck")).latest()
    entry = catalogue.entry(name)
    stores = {store.number: store for store in catalogue.stores}
    (seam,) = {s.seam for a in entry.assignments if (s := stores[a.store]).seam is not None}
    return entry, seam


def check(spark, tmp_path, query, history, stream, since: int, seam: int) -> int:
    """Check that answers are those over the history before the seam and the stream's later rows."""
    counted = history.where(f"unix_micros(ts) < {seam}").unionAll(
        stream.where(f"unix_micros(ts) >= {seam}")
    )
    expected = native(counted, AXIS, query).where(f"unix_micros(window.start) >= {since}")
    expected = expected.where(f"unix_micros(window.end) < {START + 500_000 * MINUTE}").collect()
    found = read_results(spark, str(tmp_path / "out"), query.name)
    names = expected[0].asDict().keys()
    assert_same(
        query.name,
        rows(tuple(row[name] for name in names) for row in found.collect()),
        rows(expected),
    )
    return len(expected)


@pytest.fixture
def past(tmp_path) -> Feed:
    """Four hours of rows before the stream's first."""
    made = Feed(tmp_path / "past", seed=7)
    made.minutes(-240, 0, rows=900)
    return made


def test_a_late_query_is_complete_at_once(spark, feed, past, tmp_path):
    feed.minutes(0, 12)
    feed.minutes(10, 25, late=4)
    running = go(spark, feed, tmp_path, [FIVE], trigger="100 milliseconds")
    wait_for(lambda: (running.progress.max_event_time or 0) > START + 20 * MINUTE)
    checkpoint = str(tmp_path / "ck")
    frozen = tmp_path / "frozen"  # the table's content when it is read
    shutil.copytree(feed.folder, frozen)
    history = table(spark, past.folder, frozen)
    running.add(LONG, history=history)
    running.add(SHARED, history=history)
    asked = [{"op": "add", "query": WIDE.to_dict()}]  # as another process asks for it
    by, _ = add_with_history(
        checkpoint, asked, lambda: (feed.stream(spark), AXIS, None), lambda: history
    )
    assert by == "running"
    stores = [len(entry.assignments) for entry in running.catalogue.entries]
    assert stores == [1, 1, 2, 1]  # the shared one is handed over
    _, seam = entry_of(tmp_path, "shared")
    added = CatalogueFiles(str(tmp_path / "ck")).latest()
    with pytest.raises(EngineError, match="'visits': sessions cannot have a history"):
        running.add(Query("visits", aggs={"n": "count(*)"}, window=Session(gap="9 minutes")),
                    history=history)  # fmt: skip
    with pytest.raises(EngineError, match="'ts' is date, and timestamp on the stream"):
        running.add(WIDE, "again", history=history.selectExpr("CAST(ts AS DATE) AS ts", "b"))
    assert [query.name for query in running.queries] == ["five", "long", "shared", "wide"]

    feed.minutes(22, 40, late=30)  # some before the seam: they are the history's
    wait_for(lambda: running.progress.max_event_time > START + 30 * MINUTE)
    running.stop()
    feed.minutes(40, 60, late=3)
    feed.minutes(60, 200)
    feed.end()
    running = go(spark, feed, tmp_path)
    running.await_termination()
    for query in (LONG, SHARED, WIDE):
        (entry,) = (e for e in added.entries if e.query.name == query.name)
        assert seam > START + 20 * MINUTE
        assert entry.complete_from < START - 20 * MINUTE
        stream = feed.batch(spark)
        assert check(spark, tmp_path, query, history, stream, entry.complete_from, seam) > 20
    plain = native(feed.batch(spark), AXIS, FIVE)
    assert len(read_results(spark, str(tmp_path / "out"), "five").collect()) <= plain.count()


def test_a_stream_starts_with_its_past_and_a_crash_changes_nothing(spark, feed, past, tmp_path):
    history = table(spark, past.folder)
    feed.minutes(-10, 15)  # overlaps the history, which is taken before the seam
    every = [FIVE, LONG, WIDE]
    go(spark, feed, tmp_path, every, history=history, trigger="once").await_termination()
    for name in ("0", ".0.crc"):  # as if the driver had died before Spark committed it
        (tmp_path / "ck" / "commits" / name).unlink()
    feed.minutes(15, 40, late=3)
    go(spark, feed, tmp_path, every, history=history).await_termination()
    feed.minutes(40, 200)
    feed.end()
    go(spark, feed, tmp_path).await_termination()
    for query in (FIVE, LONG, WIDE):
        entry, seam = entry_of(tmp_path, query.name)
        assert START - 10 * MINUTE < seam <= START
        stream = feed.batch(spark)
        assert check(spark, tmp_path, query, history, stream, entry.complete_from, seam) > 20


def test_a_query_that_waits_when_the_stream_ends_is_gone_when_it_starts(spark, feed, tmp_path):
    feed.minutes(0, 12)
    running = go(spark, feed, tmp_path, [FIVE])
    running.await_termination()
    running.apply([{"op": "add", "query": LONG, "history": True}])
    with pytest.raises(EngineError, match="waits for its history"):
        running.answer("long")
    feed.minutes(12, 14)
    running = go(spark, feed, tmp_path)
    running.await_termination()
    assert [query.name for query in running.queries] == ["five"]
    nothing = table(spark, feed.folder).where("false")
    asked = [{"op": "add", "query": LONG.to_dict()}]
    rows = (feed.stream(spark), AXIS, None)
    checkpoint = str(tmp_path / "ck")
    assert add_with_history(checkpoint, asked, lambda: rows, lambda: nothing)[0] == "stored"
    with pytest.raises(EngineError, match="its history is in the state from micro-batch"):
        answer_from(spark, checkpoint, "long")
    feed.put(np.array([START + 20 * MINUTE]))
    running = go(spark, feed, tmp_path)
    running.await_termination()
    assert running.answer("long").open
