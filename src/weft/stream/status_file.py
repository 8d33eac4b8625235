"""The status of a running stream as a file in its checkpoint, with the last micro-batches."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from weft.errors import CheckpointError
from weft.sinks.files import Folder
from weft.stream.events import differences
from weft.stream.status import Status
from weft.stream.ticks import rows_of

KEPT = 240
"""Micro-batches that are kept."""
MARKED = 60
"""Changes, failures, starts and stops that are kept."""
NAMED = 5
"""Most queries named in a mark."""
_FILE, _KIND = "status.json", "status"


class Board:
    """`<checkpoint>/weft/status.json`: the result of `Running.status()`, for other processes.

    It is written at most once a second, and only after a micro-batch or a change; the history
    continues that of an earlier run of the stream.

    >>> import tempfile
    >>> checkpoint = tempfile.mkdtemp()
    >>> status = Status(True, 0, 5, 2.5, 2.0, None, 9, None, 0, 0, 0, 0, 0, 1, (), ())
    >>> Board(checkpoint, {"kind": "ParquetSink", "path": "/out"}).post(status)
    >>> posted = read_board(checkpoint)
    >>> posted["status"]["rows"], [(one["batch"], one["run"]) for one in posted["history"]]
    (5, [(0, 1)])
    >>> [mark["event"] for mark in posted["marks"]]
    ['started']
    """

    def __init__(self, checkpoint: str, sink: Mapping[str, Any]) -> None:
        self._folder = Folder(checkpoint).sub("weft")
        self._sink = dict(sink)
        before = read_board(checkpoint)
        self._history: deque[dict[str, Any]] = deque(
            before["history"] if before else (), maxlen=KEPT
        )
        self._marks: deque[dict[str, Any]] = deque(
            before.get("marks", ()) if before else (), maxlen=MARKED
        )
        self._run = 1 + max((int(one.get("run", 0)) for one in self._history), default=0)
        """The number of the run that samples belong to; charts do not connect different runs."""
        self._known: Status | None = None
        self._posted: tuple[Any, ...] | None = None

    def post(self, status: Status, reports: deque[dict[str, Any]] | None = None) -> None:
        """Write the status, and a sample of every micro-batch that Spark has reported since."""
        told = self._samples(status, reports)
        mark = (status.active, status.batch, status.changes, status.error)
        if not told and mark == self._posted:
            return
        self._history.extend({**one, "run": self._run} for one in told)
        self._marks.extend(marks_of(self._known, status, time.time()))
        self._known = status
        body = {
            "at": time.time(),
            "sink": self._sink,
            "status": asdict(status),
            "history": list(self._history),
            "marks": list(self._marks),
        }
        self._folder.write(_FILE, _KIND, body)
        self._posted = mark

    def _samples(
        self, status: Status, reports: deque[dict[str, Any]] | None
    ) -> list[dict[str, Any]]:
        levels = {
            "watermark": status.watermark,
            "high": status.high,
            "state_bytes": status.state_bytes,
            "slices": status.slices,
            "late": sum(query.late_rows for query in status.queries),
            "answers": sum(query.answers for query in status.queries),
        }
        if reports is None:  # no listener: only the status is known
            if status.batch < 0 or (self._history and self._history[-1]["batch"] == status.batch):
                return []
            sample = {"rows": status.rows, "seconds": status.batch_seconds}
            return [{"batch": status.batch, "at": time.time(), **sample, **levels}]
        found = []
        while reports:
            report = reports.popleft()
            found.append({**sample_of(report), **levels})
        return found


def marks_of(known: Status | None, status: Status, at: float) -> list[dict[str, Any]]:
    """The events of a stream since its status was `known` (None if it has just started), as marks.

    Queries with the same event share one mark, with the names of the first few.
    """
    if known is None:
        return [{"at": at, "event": "started", "queries": [], "count": 0, "text": ""}]
    found: dict[str, dict[str, Any]] = {}
    for event, facts in differences(known, status):
        empty = {"at": at, "event": event, "queries": [], "count": 0, "text": ""}
        mark = found.setdefault(event, empty)
        mark["text"] = mark["text"] or str(facts.get("error") or facts.get("why") or "")[:200]
        if "query" in facts:
            mark["count"] += 1
            mark["queries"] = [*mark["queries"], facts["query"]][:NAMED]
    if known.active and not status.active:
        error = (status.error or "")[:200] if status.failed else ""
        found.pop("error", None)  # keep only errors that stopped it, not those it survived
        found["stopped"] = {"at": at, "event": "stopped", "queries": [], "count": 0, "text": error}
    return list(found.values())


def sample_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """A short form of one of Spark's progress reports.

    >>> sample_of({"batchId": 3, "timestamp": "1970-01-01T00:00:10.000Z", "numInputRows": 7,
    ...            "durationMs": {"triggerExecution": 500}})
    {'batch': 3, 'at': 10.0, 'rows': 7, 'seconds': 0.5}
    """
    began = datetime.fromisoformat(str(report["timestamp"]).replace("Z", "+00:00"))
    return {
        "batch": int(report["batchId"]),
        "at": began.timestamp(),
        "rows": rows_of(report),
        "seconds": float(report["durationMs"].get("triggerExecution", 0)) / 1000.0,
    }


def sink_facts(sink: object) -> dict[str, Any]:
    """What a reader must know about a sink: its kind, and the path of its files, if any."""
    path = getattr(sink, "path", None)
    if isinstance(path, str) and "://" not in path and not path.startswith(("file:", "dbfs:")):
        path = os.path.abspath(path)
    return {"kind": type(sink).__name__, "path": path}


def read_board(checkpoint: str) -> dict[str, Any] | None:
    """The last status file on this checkpoint; None if there is none, or it is damaged."""
    try:
        board: dict[str, Any] = Folder(checkpoint).sub("weft").read(_FILE, _KIND)
    except CheckpointError:
        return None
    return board
