"""Delivers a micro-batch: its answers go to the sink, and its metrics are recorded."""

from __future__ import annotations

import json
import threading
import time

from pyspark.sql import DataFrame

from weft.engine.parcel import greatest
from weft.sinks import MicroBatch
from weft.sinks.files import locate
from weft.spark.as_written import as_written
from weft.spark.streaming.held import HeldAnswers
from weft.spark.streaming.lost_rows import LostRows
from weft.spark.streaming.lower_in_sql import lowered_frame
from weft.spark.streaming.versions import Versions
from weft.stream.batch_log import BatchDone, BatchLog
from weft.stream.future_rows import Guard
from weft.stream.ledger import LedgerFile
from weft.stream.progress import ProgressFile
from weft.stream.status import Tally
from weft.stream.usage import Excess, excesses_after


class Delivery:
    """Delivers the micro-batches of a stream, each by the version that it ran with."""

    def __init__(
        self,
        versions: Versions,
        checkpoint: str,
        guard: Guard,
        pausing: threading.Event,
        lost: LostRows | None = None,
    ) -> None:
        self._versions, self._checkpoint = versions, checkpoint
        self._guard, self._pausing, self._lost = guard, pausing, lost
        self._file, self._held = ProgressFile(checkpoint), HeldAnswers(checkpoint)
        self.progress = self._file.read()
        """The progress of the stream."""
        self.tally = Tally(ledger=LedgerFile(checkpoint).read())
        self.log = BatchLog()
        self._excesses: list[Excess] = []
        self._stream: str | None = None

    def deliver(self, frame: DataFrame, number: int) -> None:
        """Deliver a micro-batch to the sink, and record its metrics and the stream's progress."""
        began, clock = time.perf_counter(), time.time_ns() // 1000
        self._guard.check_clock(clock, self.progress.clock)
        version, axis = self._versions.at(number), self._versions.axis
        catalogue, compiled = version.catalogue, version.compiled
        silent = catalogue.silent(number)
        unasked = silent - set(compiled.holding)  # answers to hold are computed even if paused
        if unasked:  # the operator does not compute these; the rewrite engine does
            frame = frame.where(f"query NOT IN ({', '.join(map(str, sorted(unasked)))})")
        if not compiled.holding:
            self._held.clear()
        with (
            as_written(frame.sparkSession),
            lowered_frame(
                frame,
                axis,
                compiled,
                catalogue,
                held=self._held,
                batch=number,
                silent=silent,
                is_halting=self._pausing.is_set,
            ) as lowered,
        ):
            mode = catalogue.settings.mode
            batch = MicroBatch(number, lowered, compiled.answered, mode, self._identity())
            figures = self._versions.sink.deliver(batch)
        if self._lost is not None:
            self._lost.deliver(number, version, figures, self._pausing.is_set)
        for one in figures:  # do not count answers that were not delivered
            one["answers"] = {q: n for q, n in one["answers"].items() if int(q) not in silent}
        progress = self.progress.at_least(
            greatest(one["high"] for one in figures),
            greatest(one["watermark"] for one in figures),
            number,
            catalogue.number,
            clock,
        )
        self._file.write(progress)
        self.progress = progress
        self.tally.add(number, figures, time.perf_counter() - began)
        self.tally.ledger.add(number, catalogue, figures, time.time())
        self._log(number)
        self._excesses = excesses_after(catalogue, figures, self.tally.recent)

    def _log(self, number: int) -> None:
        """Log the state of the stream after a micro-batch."""
        tally, catalogue = self.tally, self._versions.catalogue
        held = [tally.store(store.number) for store in catalogue.stores]
        done = BatchDone(
            number,
            time.time(),
            tally.last_rows,
            tally.last_seconds,
            watermark=self.progress.frontier,
            high=self.progress.max_event_time,
            slices=sum(one["slices"] for one in held),
            state_bytes=sum(one["bytes"] for one in held),
            answers=tally.all_answers,
        )
        self.log.delivered(done)

    def taken(self) -> list[Excess]:
        """The queries that exceeded a limit in the last micro-batch; returned only once."""
        found, self._excesses = self._excesses, []
        return found

    def _identity(self) -> str:
        """Spark's id of the stream, which it stores in the checkpoint at the start.

        It is read there because the first micro-batch may run before `start` returns its handle.
        """
        if self._stream is None:
            system, path = locate(self._checkpoint)
            with system.open_input_stream(f"{path}/metadata") as stream:
                self._stream = str(json.loads(stream.read())["id"])
        return self._stream
