"""Watching a stream: dashboards and alerts find their metrics, costs add up, events are logged."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from urllib.request import urlopen

import yaml
from test_failing_alone import CAST
from test_running import FIVE, MAX, TEN, wait_for

from conftest import MINUTE, START
from weft.cli.main import cli
from weft.query.query import Query
from weft.spark.loom import Loom

DEPLOY = Path(__file__).parents[3] / "deploy"
OF_PROMETHEUS = {"job", "instance", "le"}
"""Labels that Prometheus itself adds."""
LIMITS = {"state_bytes": 10**12, "groups": 10**9, "answers": 10**9, "share": 1.0}
SAMPLE = re.compile(r"^(weft_\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)


def scraped(text: str) -> dict[str, set[str]]:
    """The metrics on a page, with the labels of each."""
    found: dict[str, set[str]] = {}
    for name, labels, _ in SAMPLE.findall(text):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def value(text: str, metric: str) -> float:
    (found,) = re.findall(rf"^{re.escape(metric)} (\S+)$", text, re.MULTILINE)
    return float(found)


def asked(expression: str) -> tuple[set[str], set[str]]:
    """The metrics that a PromQL expression names, and their labels."""
    metrics = set(re.findall(r"\bweft_\w+", expression))
    labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression))
    for listed in re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", expression):
        labels.update(name.strip() for name in listed.split(","))
    labels.update(re.findall(r"label_values\([^)]*,\s*(\w+)\)", expression))
    return metrics, labels


def board_expressions() -> list[tuple[str, str]]:
    """The dashboard's expressions, each with the text that labels its lines."""
    board = json.loads((DEPLOY / "grafana" / "weft-stream.json").read_text())
    found = [(t["expr"], t["legendFormat"]) for p in board["panels"] for t in p.get("targets", [])]
    found += [(one["definition"], "") for one in board["templating"]["list"] if "definition" in one]
    return found + [(one["expr"], "") for one in board["annotations"]["list"]]


def alert_expressions() -> list[tuple[str, str]]:
    """The alert rules' expressions, each with the texts that use its labels."""
    rules = yaml.safe_load((DEPLOY / "prometheus" / "weft-alerts.yaml").read_text())
    return [
        (rule["expr"], " ".join(rule["annotations"].values()))
        for group in rules["groups"]
        for rule in group["rules"]
    ]


def assert_there(metrics: dict[str, set[str]], expressions: list[tuple[str, str]]) -> set[str]:
    """Check that every metric that is used exists, and has the labels that are used with it."""
    named: set[str] = set()
    for expression, text in expressions:
        wanted, labels = asked(expression)
        labels |= set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", text))
        assert wanted, expression
        assert wanted <= set(metrics), expression
        known = OF_PROMETHEUS.union(*(metrics[name] for name in wanted))
        assert labels <= known, (expression, text)
        named |= wanted
    return named


def test_a_watched_stream(spark, feed, tmp_path, monkeypatch):
    """One stream, with queries of two owners and without an owner, one of which fails."""
    monkeypatch.chdir(tmp_path)
    lines: list[str] = []
    feed.minutes(0, 30)
    feed.minutes(30, 40, late=30.0)
    loom = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(FIVE.owned("ann"))
    loom.add(TEN.owned("bob").limited(Query.from_dict(TEN.to_dict() | {"limits": LIMITS}).limits))
    loom.add(CAST.owned("bob"))
    given = {"checkpoint": str(tmp_path / "ck"), "trigger": "100 milliseconds"}
    running = loom.start(str(tmp_path / "out"), **given, metrics_port=0, log=lines.append,
                         openlineage=str(tmp_path / "lineage.jsonl"))  # fmt: skip
    wait_for(lambda: running.catalogue.failed)
    wait_for(lambda: running.progress.batch >= 1)
    running.add(MAX)
    running.pause("ten")
    running.resume("ten")
    feed.minutes(40, 60)
    wait_for(lambda: running.progress.max_event_time > START + 40 * MINUTE)
    running.drop("most")

    with urlopen(f"http://127.0.0.1:{running.serve_metrics()}/metrics") as page:
        text = page.read().decode()
    there = scraped(text)
    shown = assert_there(there, board_expressions()) | assert_there(there, alert_expressions())
    assert len(shown) > 20
    assert 'weft_query_owner{query="five",owner="ann"} 1' in text
    assert 'weft_query_failed{query="cast"} 1' in text
    feed.minutes(60, 80)
    wait_for(lambda: running.progress.max_event_time > START + 60 * MINUTE)
    running.stop()

    assert_costs(running)
    assert_lines(lines, str(tmp_path / "ck"))
    assert_commands(tmp_path, running)
    assert_lineage(tmp_path)
    seconds = {cost.query: cost.seconds for cost in running.costs()}
    answers = {cost.query: cost.answers for cost in running.costs()}

    again = Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    again.add(FIVE.owned("eve"))  # another owner, and nothing else
    running = again.start(str(tmp_path / "out"), **given | {"trigger": "available_now"})
    running.await_termination()
    assert running.catalogue.entry("five").query.owner == "eve"
    later = {cost.query: cost for cost in running.costs()}
    assert later["five"].seconds >= seconds["five"] > 0.0
    assert later["five"].answers >= answers["five"] > 0


