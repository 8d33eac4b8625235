"""A standalone cluster: the wheel shipped, batch and stream, and a worker killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import cluster
import components
import pytest
from kafka_messages import closing, trades, windows

pytestmark = pytest.mark.integration

FILES = 8


def write_feed(folder: Path) -> list:
    folder.mkdir()
    sent = trades(800)
    size = -(-len(sent) // FILES)
    parts = [sent[start : start + size] for start in range(0, len(sent), size)]
    for number, part in enumerate([*parts, closing()]):
        path = folder / f"{number:02d}.json"
        path.write_bytes(b"\n".join(trade.json() for trade in part))
        os.utime(path, (1_000_000 + number, 1_000_000 + number))  # a stream takes the oldest first
    return sent


def test_the_answers_hold_when_a_worker_is_killed(tmp_path: Path) -> None:
    components.need("cluster")
    sent = write_feed(tmp_path / "in")
    wheel = cluster.wheel(tmp_path)
    python, environ = cluster.bare_python(tmp_path / "python")
    drive = str(Path(__file__).with_name("cluster_drive.py"))
    with cluster.standalone(tmp_path, environ) as spark:
        with (tmp_path / "driver.log").open("wb") as log:
            driver = subprocess.Popen(
                [python, drive, spark.address, str(wheel), str(tmp_path)],
                stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                env={**environ, "PYTHONPATH": str(wheel)},
            )  # fmt: skip
        try:
            events = follow(driver, spark.workers[0])
            assert driver.wait(60) == 0, (tmp_path / "driver.log").read_text()[-4000:]
        finally:
            components.kill(driver)
    seen = {event["event"]: event for event in events}
    assert len(seen["workers"]["weft"]) >= 1
    for place in seen["workers"]["weft"]:  # in the executor's own copy, not in the driver's
        assert wheel.name in place
        assert not place.startswith(str(wheel))
    assert seen["verified"]["ok"]
    assert seen["verified"]["rows"] > 100
    answers = {e["query"]: e["rows"] for e in events if e["event"] == "answers"}
    assert Counter(map(tuple, answers["minute"])) == windows(sent, 60, 60)
    assert Counter(map(tuple, answers["sliding"])) == windows(sent, 300, 120)


def follow(driver: subprocess.Popen, worker: subprocess.Popen) -> list[dict]:
    """Collect the driver's events, and after the second micro-batch kill a worker and executor."""
    events = []
    for line in driver.stdout:
        events.append(json.loads(line))
        if events[-1].get("batch", -1) >= 2 and worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
    batches = [event["batch"] for event in events if event["event"] == "batch"]
    assert worker.poll() is not None, f"no worker was killed: {events}"
    assert max(batches) > 3, "the stream had ended before the worker was killed"
    return events
