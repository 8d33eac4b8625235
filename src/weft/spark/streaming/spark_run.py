"""Spark's query of a stream: started with a version, halted, and restarted after a failure.

    version --launch--> Spark query --micro-batch--> delivery --> sink
                             | fails
                             v
          who is to blame? --> started again: without a failed query, with probes, or unchanged

`Running` is the stream as its user sees it; it stays the same while Spark's query is started again
and again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from weft.engine.parcel import greatest
from weft.errors import EngineError
from weft.spark.as_written import texts_as_written
from weft.spark.failures import short, spark_message
from weft.spark.streaming.delivery import Delivery
from weft.spark.streaming.launch import halt, launch
from weft.spark.streaming.listener import listen
from weft.spark.streaming.lost_rows import LostRows
from weft.spark.streaming.pipeline import answers_frame
from weft.spark.streaming.rewrite import rewritten_frame
from weft.spark.streaming.tick_source import ticks_frame
from weft.spark.streaming.trial import tried_apart
from weft.spark.streaming.versions import Version, Versions
from weft.stream.between import Between
from weft.stream.burst import Change
from weft.stream.columns import Column
from weft.stream.culprits import Verdict, judge
from weft.stream.future_rows import Guard, observed
from weft.stream.idle import Ticker
from weft.stream.rescaling import written
from weft.stream.trigger import Trigger

_REPORT = 1.0
"""Seconds to wait for Spark's report on the last micro-batch of a stream that has ended."""
_SAID = 500
"""Most characters of an error that are passed to Spark; the full text is in `status().error`."""
# Only by this text Spark recognises an error of a Python sink that was caused by stop().
_INTERRUPTED = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling the sink: "
    "java.lang.InterruptedException"
)
_WAITING = "Waiting for data to arrive"
"""Spark's status message of a stream after it has found no rows, until it looks again."""
_RETRIES = 3
_TRANSIENT = (
    "Python worker failed to connect back",
    # Spark 4.1's Kafka source reports metrics before it has any, after a repeated micro-batch
    # (SPARK-55271). That micro-batch is done by then.
    'IterableOps.map(scala.Function1)" because the return value of "scala.Option.get()" is null',
)
"""Errors of Spark that go away when its query is restarted."""


