"""Kafka at both ends: messages in, answers out, through a crash and a micro-batch run twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import components
import kafka_messages as messages
import pytest

from weft.query.query import Query
from weft.query.window import Window
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.progress import ProgressFile
from weft.stream.requests import Requests

pytestmark = pytest.mark.integration

JOB = """
source:
  format: kafka
  options:
    kafka.bootstrap.servers: {servers}
    subscribe: trades
    startingOffsets: earliest
    maxOffsetsPerTrigger: 180
    includeHeaders: true
  schema: ts TIMESTAMP, symbol STRING, size BIGINT
  time: ts
  watermark: 10 minutes
queries:
  - {{name: minute, aggs: {{n: count(*), total: sum(size)}}, range: 1 minute, by: [symbol]}}
  - {{name: sliding, aggs: {{n: count(*), total: sum(size)}}, range: 5 minutes, slide: 2 minutes,
     by: [symbol]}}
  - {{name: tenant_a, aggs: {{n: count(*), total: sum(size)}}, range: 2 minutes,
     by: [_key AS symbol], where: "_headers['tenant'] = 'a'"}}
sink: {{kind: kafka, servers: {servers}, topic: answers}}
checkpoint: ck
connectors: [kafka]
spark: {{spark.master: "local[2]", spark.driver.memory: 1g, spark.sql.session.timeZone: UTC}}
"""
PATIENCE = 240.0
"""Time limit in seconds, enough for busy machines."""
BIG = Query(
    "big",
    aggs={"n": "count(*)", "total": "sum(size)"},
    window=Window(range="3 minutes", slide="1 minute"),
    where="size >= 8",
    by=["symbol"],
)


class Stream:
    """`weft stream` in a separate process, whose events are read as they arrive."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.log = folder / "stream.log"
        with self.log.open("ab") as written:
            self.process = subprocess.Popen(
                components.weft("stream", "job.yaml", "--json", *options),
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=written,
                start_new_session=True,  # so that its JVM and workers are killed with it
            )

    def until(self, ready: Callable[[int], bool]) -> None:
        """Read events up to a micro-batch that satisfies a condition."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "batch" and ready(event["batch"]):
                return
        pytest.fail(f"kafka: the stream ended: {self.log.read_text()[-2000:]}")

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGTERM)
        assert self.process.stdout is not None
        rest = self.process.stdout.read()
        assert self.process.wait(120) == 0, rest + self.log.read_bytes()[-2000:]


def answers(found: list, query: str) -> dict[bytes, list[bytes]]:
    """For one query's messages, the values of every key in the order of the topic."""
    values: dict[bytes, list[bytes]] = {}
    for message in found:
        if message.headers["query"].decode() == query:
            values.setdefault(message.key, []).append(message.value)
    return values


def rows(values: dict[bytes, list[bytes]]) -> Counter:
    """The newest value of each key, as rows like those of `messages.windows`."""
    counted: Counter = Counter()
    for key, sent in values.items():
        value, named = json.loads(sent[-1]), json.loads(key)
        assert named == {name: value[name] for name in ("query", "window", "symbol")}
        start = datetime.fromisoformat(value["window"]["start"].replace("Z", "+00:00"))
        counted[int(start.timestamp()), value["symbol"], value["n"], value["total"]] += 1
    return counted


def test_each_window_comes_once_through_changes_and_a_crash(kafka: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.format(servers=kafka))
    sent = messages.trades(1200)
    messages.send(kafka, "trades", sent)
    checkpoint = str(tmp_path / "ck")
    requests = Requests(checkpoint)

    first = Stream(tmp_path)
    try:
        first.until(lambda batch: batch >= 1)
        requests.wait(requests.ask_add(BIG), PATIENCE)
        before = ProgressFile(checkpoint).read().batch
        first.until(lambda batch: batch > before and newest(kafka) > before)
    finally:
        components.kill(first.process)  # at an arbitrary moment
    # Also force the state that a crash between the sink's write and Spark's commit leaves.
    uncommit(tmp_path / "ck", newest(kafka))
    there = len(messages.received(kafka, "answers"))

    second = Stream(tmp_path)
    try:
        second.until(lambda batch: batch >= 5)
        requests.wait(requests.ask_drop("sliding"), PATIENCE)
        messages.send(kafka, "trades", messages.closing())
        wanted = messages.windows(sent, 60, 60)
        components.wait_for(
            lambda: len(answers(messages.received(kafka, "answers"), "minute")) >= len(wanted),
            "kafka: the last window's answer",
            PATIENCE,
            second.process,
            every=1.0,
        )
        second.stop()
    finally:
        components.kill(second.process)

    catalogue = CatalogueFiles(checkpoint).latest()
    assert catalogue is not None
    since = {entry.query.name: entry.complete_from for entry in catalogue.entries}
    assert set(since) == {"minute", "tenant_a", "big"}
    assert since["big"] is not None
    found = messages.received(kafka, "answers")
    assert len({message.key for message in found}) < len(found), "nothing came twice"
    assert len(found) > there
    check(found, sent, since["big"])


def check(found: list, sent: list[messages.Trade], since: int) -> None:
    minute = answers(found, "minute")
    assert rows(minute) == messages.windows(sent, 60, 60)
    tenant = [trade for trade in sent if trade.symbol < "s2"]
    assert rows(answers(found, "tenant_a")) == messages.windows(tenant, 120, 120)
    big = messages.windows(sent, 180, 60, least=8)
    right = Counter({row: n for row, n in big.items() if row[0] * 1_000_000 >= since})
    assert right
    assert rows(answers(found, "big")) == right
    sliding = rows(answers(found, "sliding"))
    assert sliding
    assert sliding <= messages.windows(sent, 300, 120)  # dropped: earlier answers are right
    for values in minute.values():
        assert len(set(values)) == 1, "a key that comes again has the same value"


def newest(servers: str) -> int:
    """The last micro-batch with messages among the answers; -1 if there is none yet."""
    found = messages.received(servers, "answers")
    return max((int(message.headers["batch"]) for message in found), default=-1)


def uncommit(checkpoint: Path, last: int) -> None:
    """Remove the commits of a micro-batch and all later ones, so that Spark runs it again."""
    for kind, keep in (("commits", last - 1), ("offsets", last)):
        for file in (checkpoint / kind).iterdir():
            if int(file.name.strip(".").split(".")[0] or -1) > keep:
                file.unlink()
