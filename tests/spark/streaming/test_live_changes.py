"""Queries are added and dropped without a restart, if the stream projects what they need."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from same import assert_same, rows
from test_running import FIVE, TEN, batch_rows, feed_end, wait_for

from weft.errors import CheckpointError, EngineError, ExpressionError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import ForeachBatchSink, read_results
from weft.spark.loom import Loom
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.requests import Requests

BUSY = Query(
    "busy",
    aggs={"n": "count(*)", "s": "sum(x)"},
    window=Window(range="15 minutes", slide="3 minutes"),
    where="x > 2",
    by=["k"],
)
BUSIER = Query("busier", aggs=BUSY.aggs, window=BUSY.window, where="x > 5", by=["k"])
BY_G = Query("by_g", aggs={"s": "sum(y)"}, window=Window(range="4 minutes"), by=["g"])
RATIO = Query("ratio", aggs={"r": "max(100 / x)"}, window=Window(range="4 minutes"), where="x <> 0")


def run_of(running) -> str:
    """Spark's id of the run, which changes with every restart."""
    return str(running.last_query.runId)


def started(spark, feed, tmp_path, queries, offer=()):
    feed.minutes(0, 20)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes", offer=offer)
    for query in queries:
        loom.add(query)
    running = loom.start(
        str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), trigger="100 milliseconds"
    )
    wait_for(lambda: running.progress.batch >= 0)
    return running


def finished(feed, running) -> int:
    feed.end()
    wait_for(lambda: (running.progress.frontier or 0) > feed_end(feed))
    running.stop()
    return running.progress.frontier


def assert_complete(spark, feed, tmp_path, running, query, until) -> None:
    since = running.catalogue.entry(query.name).complete_from
    expected = batch_rows(spark, feed, query, since, until)
    assert len(expected) > 5
    assert_same(
        query.name, rows(read_results(spark, str(tmp_path / "out"), query.name).collect()), expected
    )


def test_changes_within_the_menu_do_not_restart(spark, feed, tmp_path):
    running = started(spark, feed, tmp_path, [FIVE, BUSY], offer=["y", "g"])
    run = run_of(running)
    running.add(TEN, backfill=True)  # another window over the kept slices
    running.add(BUSIER)  # another threshold
    running.add(BY_G)  # a key and an argument that are offered, in a tree of their own
    assert running.catalogue.batch == running.progress.batch + 1
    feed.minutes(20, 40)
    wait_for(lambda: running.progress.change == running.catalogue.number)
    running.pause("ten")
    running.resume("ten")
    running.drop("five")
    feed.minutes(40, 60)
    wait_for(lambda: running.progress.change == running.catalogue.number)
    assert run_of(running) == run
    until = finished(feed, running)
    for query in (BUSY, TEN, BUSIER, BY_G):
        assert_complete(spark, feed, tmp_path, running, query, until)


def test_what_is_not_projected_restarts_once_and_is_told_before(spark, feed, tmp_path):
    running = started(spark, feed, tmp_path, [FIVE])
    run = run_of(running)
    asked = [{"op": "add", "query": query} for query in (BY_G, RATIO)]
    assert set(running.needs(asked)) == {"y", "g", "100 / x", "a hash of g"}
    made = running.apply(asked)
    assert made["batch"] == running.catalogue.batch
    assert running.catalogue.number == 2  # one change for both
    assert run_of(running) != run
    run = run_of(running)
    running.drop("ratio")  # what it asked for goes on being projected, for nobody
    feed.minutes(20, 40)
    wait_for(lambda: running.progress.change == running.catalogue.number)
    assert run_of(running) == run
    until = finished(feed, running)
    assert_complete(spark, feed, tmp_path, running, BY_G, until)


