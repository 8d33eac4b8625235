"""The API over checkpoints and plans made without Spark."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from serve_cases import (
    MINUTE,
    SQL,
    bearer,
    client,
    post_status,
    write_answers,
    write_checkpoint,
    write_plan,
)

from weft.errors import CheckpointError, JobError, PlanError
from weft.serve.source import open_source
from weft.spark.streaming.changes import stored
from weft.stream.catalogue import Failure
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.heartbeat import Heartbeat
from weft.stream.requests import Requests

JOB = """
source: {format: parquet, path: in, watermark: 1 minute}
queries:
  - {name: all, aggs: {n: count(*)}, range: 10 minutes}
sink: {kind: parquet, path: out}
checkpoint: ck
"""


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path)


def test_the_plan_has_all_that_a_picture_needs(checkpoint):
    plan = client(checkpoint).get("/api/plan").json()
    assert [query["name"] for query in plan["queries"]] == ["hourly", "busy trades", "all"]
    assert plan["queries"][1]["window"] == "12 minutes every 5 minutes"
    assert plan["queries"][1]["where"] == "volume > 500"
    assert [query["lateness"] for query in plan["queries"]] == ["5 minutes", None, None]
    assert plan["change"] == 2
    assert plan["cost"] < plan["no_share"]
    for tree in plan["trees"]:
        costs = [plan["queries"][row]["cost"] for row in tree["queries"]]
        assert sum(costs) == pytest.approx(tree["cost"])
        assert tree["stores"]
    cuts = {tuple(cut) for tree in plan["trees"] for cut in tree["cuts"]}
    assert (0, 10 * MINUTE) in cuts
    assert plan["last_change"]["added"] == ["all"]
    assert plan["last_change"]["cost_after"] == pytest.approx(plan["cost"])


def test_a_plan_that_is_known_is_not_sent_again(checkpoint):
    page = client(checkpoint)
    tag = page.get("/api/plan").headers["etag"]
    assert page.get("/api/plan", headers={"if-none-match": tag}).status_code == 304


def test_factor_windows_come_as_a_graph(tmp_path):
    page = client(write_plan(tmp_path / "plan.json", "factor"))
    plan = page.get("/api/plan").json()
    nodes = [node for tree in plan["trees"] for node in tree["coverage"]]
    assert {row for node in nodes for row in node["queries"]} == {0, 1, 2}
    assert all(node["upstream"] is None or node["pieces"] >= 1 for node in nodes)
    for tree in plan["trees"]:
        costs = [plan["queries"][row]["cost"] for row in tree["queries"]]
        assert sum(costs) == pytest.approx(tree["cost"])
        alone = [plan["queries"][row]["alone"] for row in tree["queries"]]
        assert sum(alone) == pytest.approx(tree["unshared_cost"])


def test_a_stored_plan_can_be_tried_on_but_not_changed(tmp_path):
    page = client(write_plan(tmp_path / "plan.json"))
    meta = page.get("/api/meta").json()
    assert (meta["source"], meta["changes"]) == ("plan", False)
    assert page.get("/api/live").json()["state"] == "plan"
    assert page.post("/api/preview", json={"sql": SQL, "name": "half"}).status_code == 200
    refused = page.post("/api/queries", json={"sql": SQL, "name": "half"}, headers=bearer())
    assert refused.status_code == 409
    assert "stored plan" in refused.json()["error"]["message"]


def test_a_preview_says_what_a_query_would_join_and_cost(checkpoint):
    page = client(checkpoint)
    told = page.post("/api/preview", json={"sql": SQL, "name": "half"}).json()
    assert told["queries"][0]["name"] == "half"
    assert "hourly" in told["queries"][0]["joins"]
    assert told["cost_before"] < told["cost_after"]
    assert told["cost_after"] - told["cost_before"] < told["queries"][0]["alone"]
    assert page.get("/api/plan").json()["change"] == 2  # nothing was changed


@pytest.mark.parametrize(
    ("sql", "place"),
    [
        (SQL.replace("'30 minutes'", "'30 minuts'"), (1, 65)),
        (
            "SELECT symbol,\n  foo(price) AS hi\nFROM t GROUP BY window(ts, '1 hour'), symbol",
            (2, 3),
        ),
        ("DROP TABLE trades", (1, 1)),
    ],
)
def test_an_error_is_told_at_its_place(checkpoint, sql, place):
    refused = client(checkpoint).post("/api/preview", json={"sql": sql, "name": "x"})
    assert refused.status_code == 400
    found = refused.json()["error"]["place"]
    assert (found["line"], found["column"]) == place


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"sql": SQL, "name": "HOURLY"}, 409, "runs already"),
        ({"sql": SQL}, 400, "needs a name"),
        ({"sql": SQL.replace("ts,", "at,"), "name": "x"}, 400, "'at'"),
        ({"sql": SQL, "name": "a/b"}, 400, "cannot name a query"),
        ({"sql": "", "name": "x"}, 422, "body.sql"),
        ({"sql": SQL, "name": "x", "more": 1}, 422, "body.more"),
        ({"sql": "secrets.sql", "name": "x"}, 400, "SELECT"),
    ],
)
def test_what_cannot_be_added_says_why(checkpoint, body, status, message):
    refused = client(checkpoint).post("/api/preview", json=body)
    assert refused.status_code == status, refused.text
    assert message in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"sql": SQL.replace("30 minutes", "9" * 5000 + " minutes"), "name": "x"}),
        json.dumps({"sql": SQL.replace("GROUP", f"WHERE price > {'9' * 5000} GROUP"), "name": "x"}),
        json.dumps({"sql": SQL.replace("'30 minutes'", "9" * 5000), "name": "x"}),
        json.dumps({"sql": SQL, "name": "x", "y" * 30_000: 1}),
        json.dumps({"sql": SQL, "name": "z" * 5000}),
        '{"sql": ' + "9" * 5000 + ', "name": "x"}',
        '{"sql": "x", "name": "x", "backfill": 1e' + "9" * 5000 + "}",
        "[" * 30_000,
    ],
    ids=["range", "where", "integer", "field", "name", "number", "exponent", "nested"],
)
def test_what_is_far_too_long_is_refused_in_few_words(checkpoint, body):
    kind = {"content-type": "application/json"}
    refused = client(checkpoint).post("/api/preview", content=body, headers=kind)
    assert refused.status_code in (400, 422), refused.text[:500]
    assert len(refused.text) < 5000
    number = client(checkpoint).get(f"/api/queries/hourly/answers?limit={'9' * 5000}")
    assert number.status_code == 422


def test_drop_pause_and_resume_of_a_stream_at_rest(checkpoint):
    page = client(checkpoint, **bearer())
    paused = page.post("/api/queries/busy%20trades/pause").json()
    assert paused == {"queries": ["busy trades"], "done": "paused", "by": "stored"}
    assert stored(str(checkpoint)).entry("busy trades").paused == 5
    plan = page.get("/api/plan").json()
    assert [query["paused"] for query in plan["queries"]] == [False, True, False]
    assert plan["last_change"]["paused"] == ["busy trades"]
    assert page.post("/api/queries/busy trades/pause").status_code == 409
    assert page.post("/api/queries/BUSY trades/resume").json()["done"] == "resumed"
    assert stored(str(checkpoint)).entry("busy trades").paused is None

    assert page.delete("/api/queries/all").json()["done"] == "dropped"
    assert [q["name"] for q in page.get("/api/plan").json()["queries"]] == ["hourly", "busy trades"]
    assert page.delete("/api/queries/all").status_code == 404
    page.delete("/api/queries/hourly")
    last = page.delete("/api/queries/busy trades")
    assert last.status_code == 409
    assert "last query" in last.json()["error"]["message"]
    without_job = page.post("/api/queries", json={"sql": SQL, "name": "half"})
    assert without_job.status_code == 409
    assert "job file" in without_job.json()["error"]["message"]


def test_a_running_stream_is_asked_as_the_command_line_asks(checkpoint):
    heart = Heartbeat(str(checkpoint)).start()
    asked: list[dict] = []
    done = threading.Event()

    def answer() -> None:
        requests = Requests(str(checkpoint))
        while not done.wait(0.02):
            for ticket, body in requests.pending():
                (change,) = body["changes"]
                asked.append(change)
                requests.reply(ticket, None if change["op"] == "add" else "it would not have it")

    stream = threading.Thread(target=answer)
    stream.start()
    try:
        page = client(checkpoint, **bearer())
        added = page.post("/api/queries", json={"sql": SQL, "name": "half", "backfill": True})
        assert (added.status_code, added.json()["by"]) == (201, "running")
        refused = page.delete("/api/queries/hourly")
        assert refused.status_code == 409
        assert "it would not have it" in refused.json()["error"]["message"]
    finally:
        done.set()
        stream.join()
        heart.stop()
    assert asked[0]["query"]["name"] == "half"
    assert asked[0]["backfill"] is True
    assert asked[1] == {"op": "drop", "name": "hourly"}


def test_live_says_whether_a_stream_runs_and_how(checkpoint):
    page = client(checkpoint)
    assert page.get("/api/live").json()["state"] == "stopped"
    post_status(checkpoint, {"kind": "ParquetSink", "path": "/out"})
    heart = Heartbeat(str(checkpoint)).start()
    source = open_source(str(checkpoint))
    live = client(source).get("/api/live").json()
    heart.stop()
    assert live["state"] == "running"
    assert live["status"]["rows_per_second"] == 250.0
    assert [one["batch"] for one in live["history"]] == [4]
    source.forget()
    assert client(source).get("/api/live").json()["state"] == "stopped"


def test_the_latest_answers_are_read_back_whole_micro_batches_only(checkpoint, tmp_path):
    number = stored(str(checkpoint)).entry("hourly").number
    out = write_answers(tmp_path, number, [0, 60, 180])
    post_status(checkpoint, {"kind": "ParquetSink", "path": str(out)})
    page = client(checkpoint)
    told = page.get("/api/queries/hourly/answers").json()
    assert told["readable"]
    assert [(c["name"], c["role"]) for c in told["columns"]] == [("symbol", "key"), ("hi", "value")]
    starts = [start // MINUTE for start, _ in told["windows"]]
    assert starts == [0, 0, 60, 60, 180, 180]  # the gap at 120 stays a gap
    assert told["rows"][:2] == [["a", 1.5], ["b", "NaN"]]
    assert len(page.get("/api/queries/hourly/answers?limit=2").json()["rows"]) == 2
    assert not page.get("/api/queries/all/answers").json()["readable"]


def test_a_sink_that_cannot_be_read_back_is_named(checkpoint):
    post_status(checkpoint, {"kind": "KafkaSink", "path": None})
    told = client(checkpoint).get("/api/queries/hourly/answers").json()
    assert not told["readable"]
    assert "Kafka" in told["reason"]


def test_a_query_as_sql_reads_back(checkpoint):
    told = client(checkpoint).get("/api/queries/hourly").json()
    assert "GROUP BY" in told["sql"]
    assert client(checkpoint).get("/api/queries/nobody").status_code == 404


def test_a_job_shows_the_plan_it_would_start_with(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    page = client(tmp_path / "job.yaml")
    assert page.get("/api/live").json()["state"] == "new"
    assert page.get("/api/meta").json()["why"].startswith("The stream has never been started")
    assert [q["name"] for q in page.get("/api/plan").json()["queries"]] == ["all"]
    write_checkpoint(tmp_path)
    fresh = client(tmp_path / "job.yaml")
    assert fresh.get("/api/meta").json()["changes"]
    assert len(fresh.get("/api/plan").json()["queries"]) == 3


def test_an_error_of_the_stream_is_shown_without_the_jobs_secrets(tmp_path):
    secret = JOB.replace("path: in,", "path: in, options: {password: hunter2},")
    (tmp_path / "job.yaml").write_text(secret)
    checkpoint = write_checkpoint(tmp_path)
    post_status(checkpoint, {"kind": "ParquetSink", "path": None}, "no entry for hunter2 here")
    told = client(tmp_path / "job.yaml").get("/api/live")
    assert told.json()["status"]["error"] == "no entry for *** here"
    assert "hunter2" not in told.text


def test_what_cannot_be_served_is_refused_at_once(tmp_path):
    with pytest.raises(CheckpointError, match="no stream has been started"):
        open_source(str(tmp_path))
    with pytest.raises(JobError, match="does not exist"):
        open_source(str(tmp_path / "nothing.yaml"))
    (tmp_path / "plan.json").write_text(json.dumps({"weft": "plan", "version": 99}))
    with pytest.raises(PlanError, match="version"):
        open_source(str(tmp_path / "plan.json"))
    (tmp_path / "plan.json").write_text("[1, 2]")
    with pytest.raises(PlanError, match="not a stored plan"):
        open_source(str(tmp_path / "plan.json"))


def test_a_failed_query_is_shown_with_its_cause(checkpoint):
    files = CatalogueFiles(str(checkpoint))
    now = files.latest()
    failed = now.entries[0].query
    failure = Failure(9, failed, 7, "[CAST_INVALID_INPUT] bad value", "sum(cast(s as int))")
    files.write(replace(now, number=now.number + 1, failed=(failure,)))
    shown = client(checkpoint).get("/api/plan").json()["failed"]
    assert shown == [
        {
            "name": failed.name,
            "batch": 7,
            "message": "[CAST_INVALID_INPUT] bad value",
            "expression": "sum(cast(s as int))",
        }
    ]
