"""A running stream: queries come and go, and it says how it is doing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from weft.engine.overload import blamed, too_much_state
from weft.engine.parcel import greatest
from weft.engine.state.lanes import explain_lanes
from weft.errors import EngineError
from weft.job.variables import redact
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.query.trust import check_untrusted
from weft.sinks import MicroBatch, Sink
from weft.sinks.files import locate
from weft.spark.as_written import as_written, texts_as_written
from weft.spark.failures import spark_message
from weft.spark.streaming.compile import Compiled, argument_types, compile_catalogue
from weft.spark.streaming.listener import listen
from weft.spark.streaming.lower_in_sql import lowered_frame
from weft.spark.streaming.pipeline import answers_frame
from weft.spark.streaming.rewrite import rewritten_frame
from weft.stream.adaptive import Adapter, measured_lines
from weft.stream.burst import Burst
from weft.stream.catalogue import Catalogue, CatalogueFiles, Progress, ProgressFile
from weft.stream.evolve import next_catalogue
from weft.stream.future_rows import Guard, observed
from weft.stream.handling import Handling
from weft.stream.heartbeat import Heartbeat
from weft.stream.metrics import MetricsServer, prometheus
from weft.stream.requests import Requests
from weft.stream.status import Status, Tally, status_of
from weft.stream.status_file import Board, sink_facts
from weft.stream.trigger import Trigger

_CONF = {
    # The only store that transformWithState runs on.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Commits of a micro-batch write what changed instead of a snapshot.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Batches of Arrow rows large enough that aggregating them pays.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "131072",
}
# Spark asks for the size of the Arrow batch after every row, which takes longer than writing the
# row, unless the bound is this one. It is lifted where the number of rows is bound enough.
_UNBOUND = {"spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1)}
_POLL = 1.0
_SAID = 500
"""Characters of an error that are handed back to Spark; the whole is in `status().error`."""
# By this text, and no other, Spark knows an error of a Python sink that its own stop() caused.
_INTERRUPTED = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling the sink: "
    "java.lang.InterruptedException"
)
_TRANSIENT = "Python worker failed to connect back"


class Running:
    """A stream that runs; made by `Loom.start`."""

    def __init__(
        self,
        df: DataFrame,
        axis: TimeAxis,
        catalogue: Catalogue,
        sink: Sink,
        *,
        checkpoint: str,
        trigger: Trigger,
        adaptive: bool = False,
        guard: Guard | None = None,
        hide: Callable[[str], str] = redact,
    ) -> None:
        self.df, self.axis, self.sink, self.checkpoint = df, axis, sink, checkpoint
        self.trigger, self.adaptive = trigger, adaptive
        self._hide = hide
        self._observed = (0, -1)
        self.guard = Guard.of("auto", axis) if guard is None else guard
        self._files, self._progress_file = CatalogueFiles(checkpoint), ProgressFile(checkpoint)
        self._requests = Requests(checkpoint)
        self._requests.abandon()
        self._handling = Handling(self, self._requests, hide)
        self._board = Board(checkpoint, sink_facts(sink))
        self._progress = self._progress_file.read()
        self._tally = Tally()
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._pausing = threading.Event()
        self._server: MetricsServer | None = None
        self._error: str | None = None
        self._stream: str | None = None
        self._adapter = Adapter()
        self._retries = 3
        self._excess: tuple[int, str] | None = None
        self._listener = listen(df.sparkSession)
        self.catalogue = catalogue
        self._compiled = self._compile(catalogue)
        self._query = self._launch()
        self._heartbeat = Heartbeat(checkpoint).start()
        self._thread = threading.Thread(target=self._watch, name="weft-requests", daemon=True)
        self._thread.start()

    # Starting and stopping.

    def _compile(self, catalogue: Catalogue) -> Compiled:
        return compile_catalogue(catalogue, self.df, self.axis)

    @property
    def spark(self) -> SparkSession:
        """The session that the stream was started in; it runs in a copy of it."""
        return self.df.sparkSession

    @texts_as_written
    def _launch(self) -> StreamingQuery:
        settings = self.catalogue.settings
        self.sink.open(self._compiled.answered, settings.mode)
        conf = self.df.sparkSession.conf
        wanted = {**_CONF, "spark.sql.shuffle.partitions": str(settings.partitions)}
        wanted |= _UNBOUND if self._compiled.narrow else {}
        before: dict[str, str | None] = {name: conf.get(name, None) for name in wanted}
        for name, setting in wanted.items():
            conf.set(name, setting)
        try:  # the stream runs in a copy of the session, made as it starts
            frame = self._frame()
            writer = frame.writeStream.foreachBatch(self._deliver)
            writer = writer.option("checkpointLocation", self.checkpoint)
            query = writer.trigger(**dict(self.trigger.options)).start()
        finally:
            for name, value in before.items():
                if value is None:
                    conf.unset(name)
                else:
                    conf.set(name, value)
        if self._listener is not None:
            self._listener.identity = str(query.id)
        return query

    def _frame(self) -> DataFrame:
        settings = self.catalogue.settings
        guard = self.guard.since(self._progress.max_event_time, self._progress.clock)
        if settings.engine == "operator":
            return answers_frame(self.df, self.axis, settings.watermark, self._compiled, guard)
        plan = Plan.from_dict(self.catalogue.plan)
        numbers = {entry.query.name: entry.number for entry in self.catalogue.entries}
        return rewritten_frame(self.df, self.axis, settings.watermark, plan, numbers, guard)

    def _deliver(self, frame: DataFrame, number: int) -> None:
        """Called by Spark for each micro-batch. Errors are told in short.

        Spark looks for an interruption in the text of a JVM error by a regular expression that
        recurses once per character: a long text ends the stream with a stack overflow instead.
        """
        try:
            self._deliver_batch(frame, number)
        except Exception as error:
            if self._pausing.is_set():
                raise EngineError(_INTERRUPTED) from None
            self._error = self._hide(str(error))
            said = spark_message(error) or f"{type(error).__name__}: {error}"
            text = " ".join(self._hide(said).split()).replace("py4j.protocol.", "")
            raise EngineError(f"micro-batch {number} was not delivered: {text[:_SAID]}") from None

    def _deliver_batch(self, frame: DataFrame, number: int) -> None:
        began, clock = time.perf_counter(), time.time_ns() // 1000
        self.guard.check_clock(clock, self._progress.clock)
        compiled = self._compiled
        silent = self.catalogue.silent(number)
        if silent:
            frame = frame.where(f"query NOT IN ({', '.join(map(str, sorted(silent)))})")
        with (
            as_written(frame.sparkSession),
            lowered_frame(frame, self.axis, compiled, self.catalogue) as lowered,
        ):
            mode = self.catalogue.settings.mode
            batch = MicroBatch(number, lowered, compiled.answered, mode, self._identity())
            figures = self.sink.deliver(batch)
        for one in figures:  # an answer that was held back was not given
            one["answers"] = {q: n for q, n in one["answers"].items() if int(q) not in silent}
        progress = self._progress.at_least(
            greatest(one["high"] for one in figures),
            greatest(one["watermark"] for one in figures),
            number,
            self.catalogue.number,
            clock,
        )
        self._progress_file.write(progress)
        self._progress = progress
        self._observed_ahead()
        self._tally.add(number, figures, time.perf_counter() - began)
        self._excess = too_much_state(figures, self.catalogue.youngest_untrusted())

    def _identity(self) -> str:
        """Spark's name for the stream, which it keeps in the checkpoint from the start on.

        Read there because the first micro-batch may come before `start` has returned its handle.
        """
        if self._stream is None:
            system, path = locate(self.checkpoint)
            with system.open_input_stream(f"{path}/metadata") as stream:
                self._stream = str(json.loads(stream.read())["id"])
        return self._stream

    def stop(self, timeout: float = 60.0) -> None:
        """Finish the micro-batch that runs, then stop."""
        with self._lock:
            self._stopped.set()
            self._halt(timeout)
        self._close()

    def _close(self) -> None:
        self._stopped.set()
        self._heartbeat.stop()
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._listener is not None:
            self.df.sparkSession.streams.removeListener(self._listener)
            self._listener = None
        if self._thread is not threading.current_thread():
            self._thread.join(5.0)
        with suppress(Exception):  # only a report: a checkpoint that fails now must not hide why
            self._post()

    def _halt(self, timeout: float = 60.0) -> None:
        """Stop the Spark query between two micro-batches, or in the middle after `timeout`.

        In the middle is safe too: a micro-batch that was not committed is run again.
        """
        query = self._query
        before = _batch_of(query)
        ends = time.monotonic() + timeout
        while query.isActive and time.monotonic() < ends:
            if not query.status["isTriggerActive"] or _batch_of(query) != before:
                break
            time.sleep(0.02)
        self._pausing.set()
        try:
            query.stop()
        finally:
            self._pausing.clear()

    @property
    def last_query(self) -> StreamingQuery:
        """Spark's own handle of the stream, as last started."""
        return self._query

    @property
    def is_active(self) -> bool:
        """Whether the stream runs."""
        return bool(self._query.isActive)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the stream ends; True if it has. An error that ended it is raised."""
        ends = None if timeout is None else time.monotonic() + timeout
        while ends is None or time.monotonic() < ends:
            with self._lock:
                query = self._query
            left = 1.0 if ends is None else max(0.05, min(1.0, ends - time.monotonic()))
            try:
                done = query.awaitTermination(left)  # type: ignore[arg-type]
            except Exception as error:
                if self._recovered(query):
                    continue
                # What a sink said is nearer to the cause.
                self._error = self._error or self._hide(str(error))
                self._close()
                raise
            with self._lock:
                if done and query is self._query:
                    self._close()
                    return True
        return False

    def _recovered(self, failed: StreamingQuery) -> bool:
        """Whether the stream goes on: under another run by now, or started again here.

        On a machine that is overloaded a Python worker may not come up within Spark's patience.
        Nothing is lost by trying again, a few times.
        """
        with self._lock:
            if failed is not self._query:
                return True
            beyond = blamed(f"{failed.exception()} {self._error}")
            if beyond is not None and not self._stopped.is_set():
                return self._take_out(*beyond)
            if (
                self._stopped.is_set()
                or not self._retries
                or _TRANSIENT not in f"{failed.exception()} {self._error}"
            ):
                return False
            self._retries -= 1
            self._query = self._launch()
            return True

    # Queries come and go.

    def add(self, query: Query | str, name: str | None = None, *, backfill: bool = False) -> None:
        """Weave a query (or the SQL of one) in, from the next micro-batch on.

        It is answered from the first window that starts after everything seen so far; with
        `backfill`, from the first open window of which the slices are already kept.
        """
        if isinstance(query, str):
            from weft.query.sql import parse_query

            query = parse_query(query, name)
        check_untrusted([query])
        with self._lock:
            if query.window.axis != self.axis.axis:
                raise EngineError(
                    f"query {query.name!r}: its window is on a {query.window.axis} axis, and the "
                    f"time column {self.axis.column!r} is of kind {self.axis.kind}"
                )
            names = {known.name.lower() for known in self.catalogue.queries}
            if query.name.lower() in names:
                raise EngineError(f"query {query.name!r} runs already; drop it first")
            plan = Plan.from_dict(self.catalogue.plan).add([query])
            self._change(plan, backfill=[query.name] if backfill else [])

    def drop(self, name: str) -> None:
        """Take a query out, from the next micro-batch on; its state is freed."""
        with self._lock:
            entry = self.catalogue.entry(name)
            if len(self.catalogue.entries) == 1:
                raise EngineError(f"{name!r} is the last query of the stream: stop() it instead")
            plan = Plan.from_dict(self.catalogue.plan).drop([entry.query.name])
            self._change(plan)

    def pause(self, name: str) -> None:
        """Hold a query's answers back from the next micro-batch on; its state is kept up to date.

        Windows that close while it is paused are not answered, then or later.
        """
        self._set_paused(name, True)

    def resume(self, name: str) -> None:
        """Answer a paused query again: every window that closes from now on, complete."""
        self._set_paused(name, False)

    def _set_paused(self, name: str, paused: bool) -> None:
        with self._lock:
            if (self.catalogue.entry(name).paused is not None) == paused:
                raise EngineError(
                    f"query {name!r} is {'paused already' if paused else 'not paused'}"
                )
            was_active = self.is_active
            if was_active:
                self._halt()
            since = self._progress.batch + 1 if paused else None
            self._switch(self.catalogue.with_paused(name, since), self._compiled, launch=was_active)

    def apply(self, asked: Sequence[dict[str, Any]]) -> None:
        """Make one change of some requests that came together; an error if any is amiss."""
        with self._lock:
            burst = Burst.of(self.catalogue.queries, asked)
            if burst.changes:
                self._change(burst.applied(Plan.from_dict(self.catalogue.plan)), burst.backfill)

    def _take_out(self, number: int, why: str) -> bool:
        """Drop a query that is beyond its limits, and go on; False if it is the only one."""
        with self._lock:
            found = [entry for entry in self.catalogue.entries if entry.number == number]
            if not found or len(self.catalogue.entries) == 1:
                return False
            name = found[0].query.name
            plan = Plan.from_dict(self.catalogue.plan).drop([name])
            was_active = self.is_active
            if was_active:
                self._halt()
            catalogue = next_catalogue(self.catalogue, plan, self._progress)
            self._switch(catalogue, self._compile(catalogue), launch=True)
            self._error = f"query {name!r} was taken out: {why}"
            return True

    def replan(self, plan: Plan) -> None:
        """Go on under another plan of the same queries."""
        with self._lock:
            self._change(plan)

    def _change(self, plan: Plan, backfill: Sequence[str] = ()) -> None:
        """Write the next catalogue between two micro-batches, and go on with it."""
        if self.catalogue.settings.engine != "operator":
            raise EngineError(
                "queries of engine='rewrite' are fixed, because Spark ties their state to the "
                "plan: use engine='operator' to add and drop them"
            )
        # What can be wrong with the queries shows here, before the stream is touched.
        types = argument_types(self.df, self.axis, plan.queries)
        tried = self._compile(next_catalogue(self.catalogue, plan, self._progress, backfill, types))
        self.sink.check(tried.answered, self.catalogue.settings.mode)
        was_active = self.is_active
        if was_active:
            self._halt()
        try:
            catalogue = next_catalogue(self.catalogue, plan, self._progress, backfill, types)
            self._switch(catalogue, self._compile(catalogue), launch=was_active)
        except Exception:
            if was_active and not self.is_active:
                self._query = self._launch()
            raise

    def _switch(self, catalogue: Catalogue, compiled: Compiled, *, launch: bool) -> None:
        """Make this the catalogue; if the stream cannot be started with it, nothing has changed."""
        before = self.catalogue, self._compiled
        self._files.write(catalogue)
        self.catalogue, self._compiled = catalogue, compiled
        try:
            if launch:
                self._query = self._launch()
        except Exception:
            self._files.withdraw(catalogue)
            self.catalogue, self._compiled = before
            raise

    def _watch(self) -> None:
        """Pick up requests from other processes, and re-plan where that was asked for."""
        while not self._stopped.wait(_POLL):
            try:
                query = self._query
                if not query.isActive and query.exception() is not None:
                    self._recovered(query)
                self._handling.carry_out()
                if self._excess is not None:
                    self._take_out(*self._excess)
                    self._excess = None
                if self.adaptive:
                    self._adapt()
                self._post()
            except Exception as error:  # the stream itself goes on
                self._error = self._hide(str(error))

    def _adapt(self) -> None:
        plan = self._adapter.better_plan(self.catalogue, self._tally, self._rate())
        if plan is not None:
            self.replan(plan)

    # How it is doing.

    def _rate(self) -> float | None:
        """Rows per second of event time, as measured."""
        return self._tally.rate(1 if self.axis.kind == "integer" else 1_000_000)

    def _observed_ahead(self) -> int:
        """Rows that the rewrite engine set aside since the start; Spark keeps few reports."""
        if self.catalogue.settings.engine != "operator":
            rows, batch = self._observed
            more, batch = observed(self._query.recentProgress, batch)
            self._observed = (rows + more, batch)
        return self._observed[0]

    def status(self) -> Status:
        """Rates, lag, state, late rows and each query's share, as of the last micro-batch."""
        with self._lock:
            catalogue, tally, query = self.catalogue, self._tally, self._query
        return status_of(
            catalogue,
            tally,
            self._progress,
            query.lastProgress or (self._listener.last if self._listener else None),
            active=self.is_active,
            timed=self.axis.kind != "integer",
            ahead_rows=tally.ahead_rows + self._observed_ahead(),
            error=self._error,
            damaged_requests=self._requests.damaged(),
        )

    def _post(self) -> None:
        """Leave the status in the checkpoint, where other processes find it."""
        reports = self._listener.recent if self._listener is not None else None
        self._board.post(self.status(), reports)

    def metrics(self) -> str:
        """The status as Prometheus text."""
        return prometheus(self.status())

    def serve_metrics(self, port: int = 0) -> int:
        """Serve `metrics()` at http://127.0.0.1:port/metrics; returns the port."""
        if self._server is None:
            self._server = MetricsServer(self.metrics, port)
        return self._server.port

    def explain(self) -> str:
        """The plan, and what it predicted beside what was measured."""
        plan = Plan.from_dict(self.catalogue.plan)
        lines = [plan.explain(), *measured_lines(plan, self.catalogue, self._tally, self._rate())]
        if self.catalogue.settings.engine == "operator":
            lines += explain_lanes(self._compiled.program.stores, self.catalogue.settings.finals)
        return "\n".join(lines)

    @property
    def queries(self) -> Sequence[Query]:
        """The queries that run."""
        return tuple(self.catalogue.queries)

    @property
    def progress(self) -> Progress:
        """How far the stream has come."""
        return self._progress


def _batch_of(query: StreamingQuery) -> int:
    progress = query.lastProgress
    return -1 if progress is None else int(progress["batchId"])