class SparkRun:
    """Spark's query of a stream, as last started; made by `Running`.

    Its methods that start or stop it are called with the lock of the stream held.
    """

    query: StreamingQuery
    """Spark's own handle; set by the first `launch`."""

    def __init__(
        self,
        versions: Versions,
        delivery: Delivery,
        between: Between,
        *,
        checkpoint: str,
        trigger: Trigger,
        guard: Guard,
        pausing: threading.Event,
        hide: Callable[[str], str],
        lost: LostRows | None = None,
    ) -> None:
        self._versions, self._delivery, self._between = versions, delivery, between
        self._checkpoint, self._trigger, self._guard = checkpoint, trigger, guard
        self._pausing, self._hide, self._lost = pausing, hide, lost
        self.error: str | None = None
        """The last error, in full; secrets are hidden."""
        self._said: str | None = None
        """The last error of a micro-batch in a sentence."""
        self._retries = _RETRIES
        self._given_up: StreamingQuery | None = None
        """The run for whose failure no query could be found responsible."""
        self._observed = (0, -1)
        self._closing = threading.Lock()
        settings = versions.catalogue.settings
        self._ticker = Ticker(checkpoint, settings.idle, delivery.progress)
        self._ticks = (
            None if settings.idle is None else ticks_frame(self.spark, checkpoint, settings.buckets)
        )
        self._listener = listen(self.spark)
        if self._listener is not None:
            self._listener.heard = delivery.log.reported

    # Starting and stopping.

    @property
    def spark(self) -> SparkSession:
        """The session that the stream was started in; it runs in a copy of it."""
        return self._versions.spark

    @texts_as_written
    def launch(self, version: Version) -> None:
        """Start Spark's query with a version that was compiled for it."""
        before = self._versions.now, self._versions.past
        settings = version.catalogue.settings
        with self._between.still():  # the first micro-batch is delivered once `query` is set
            try:
                self._versions.begin(version, self._delivery.progress)
                self.query = launch(
                    lambda: self._frame(version),
                    self._versions.df,
                    self._deliver,
                    checkpoint=self._checkpoint,
                    trigger=self._trigger,
                    partitions=settings.partitions,
                    narrow=version.compiled.narrow,
                    eager=settings.emit == "eager",
                )
            except Exception:
                self._versions.now, self._versions.past = before
                raise
            if (listener := self._listener) is not None:
                listener.identity = str(self.query.id)

    def relaunch(self, probes: tuple[Column, ...] = ()) -> None:
        """Start it again with the current catalogue."""
        with self._between.still():
            self.launch(self._versions.again(probes))

    def switch(self, asked: Sequence[Change], *, launch: bool) -> None:
        """Change a halted stream; if it cannot be started with the change, nothing is changed."""
        with self._between.still():  # so that no other change comes between the two catalogues
            version, _ = self._versions.altered(asked, self._delivery.progress, live=False)
            files = self._versions.files
            files.write(version.catalogue)
            try:
                if launch:
                    self.launch(version)
                else:
                    self._versions.now = version
            except Exception:
                files.withdraw(version.catalogue)
                raise

    def halt(self, timeout: float = 60.0) -> None:
        """Stop it between two micro-batches, or during one after `timeout`."""
        halt(self.query, self._pausing, timeout)

    def halt_to_restart(self) -> None:
        """Stop it before a restart.

        Unless the trigger waits for rows, the restarted query would not close the windows that the
        last rows have closed, except in a micro-batch that has begun, which is then repeated. So
        such a query is stopped when one has begun, unless it ends on its own.
        """
        may_stop = (lambda: True) if self._trigger.waits else self._is_under_way
        halt(self.query, self._pausing, may_stop=may_stop)

    def _is_under_way(self) -> bool:
        """Whether, by Spark's logs, a micro-batch has begun and is not finished."""
        so_far = written(self._checkpoint)
        return so_far.last > so_far.committed

    def close(self) -> None:
        """Stop listening to Spark, once it has reported on the last micro-batch."""
        with self._closing:  # the thread that stops the stream and those that wait for its end
            listener, self._listener = self._listener, None
        if listener is None:
            return
        ends = time.monotonic() + _REPORT
        while not self._delivery.log.is_complete and time.monotonic() < ends:
            time.sleep(0.02)
        self.spark.streams.removeListener(listener)

    def _frame(self, version: Version) -> DataFrame:
        settings = version.catalogue.settings
        progress = self._delivery.progress
        guard = self._guard.since(progress.max_event_time, progress.clock)
        if self._lost is not None:
            self._lost.guard, self._lost.ticks = guard, self._ticks
        if settings.engine == "operator":
            menu, buckets = version.compiled.menu, version.compiled.program.buckets
            programs = self._versions.deployment.lookup
            return answers_frame(menu, settings.watermark, buckets, programs, guard, self._ticks)
        plan = version.catalogue.planned
        numbers = {entry.query.name: entry.number for entry in version.catalogue.entries}
        df, axis = self._versions.df, self._versions.axis
        return rewritten_frame(df, axis, settings.watermark, plan, numbers, guard)

    # Micro-batches.

    def _deliver(self, frame: DataFrame, number: int) -> None:
        """Called by Spark for each micro-batch. Error messages are shortened.

        Spark searches the text of a JVM error for an interruption by a regular expression that
        recurses once per character: a long text would cause a stack overflow.
        """
        try:
            with self._between.micro_batch():
                self._delivery.deliver(frame, number)
                self.observed_ahead()
                self._note_rows()
        except Exception as error:
            if self._pausing.is_set():
                raise EngineError(_INTERRUPTED) from None
            self.error = self._hide(str(error))
            said = spark_message(error) or f"{type(error).__name__}: {error}"
            text = " ".join(self._hide(said).split()).replace("py4j.protocol.", "")
            self._said = text
            raise EngineError(f"micro-batch {number} was not delivered: {text[:_SAID]}") from None

    def _note_rows(self) -> None:
        """Inform the ticker about the micro-batch that was delivered last."""
        tally = self._delivery.tally
        tick = greatest(one.get("tick") for one in tally.last)
        self._ticker.delivered(tally.last_rows, self._delivery.progress.max_event_time, tick)

    def look_for_idleness(self) -> None:
        """Write a tick, if the source has been idle for so long that one is due."""
        if self._trigger.waits:
            self._ticker.look(self._is_waiting)

    def _is_waiting(self) -> bool:
        """Whether Spark has looked for rows, and found none.

        A stream that is working, or has not started to, is not idle however long that takes.
        """
        return self.is_active and self.query.status["message"] == _WAITING

    # What Spark says.

    @property
    def is_active(self) -> bool:
        """Whether Spark's query is running."""
        return bool(self.query.isActive)

    @property
    def has_failed(self) -> bool:
        """Whether Spark's query has ended with an error."""
        query = self.query  # a restart in another thread replaces it
        return not query.isActive and query.exception() is not None

    @property
    def last_report(self) -> Any:
        """Spark's last progress report; None if there is none yet."""
        listener = self._listener
        heard = None if listener is None else listener.last
        return heard or self.query.lastProgress

    @property
    def reports(self) -> Any:
        """Progress reports that have not been taken yet; None if Spark cannot be listened to."""
        listener = self._listener
        return None if listener is None else listener.recent

    def log_reports(self) -> None:
        """Put Spark's reports into the log of micro-batches, if no listener does."""
        if self._listener is None:
            for report in self.query.recentProgress:
                self._delivery.log.reported(report)

    def observed_ahead(self) -> int:
        """Rows that the rewrite engine set aside since the start; Spark keeps few reports."""
        if self._versions.catalogue.settings.engine != "operator":
            rows, batch = self._observed
            more, batch = observed(self.query.recentProgress, batch)
            self._observed = (rows + more, batch)
        return self._observed[0]

    # After a failure.

    def recover(self) -> bool:
        """Start it again after it has failed; False if it has to stay down.

        It is restarted without a query that failed; or unchanged if Spark itself failed, for
        instance because a Python worker did not start in time. Retrying loses nothing.
        """
        failed = self.query
        text = f"{self.error}\n{failed.exception()}"
        said = short(self._said or text)
        batch = self._delivery.progress.batch + 1
        version = self._versions.at(batch)
        verdict = judge(text, said, batch, version.asking)
        if verdict is not None:
            return self._go_on(verdict)
        if not any(one in text for one in _TRANSIENT):
            verdict = None if failed is self._given_up else self._tried_apart(version)
            self._given_up = failed
            return verdict is not None and self._go_on(verdict)
        return self._try_again()

    def _try_again(self, probes: tuple[Column, ...] = ()) -> bool:
        if not self._retries:
            return False
        self._retries -= 1
        self.relaunch(probes)
        return True

    def _tried_apart(self, version: Version) -> Verdict | None:
        """The queries that fail on the current rows, if the error does not say; None if none."""
        if version.catalogue.settings.engine != "operator":
            return None
        df, axis = self._versions.df, self._versions.axis
        try:
            queries = version.catalogue.queries
            guilty = tried_apart(df, axis, self._checkpoint, queries, self._ticks)
        except Exception:  # the source cannot be read again: report the error of the stream
            return None
        batch = self._delivery.progress.batch + 1
        return Verdict.of(guilty, version.catalogue.entries, batch)

    def _go_on(self, verdict: Verdict) -> bool:
        """Start it again without the failed queries, or with probes that find them."""
        if not verdict.changes:
            return self._try_again(verdict.probes)
        self._retries = _RETRIES
        try:
            self._versions.altered(verdict.changes, self._delivery.progress, live=False)
        except EngineError as error:  # no query is left
            self.error = self._hide(str(error))
            return False
        self.switch(verdict.changes, launch=True)
        self.error = self._hide(verdict.said)
        return True
