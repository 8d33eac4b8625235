"""A stream, read through its checkpoint: its catalogue, its heartbeat and its last report."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.serve.source import Kind, Snapshot, check_size
from weft.stream.catalogue import Catalogue
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.heartbeat import Pulse
from weft.stream.planning import plan_options, stream_plan
from weft.stream.status_file import read_board

if TYPE_CHECKING:
    from weft.job.model import Job

FRESH = 0.5
"""Seconds for which what was read is cached for other readers."""


class StreamSource:
    """The stream of a job, or of a checkpoint alone.

    If the stream of a job has never been started, this shows the plan that it would start with;
    after the first start, it shows the stream's actual plan.
    """

    def __init__(
        self,
        checkpoint: str | None,
        *,
        name: str,
        job: Job | None = None,
        job_file: Path | None = None,
    ) -> None:
        self.checkpoint, self.name, self.job, self.job_file = checkpoint, name, job, job_file
        self.kind: Kind = "checkpoint" if job is None else "job"
        self._lock = threading.Lock()
        self._known: dict[int, Snapshot] = {}
        self._intended: Snapshot | None = None
        self._numbers: tuple[float, list[int]] = (float("-inf"), [])
        self._pulse = Pulse(checkpoint) if checkpoint else None
        self._live: tuple[float, dict[str, Any]] = (float("-inf"), {})
        self.snapshot()

    def snapshot(self) -> Snapshot:
        """The current plan; for a job that was never started, the one that it would start with."""
        with self._lock:
            numbers = self._changes()
            return self._read(numbers[-1]) if numbers else self._would_start()

    def before(self) -> Snapshot | None:
        """The plan before the last change."""
        with self._lock:
            numbers = self._changes()
            return self._read(numbers[-2]) if len(numbers) > 1 else None

    def forget(self) -> None:
        """Forget what was read, because this server has changed the stream."""
        with self._lock:
            self._numbers = (float("-inf"), [])
            self._live = (float("-inf"), {})

    def _changes(self) -> list[int]:
        read, numbers = self._numbers
        if self.checkpoint is not None and time.monotonic() - read > FRESH:
            numbers = CatalogueFiles(self.checkpoint).numbers()
            self._numbers = (time.monotonic(), numbers)
        return numbers

    def _read(self, number: int) -> Snapshot:
        if number not in self._known:
            assert self.checkpoint is not None
            catalogue: Catalogue = CatalogueFiles(self.checkpoint).read(number)
            plan = catalogue.planned
            check_size(plan)
            newest = sorted(self._known)[-1:]
            self._known = {one: self._known[one] for one in newest}  # this one and the one before
            self._known[number] = Snapshot(number, plan, catalogue)
        return self._known[number]

    def _would_start(self) -> Snapshot:
        if self._intended is None:
            assert self.job is not None
            options = plan_options(self.job, streaming=True)
            plan = stream_plan(self.job.queries, **options)
            check_size(plan)
            self._intended = Snapshot(0, plan)
        return self._intended

    def live(self) -> dict[str, Any]:
        """`state` (running, stopped, failed or new), with the stream's last report."""
        with self._lock:
            read, told = self._live
            if time.monotonic() - read > FRESH:
                told = self._look()
                self._live = (time.monotonic(), told)
            return told

    def _look(self) -> dict[str, Any]:
        beat = self._pulse.look() if self._pulse else None
        board = read_board(self.checkpoint) if self.checkpoint else None
        if board is None:
            return {"state": "running" if beat else self._at_rest(), "history": [], "by": beat}
        error = board["status"]["error"]
        if error is not None and self.job is not None:
            board["status"]["error"] = self.job.scrub(error)
        rest = "failed" if board["status"].get("failed") else "stopped"
        return {"state": "running" if beat else rest, "by": beat, **board}

    def _at_rest(self) -> str:
        return "stopped" if self._changes() else "new"

    @property
    def running(self) -> bool:
        """Whether a stream runs on the checkpoint."""
        return bool(self.live()["state"] == "running")

    def sink(self) -> dict[str, Any] | None:
        """Where answers go, as the stream reported when it ran, or otherwise as its job says."""
        told = self.live().get("sink")
        if told is not None:
            return dict(told)
        if self.job is None or self.job.sink is None:
            return None
        spec = self.job.sink
        kinds = {"parquet": "ParquetSink", "long": "LongSink"}
        path = self.job.locate(spec.path) if spec.path else None
        return {"kind": kinds.get(spec.kind, spec.kind), "path": path}

    @property
    def time(self) -> str | None:
        """The stream's time column, if it is known."""
        catalogue = self.snapshot().catalogue
        if catalogue is not None:
            return catalogue.settings.time
        return self.job.source.time if self.job is not None else None