def test_a_change_during_a_micro_batch_holds_from_the_next_on(spark, feed, tmp_path):
    """The running micro-batch is answered entirely by the program with which it began."""
    begun, go_on, seen = threading.Event(), threading.Event(), []

    def slow(name, answers, batch):
        seen.append((name, batch))
        if not begun.is_set():
            begun.set()
            assert go_on.wait(120)

    feed.minutes(0, 60)
    loom = Loom(feed.stream(spark), time="ts", watermark="0 seconds")
    loom.add(TEN)
    running = loom.start(
        ForeachBatchSink(slow), checkpoint=str(tmp_path / "ck"), trigger="100 milliseconds"
    )
    assert begun.wait(180)
    ran = running.progress.batch + 1
    changing = threading.Thread(target=running.add, args=(FIVE,))
    changing.start()
    changing.join(1.0)
    assert changing.is_alive()  # it waits for the micro-batch, while the stream continues
    go_on.set()
    changing.join(120)
    assert not changing.is_alive()
    assert running.catalogue.batch > ran
    feed.minutes(60, 120)
    wait_for(lambda: any(name == "five" for name, _ in seen))
    assert min(batch for name, batch in seen if name == "five") >= running.catalogue.batch
    running.stop()


def test_a_micro_batch_that_is_run_again_runs_by_what_it_ran_by(spark, feed, tmp_path):
    """This happens after a crash between a micro-batch's delivery and Spark's commit."""
    running = started(spark, feed, tmp_path, [FIVE, TEN])
    feed.minutes(20, 40)
    wait_for(
        lambda: running.progress.batch >= 1 and not running.last_query.status["isTriggerActive"]
    )
    running.drop("ten")  # holds from the next micro-batch on
    running.stop()
    last = running.progress.batch
    assert running.catalogue.batch == last + 1
    (Path(tmp_path) / "ck" / "commits" / str(last)).unlink()  # Spark has to run it again
    (Path(tmp_path) / "ck" / "commits" / f".{last}.crc").unlink(missing_ok=True)
    again = Loom(feed.stream(spark), time="ts", watermark="5 minutes").start(
        str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), trigger="100 milliseconds"
    )
    wait_for(lambda: again.last_query.lastProgress is not None)
    manifest = Path(tmp_path, "out", "_weft", "batches")
    assert [query.name for query in again.queries] == ["five"]
    assert again._versions.past.catalogue.number == again.catalogue.number - 1
    until = finished(feed, again)
    assert_complete(spark, feed, tmp_path, again, FIVE, until)
    assert manifest.exists()


def test_requests_are_seen_at_once_and_say_since_when(spark, feed, tmp_path):
    running = started(spark, feed, tmp_path, [FIVE])
    requests = Requests(str(tmp_path / "ck"))
    made = requests.wait(requests.ask_add(TEN), timeout=60)
    assert made["batch"] == running.catalogue.batch
    assert made["complete_from"]["ten"] == running.catalogue.entry("ten").complete_from
    body = [{"op": "drop", "name": "ten"}, {"op": "drop", "name": "nosuch"}]
    with pytest.raises(CheckpointError, match="no query 'nosuch'"):
        requests.wait(requests.ask_all(body), timeout=60)
    assert [query.name for query in running.queries] == ["five", "ten"]  # all or none
    running.add("SELECT count(*) AS n FROM t GROUP BY window(ts, '1 minute')", "first")
    other = "SELECT count(*) AS n FROM other GROUP BY window(ts, '1 minute')"
    with pytest.raises(EngineError, match="from table 'other'"):
        running.add(other, "second")
    running.stop()


def test_programs_are_taken_from_this_run_only(spark, feed, tmp_path):
    running = started(spark, feed, tmp_path, [FIVE])
    folder = Path(tmp_path, "ck", "weft", "programs")
    (program,) = folder.glob("*.program")
    sealed = json.loads((folder / "schedule.json").read_text())
    running.stop()
    assert program.stat().st_mode & 0o077 == 0
    assert running._versions.deployment.lookup.at(5)[0].number == json.loads(sealed["body"])[0][1]
    program.write_bytes(program.read_bytes() + b".")
    import weft.stream.deployment as deployment

    deployment._known.clear()
    with pytest.raises(CheckpointError, match="not what this run of the stream wrote"):
        running._versions.deployment.lookup.at(5)
    assert CatalogueFiles(str(tmp_path / "ck")).latest().number == 1


def test_an_offer_that_can_fail_is_refused(spark, feed, tmp_path):
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes", offer=["100 / x"])
    loom.add(FIVE)
    with pytest.raises(ExpressionError, match="try_divide"):
        loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes", offer=["nothing"])
    loom.add(FIVE)
    with pytest.raises(ExpressionError, match="offer: 'nothing'"):
        loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