def assert_costs(running) -> None:
    """Check that every second is charged to an owner, and that metrics and table agree."""
    costs = running.costs()
    assert {(cost.owner, cost.query) for cost in costs} == {
        ("ann", "five"), ("bob", "ten"), ("bob", "cast"), ("unowned", "(dropped)"),
    }  # fmt: skip
    assert abs(sum(cost.share for cost in costs) - 1.0) < 1e-9
    load = running._delivery.tally.load
    total = sum(load.merging.values()) + sum(load.answering.values())
    assert abs(sum(cost.seconds for cost in costs) - total) < 1e-6
    answers = {cost.query: cost.answers for cost in costs}
    assert answers["five"] == running.status().query("five").answers > 0
    held = sum(cost.state_bytes for cost in costs)
    assert abs(held - running.status().state_bytes) <= len(costs)
    text = running.metrics()
    both = sum(cost.seconds for cost in costs if cost.owner == "bob")
    assert value(text, 'weft_owner_seconds_total{owner="bob"}') == both
    assert value(text, 'weft_owner_queries{owner="bob"}') == 1  # the other has failed
    assert value(text, 'weft_query_seconds_total{query="ten",owner="bob"}') <= both


def assert_lines(lines: list[str], stream: str) -> None:
    """Check that each event has a line of JSON, in order, with the fields of its kind."""
    told = [json.loads(line) for line in lines]
    assert all({"time", "level", "event", "stream"} <= set(one) for one in told)
    assert {one["stream"] for one in told} == {stream}
    events = [one["event"] for one in told if one["event"] != "batch"]
    assert events[0] == "started"
    assert events[-1] == "stopped"
    changes = [one for one in events[1:-1] if one != "error"]  # what Spark said of the failure
    assert sorted(changes) == ["added", "dropped", "failed", "paused", "resumed"]
    failed = next(one for one in told if one["event"] == "failed")
    assert (failed["query"], failed["owner"], failed["level"]) == ("cast", "bob", "error")
    assert "CAST_INVALID_INPUT" in failed["error"]
    batches = [one for one in told if one["event"] == "batch"]
    numbers = [one["batch"] for one in batches]
    assert numbers == sorted(set(numbers))
    assert sum(one["rows"] for one in batches) == 4 * 120
    last = batches[-1]
    assert set(last) == {
        "time", "level", "event", "stream", "batch", "rows", "seconds", "rows_per_second",
        "watermark", "max_event_time", "lag_seconds", "slices", "state_bytes", "answers",
    }  # fmt: skip
    assert last["watermark"] < last["max_event_time"] < last["time"]
    assert last["state_bytes"] > 0


def assert_commands(tmp_path, running) -> None:
    """Check that `weft query costs` reads the same from the checkpoint as a table, CSV and JSON."""
    from click.testing import CliRunner

    (tmp_path / "job.yaml").write_text(
        "source: {format: parquet, path: in, schema: ts timestamp, watermark: 5 minutes}\n"
        "queries: [{name: five, aggs: {n: count(*)}, range: 1 hour}]\n"
        "checkpoint: ck\n"
    )

    def said(*options: str) -> str:
        done = CliRunner().invoke(cli, ["query", "costs", "job.yaml", *options])
        assert done.exit_code == 0, done.output
        return done.stdout

    found = list(csv.DictReader(said("--csv").splitlines()))
    assert [(row["owner"], row["query"]) for row in found] == [
        (cost.owner, cost.query) for cost in running.costs()
    ]
    by_owner = json.loads(said("--by", "owner", "--json"))["costs"]
    assert {one["owner"] for one in by_owner} == {"ann", "bob", "unowned"}
    assert re.search(r"five +ann +[\d.]+ +[\d.]+% ", said())
    assert re.search(r"bob +1 ", said("--by", "owner"))


def assert_lineage(tmp_path: Path) -> None:
    """Check that every query has a run, from START to COMPLETE or FAIL, with its columns."""
    events = [json.loads(line) for line in (tmp_path / "lineage.jsonl").open()]
    told = {(one["job"]["name"].rpartition(".")[2], one["eventType"]) for one in events}
    assert told == {
        *((name, kind) for name in ("five", "ten", "most") for kind in ("START", "COMPLETE")),
        ("cast", "START"), ("cast", "FAIL"),
    }  # fmt: skip
    by_run: dict[str, list[str]] = {}
    for one in events:
        by_run.setdefault(one["run"]["runId"], []).append(one["eventType"])
    assert all(kinds[0] == "START" and len(kinds) == 2 for kinds in by_run.values())
    five = next(one for one in events if one["job"]["name"].endswith(".five"))
    (given,), (made,) = five["inputs"], five["outputs"]
    assert (given["namespace"], given["name"]) == ("file", str(tmp_path / "in"))
    assert {"name": "x", "type": "bigint"} in given["facets"]["schema"]["fields"]
    assert made["name"].startswith(str(tmp_path / "out" / "five"))
    assert [one["name"] for one in made["facets"]["schema"]["fields"]] == ["window", "k", "n", "s"]
    fields = made["facets"]["columnLineage"]["fields"]
    assert [one["field"] for one in fields["s"]["inputFields"]] == ["x"]
    assert five["job"]["facets"]["ownership"]["owners"][0]["name"] == "ann"
    failed = next(one for one in events if one["eventType"] == "FAIL")
    assert "CAST_INVALID_INPUT" in failed["run"]["facets"]["errorMessage"]["message"]


def test_expressions_are_taken_apart():
    expression = 'sum by (owner) (rate(weft_a{job=~"x", q!="y"}[5m])) / ignoring(limit) weft_b > 1'
    assert asked(expression) == ({"weft_a", "weft_b"}, {"owner", "job", "q", "limit"})
    assert asked("label_values(weft_a, owner)") == ({"weft_a"}, {"owner"})
