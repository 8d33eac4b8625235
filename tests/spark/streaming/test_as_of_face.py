"""As-of answers of a running stream, in its process, from others and over HTTP; and afterwards."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from click.testing import CliRunner
from same import AXIS
from starlette.testclient import TestClient
from test_running import wait_for

from conftest import MINUTE, START
from weft.cli.main import cli
from weft.errors import CheckpointError, EngineError
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.serve.app import make_app
from weft.serve.guard import Policy
from weft.serve.source import open_source
from weft.sinks import MemorySink
from weft.spark.loom import Loom
from weft.spark.streaming.as_of_checkpoint import answer_from
from weft.spark.verify.native import native

HOUR = Query(
    "hour", aggs={"n": "count(*)", "s": "sum(x)"}, window=Window(range="1 hour"), by=["k", "g"]
)
VISITS = Query("visits", aggs={"n": "count(*)"}, window=Session(gap="1 hour"))
TOP = """SELECT k, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), k
QUALIFY row_number() OVER (PARTITION BY window ORDER BY count(*) DESC, k) <= 2"""


def counts(spark, feed, **keys) -> dict:
    rows = native(feed.batch(spark), AXIS, HOUR).collect()
    last = max(row["window"]["end"] for row in rows)
    return {
        (row["k"], row["g"]): (row["n"], row["s"])
        for row in rows
        if row["window"]["end"] == last and all(row[name] == keys[name] for name in keys)
    }


def told(answer) -> dict:
    return {(row["k"], row["g"]): (row["n"], row["s"]) for row in answer.rows()}


def test_beside_a_running_stream_and_after_it(spark, feed, tmp_path):
    checkpoint = str(tmp_path / "ck")
    feed.minutes(0, 3, rows=200)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(HOUR)
    loom.add(VISITS)
    loom.add(TOP, name="top")
    running = loom.start(MemorySink(), checkpoint=checkpoint, trigger="100 milliseconds")
    wait_for(lambda: running.progress.batch >= 0)
    feed.minutes(3, 6, rows=100)
    wait_for(lambda: running.progress.max_event_time > START + 3 * MINUTE)
    wait_for(lambda: running.answer("hour").batch >= running.progress.batch)

    # In the stream's own process.
    whole = running.answer("HOUR")
    assert told(whole) == counts(spark, feed)
    assert whole.open
    assert whole.window[0] <= running.progress.max_event_time < whole.window[1]
    one = running.answer("hour", keys={"k": "a", "G": 1})
    assert told(one) == counts(spark, feed, k="a", g=1)
    assert told(running.answer("hour", keys={"k": None})) == counts(spark, feed, k=None)
    assert told(running.answer("hour", keys={"g": "2"})) == counts(spark, feed, g=2)
    assert len(running.answer("hour", keys={"k": "nobody"})) == 0
    end = datetime.fromtimestamp(whole.window[1] / 1e6, timezone.utc)
    assert running.answer("hour", at=end).window == whole.window
    with pytest.raises(EngineError, match="max_age=5: accepted are '5 seconds'"):
        running.answer("hour", max_age=5)
    last = running.answer("hour")
    assert running.answer("hour", max_age="1 hour").table is last.table
    (visit,) = running.answer("visits").rows()
    assert visit["n"] == 300
    counted = sorted(((-row["n"], row["k"]) for row in running.answer("top").rows()), key=str)
    assert len(counted) == 2

    # Questions that cannot be answered.
    refused = [
        ({"name": "nobody"}, CheckpointError, "no query 'nobody'.*'hour'"),
        ({"name": "hour", "keys": {"z": 1}}, EngineError, "no key 'z'; its keys are 'k', 'g'"),
        ({"name": "hour", "keys": {"g": "many"}}, EngineError, "g='many' is no int"),
        ({"name": "hour", "at": "soon"}, EngineError, "'soon' is not a time"),
        ({"name": "hour", "at": 7}, EngineError, "at=7: expected a time"),
        ({"name": "visits", "at": "2026-01-01"}, EngineError, "leave at='2026-01-01' out"),
        ({"name": "hour", "at": "2033-01-01"}, EngineError, "no row of its window.*latest row"),
        (
            {"name": "hour", "at": "2020-01-01"},
            EngineError,
            "closed, and its answers went to Mem",
        ),
    ]
    for asked, kind, said in refused:
        with pytest.raises(kind, match=said):
            running.answer(**asked)

    # From other processes: a command, and a program over HTTP.
    result = CliRunner().invoke(cli, ["ask", checkpoint, "hour", "--key", "k=a", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert (found["open"], found["groups"]) == (True, 3)
    assert found["batch"] >= whole.batch  # micro-batches without rows go on
    assert [column["name"] for column in found["columns"]] == ["k", "g", "n", "s"]
    expected = counts(spark, feed, k="a")
    assert {(k, g): (n, s) for k, g, n, s in found["rows"]} == expected
    shown = CliRunner().invoke(cli, ["ask", checkpoint, "hour", "--limit", "2"])
    assert "open, more rows may come" in shown.output
    assert "of which 2 are shown" in shown.output
    missing = CliRunner().invoke(cli, ["ask", checkpoint, "nobody"])
    assert missing.exit_code == 2
    assert "no query 'nobody'" in missing.output
    app = make_app(open_source(checkpoint), Policy(None))
    client = TestClient(app, base_url="http://127.0.0.1:8787")
    asked = {"query": "hour", "key": ["k=a", "g=1"]}
    answered = client.get("/api/answers", params=asked).json()
    assert answered["rows"] == [["a", 1, *expected["a", 1]]]
    assert answered["window"] == list(whole.window)
    # Callers that accept an older answer get the last one that was read; others the newest.
    old = running.answer("hour", max_age="0 seconds")
    feed.minutes(6, 7, rows=100)
    wait_for(lambda: running.progress.max_event_time > START + 6 * MINUTE)
    aged = {**asked, "max_age": "1 hour"}
    assert client.get("/api/answers", params=aged).json()["batch"] == old.batch
    asked_again = ["ask", checkpoint, "hour", "--max-age", "1 hour", "--json"]
    assert json.loads(CliRunner().invoke(cli, asked_again).output)["batch"] == old.batch
    newest = running.answer("hour", max_age=timedelta(0))
    assert newest.batch > old.batch
    assert told(newest) == counts(spark, feed)
    assert told(newest) != told(old)
    assert running.answer("hour", max_age="1 hour").batch == newest.batch
    whole, expected = newest, counts(spark, feed, k="a")
    assert client.get("/api/answers", params={"query": "nobody"}).status_code == 404
    assert client.get("/api/answers", params={"query": "hour", "at": "soon"}).status_code == 409
    assert client.get("/api/answers").status_code == 422

    # A query that was just added has no complete window yet; the others are still answered.
    running.add(Query("late", aggs={"n": "count(*)"}, window=Window(range="10 minutes")))
    first = running.answer("late")
    assert first.window[0] > running.progress.max_event_time - 10 * MINUTE
    with pytest.raises(EngineError, match="began before the query had all rows"):
        running.answer("late", at=end.replace(hour=0))
    running.stop()
    assert told(running.answer("hour")) == told(whole)
    assert client.get("/api/answers", params=asked).status_code == 409

    # From the checkpoint alone.
    alone = answer_from(spark, checkpoint, "hour", keys={"k": "a"})
    assert told(alone) == expected
    assert alone.batch >= whole.batch
