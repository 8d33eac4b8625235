"""Detecting whether a stream runs on a checkpoint, also after crashes and from other machines."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from weft.errors import CheckpointError
from weft.sinks.files import Folder
from weft.stream import heartbeat
from weft.stream.heartbeat import Heartbeat, is_running, last_beat, refuse_second
from weft.stream.requests import Requests


def beat(checkpoint: str, **changes: object) -> None:
    body = {"pid": os.getpid(), "host": "another.example", "count": 1, **changes}
    Folder(checkpoint).sub("weft").write("running.json", "heartbeat", body)


@pytest.fixture
def checkpoint(tmp_path) -> str:
    return str(tmp_path / "ck")


def test_it_beats_until_it_is_stopped(checkpoint, monkeypatch):
    monkeypatch.setattr(heartbeat, "EVERY", 0.02)
    heart = Heartbeat(checkpoint).start()
    first = last_beat(checkpoint)
    ends = time.monotonic() + 10
    while last_beat(checkpoint)["count"] < first["count"] + 2:
        assert time.monotonic() < ends
        time.sleep(0.01)
    assert is_running(checkpoint)
    heart.stop()
    assert last_beat(checkpoint) is None
    assert not is_running(checkpoint)


def test_a_process_of_this_machine_that_is_gone(checkpoint):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    beat(checkpoint, host=socket.gethostname(), pid=gone.pid)
    began = time.monotonic()
    assert not is_running(checkpoint)
    assert time.monotonic() - began < 5


def test_another_machine_that_has_crashed(checkpoint):
    beat(checkpoint)
    assert not is_running(checkpoint, patience=0.3)


def test_another_machine_that_runs(checkpoint):
    beat(checkpoint)
    timer = threading.Timer(0.3, beat, [checkpoint], {"count": 2})
    timer.start()
    assert is_running(checkpoint, patience=10)
    timer.join()


def test_a_second_stream_is_refused(checkpoint):
    refuse_second(checkpoint)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    beat(checkpoint, host=socket.gethostname(), pid=other.pid)
    timer = threading.Timer(0.3, beat, [checkpoint], {"count": 2})
    timer.start()
    with pytest.raises(CheckpointError, match=f"already, as process {other.pid} on"):
        refuse_second(checkpoint)
    timer.join()
    other.communicate(b"\n")
    beat(checkpoint, host=socket.gethostname())  # left by a process that had our pid
    refuse_second(checkpoint)


def test_a_request_that_nobody_answers_is_withdrawn(checkpoint):
    requests = Requests(checkpoint)
    ticket = requests.ask_drop("a")
    with pytest.raises(CheckpointError, match=r"was not answered within 0\.2 s and is withdrawn"):
        requests.wait(ticket, timeout=0.2)
    assert requests.pending() == []
