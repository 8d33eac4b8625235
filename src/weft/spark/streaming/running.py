"""A running stream: queries come and go, and it says how it is doing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from weft.engine.parcel import greatest
from weft.engine.state.lanes import explain_lanes
from weft.errors import EngineError
from weft.job.variables import redact
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.sinks import Sink
from weft.sinks.contract import SinkQuery
from weft.spark.as_written import texts_as_written
from weft.spark.failures import short, spark_message
from weft.spark.instants import At
from weft.spark.streaming.as_of import Asked, StateReader
from weft.spark.streaming.delivery import Delivery
from weft.spark.streaming.history import check_history, write_history
from weft.spark.streaming.launch import halt, launch
from weft.spark.streaming.listener import listen
from weft.spark.streaming.lost_rows import LostRows
from weft.spark.streaming.pipeline import answers_frame
from weft.spark.streaming.rewrite import rewritten_frame
from weft.spark.streaming.tick_source import ticks_frame
from weft.spark.streaming.trial import tried_apart
from weft.spark.streaming.versions import Version, Versions
from weft.stream.adaptive import Adapter, measured_lines
from weft.stream.as_of import LIMIT, AsOf
from weft.stream.batch_log import BatchDone
from weft.stream.between import Between
from weft.stream.burst import NONE_LEFT, Change, NeedsRestart, history_changes, wholes
from weft.stream.catalogue import Catalogue
from weft.stream.columns import Column
from weft.stream.culprits import Verdict, judge
from weft.stream.events import News, Watcher
from weft.stream.future_rows import Guard, observed
from weft.stream.handling import Handling
from weft.stream.heartbeat import Heartbeat
from weft.stream.idle import Ticker
from weft.stream.ledger import Cost, LedgerFile
from weft.stream.metrics import MetricsServer, prometheus
from weft.stream.progress import Progress
from weft.stream.requests import Requests
from weft.stream.rescaling import written
from weft.stream.status import Status, status_of
from weft.stream.status_file import Board, sink_facts
from weft.stream.trigger import Trigger
from weft.stream.usage import Excess

Made = TypeVar("Made")
_LOOK = 0.2
"""Seconds between two looks at whether the Spark query has failed."""
_POST = 1.0
"""Seconds between two reports of the status."""
_REPORT = 1.0
"""Seconds to wait for Spark's report on the last micro-batch of a stream that has ended."""
_SAID = 500
"""Characters of an error that are handed back to Spark; the whole is in `status().error`."""
# By this text, and no other, Spark knows an error of a Python sink that its own stop() caused.
_INTERRUPTED = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling the sink: "
    "java.lang.InterruptedException"
)
_WAITING = "Waiting for data to arrive"
"""What Spark says of a stream from when it has found no rows until it looks for the next."""
_RETRIES = 3
_TRANSIENT = (
    "Python worker failed to connect back",
    # Spark 4.1's Kafka source reports metrics before it has any, after a micro-batch that is run
    # again (SPARK-55271). That micro-batch is done by then.
    'IterableOps.map(scala.Function1)" because the return value of "scala.Option.get()" is null',
)
"""Errors of Spark that a new start of its query is without."""


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
        offer: Sequence[str] = (),
        hide: Callable[[str], str] = redact,
        watchers: Callable[[Running], Sequence[Watcher]] = lambda running: (),
        lost: LostRows | None = None,
    ) -> None:
        self.df, self.axis, self.sink, self.checkpoint = df, axis, sink, checkpoint
        self.trigger, self.adaptive = trigger, adaptive
        self._hide, self._lost = hide, lost
        self._observed = (0, -1)
        self.guard = Guard.of("auto", axis) if guard is None else guard
        self._requests = Requests(checkpoint)
        self._requests.abandon()
        self._handling = Handling(self, self._requests, hide)
        self._board = Board(checkpoint, sink_facts(sink))
        self._ledger = LedgerFile(checkpoint)
        self._lock = threading.RLock()
        """Held by whoever changes the stream from outside; never waited for by a micro-batch."""
        self._between = Between()
        self._stopped = threading.Event()
        self._pausing = threading.Event()
        self._server: MetricsServer | None = None
        self._error: str | None = None
        self._said: str | None = None
        """The last error of a micro-batch in a sentence."""
        self._adapter = Adapter()
        self._retries = _RETRIES
        self._given_up: StreamingQuery | None = None
        """A run whose failure nobody could be blamed for."""
        self._listener = listen(df.sparkSession)
        self._versions = Versions(
            df, axis, sink, checkpoint=checkpoint, offer=offer, catalogue=catalogue
        )
        self._delivery = Delivery(self._versions, checkpoint, self.guard, self._pausing, lost)
        settings = catalogue.settings
        self._ticker = Ticker(checkpoint, settings.idle, self.progress)
        self._ticks = (
            None
            if settings.idle is None
            else ticks_frame(df.sparkSession, checkpoint, settings.buckets)
        )
        self._reader = StateReader(df.sparkSession, checkpoint, axis)
        if self._listener is not None:
            self._listener.heard = self._delivery.log.reported
        self._news = News(watchers(self), self._delivery.log)
        self._query = self._launch(self._versions.now)
        self._news.begin(self.status)
        self._heartbeat = Heartbeat(checkpoint).start()
        self._thread = threading.Thread(target=self._watch, name="weft-requests", daemon=True)
        self._thread.start()

    # Starting and stopping.

    @property
    def catalogue(self) -> Catalogue:
        """The queries that run, and by which plan."""
        return self._versions.catalogue

    @property
    def spark(self) -> SparkSession:
        """The session that the stream was started in; it runs in a copy of it."""
        return self.df.sparkSession

    @texts_as_written
    def _launch(self, version: Version) -> StreamingQuery:
        """Start the Spark query under a version that was compiled for it."""
        before = self._versions.now, self._versions.past
        try:
            self._versions.begin(version, self.progress)
            query = launch(
                lambda: self._frame(version),
                self.df,
                self._deliver,
                checkpoint=self.checkpoint,
                trigger=self.trigger,
                partitions=version.catalogue.settings.partitions,
                narrow=version.compiled.narrow,
                eager=version.catalogue.settings.emit == "eager",
            )
        except Exception:
            self._versions.now, self._versions.past = before
            raise
        if self._listener is not None:
            self._listener.identity = str(query.id)
        return query

    def _frame(self, version: Version) -> DataFrame:
        settings = version.catalogue.settings
        guard = self.guard.since(self.progress.max_event_time, self.progress.clock)
        if self._lost is not None:
            self._lost.guard, self._lost.ticks = guard, self._ticks
        if settings.engine == "operator":
            menu, buckets = version.compiled.menu, version.compiled.program.buckets
            programs = self._versions.deployment.lookup
            return answers_frame(menu, settings.watermark, buckets, programs, guard, self._ticks)
        plan = version.catalogue.planned
        numbers = {entry.query.name: entry.number for entry in version.catalogue.entries}
        return rewritten_frame(self.df, self.axis, settings.watermark, plan, numbers, guard)

    def _deliver(self, frame: DataFrame, number: int) -> None:
        """Called by Spark for each micro-batch. Errors are told in short.

        Spark looks for an interruption in the text of a JVM error by a regular expression that
        recurses once per character: a long text ends the stream with a stack overflow instead.
        """
        try:
            with self._between.micro_batch():
                self._delivery.deliver(frame, number)
                self._observed_ahead()
                self._note_rows()
        except Exception as error:
            if self._pausing.is_set():
                raise EngineError(_INTERRUPTED) from None
            self._error = self._hide(str(error))
            said = spark_message(error) or f"{type(error).__name__}: {error}"
            text = " ".join(self._hide(said).split()).replace("py4j.protocol.", "")
            self._said = text
            raise EngineError(f"micro-batch {number} was not delivered: {text[:_SAID]}") from None

    def _note_rows(self) -> None:
        """Tell the ticker of the micro-batch that was delivered last."""
        tally = self._delivery.tally
        tick = greatest(one.get("tick") for one in tally.last)
        self._ticker.delivered(tally.last_rows, self.progress.max_event_time, tick)

    def _is_waiting(self) -> bool:
        """Whether Spark has looked for rows, and found none.

        A stream that is at work, or has not begun to, has not been idle however long that takes.
        """
        return self.is_active and self._query.status["message"] == _WAITING

    def stop(self, timeout: float = 60.0) -> None:
        """Finish the micro-batch that runs, then stop."""
        with self._lock:
            self._stopped.set()
            self._halt(timeout)
        self._close()

    def _close(self) -> None:
        self._stopped.set()
        with suppress(Exception):  # what the last micro-batch was over is so from the next start on
            self._take_out_excesses()
        self._heartbeat.stop()
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._listener is not None:
            ends = time.monotonic() + _REPORT
            while not self._delivery.log.is_complete and time.monotonic() < ends:
                time.sleep(0.02)
            self.df.sparkSession.streams.removeListener(self._listener)
            self._listener = None
        if self._thread is not threading.current_thread():
            self._thread.join(5.0)
        with suppress(Exception):  # only a report: a checkpoint that fails now must not hide why
            self._post()
        with suppress(Exception):
            self._news.end(self.status, self._mark)

    def _halt(self, timeout: float = 60.0, may_stop: Callable[[], bool] = lambda: True) -> None:
        halt(self._query, self._pausing, timeout, may_stop)

    def _is_under_way(self) -> bool:
        """Whether a micro-batch has begun, by Spark's own logs, and is not over."""
        so_far = written(self.checkpoint)
        return so_far.last > so_far.committed

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
                if self._error.startswith(NONE_LEFT):
                    raise EngineError(self._error) from None
                raise
            with self._lock:
                if done and query is self._query:
                    self._close()
                    return True
        return False

    def _recovered(self, failed: StreamingQuery) -> bool:
        """Whether the stream goes on: under another run by now, or started again here.

        Without a query that has failed; or as it is, where Spark failed by itself, for instance
        because a Python worker did not come up in time. Nothing is lost by trying again.
        """
        with self._lock:
            if failed is not self._query:
                return True
            if self._stopped.is_set():
                return False
            text = f"{self._error}\n{failed.exception()}"
            said = short(self._said or text)
            version = self._versions.at(self.progress.batch + 1)
            verdict = judge(text, said, self.progress.batch + 1, version.asking)
            if verdict is not None:
                return self._go_on(verdict)
            if not any(one in text for one in _TRANSIENT):
                verdict = None if failed is self._given_up else self._tried_apart(version)
                self._given_up = failed
                return verdict is not None and self._go_on(verdict)
            if not self._retries:
                return False
            self._retries -= 1
            self._relaunch()
            return True

    def _tried_apart(self, version: Version) -> Verdict | None:
        """Who fails on the rows at hand, where an error does not say; None if nobody does."""
        if version.catalogue.settings.engine != "operator":
            return None
        try:
            queries = version.catalogue.queries
            guilty = tried_apart(self.df, self.axis, self.checkpoint, queries, self._ticks)
        except Exception:  # a source that cannot be read again: what ended the stream is told
            return None
        return Verdict.of(guilty, version.catalogue.entries, self.progress.batch + 1)

    def _go_on(self, verdict: Verdict) -> bool:
        """Start the stream again without queries that failed, or to find out which they are."""
        if not verdict.changes:
            if not self._retries:
                return False
            self._retries -= 1
            self._relaunch(verdict.probes)
            return True
        self._retries = _RETRIES
        try:
            self._versions.altered(verdict.changes, self.progress, live=False)
        except EngineError as error:  # none is left
            self._error = self._hide(str(error))
            return False
        self._switch(verdict.changes, launch=True)
        self._error = self._hide(verdict.said)
        return True

    def _relaunch(self, probes: tuple[Column, ...] = ()) -> None:
        """Start the Spark query again under the catalogue as it is."""
        with self._between.still():
            self._query = self._launch(self._versions.again(probes))

    # Queries come and go.

    def add(
        self,
        query: Query | str,
        name: str | None = None,
        *,
        backfill: bool = False,
        history: DataFrame | None = None,
    ) -> None:
        """Weave a query (or the SQL of one) in, from the next micro-batch on.

        It is answered from the first window that starts after everything seen so far; with
        `backfill`, from the first open window of which the slices are already kept. A query that
        asks for nothing but what the stream projects (see `Loom(offer=...)`) is woven in without a
        pause; for others Spark's query is started again.

        `history` is a batch DataFrame with the stream's columns that has every row before now: the
        query is answered from the first open window on, complete. Rows up to the latest that the
        stream has seen when the query comes are then taken from the history only, later ones from
        the stream only. The call returns when the history is in place; the stream goes on
        meanwhile. If it fails, the query has not been added.
        """
        queries = [query]
        if isinstance(query, str):
            from weft.query.sql import parse_statement

            queries = [*parse_statement(query, name)]
        if history is None:
            self.apply([{"op": "add", "query": one, "backfill": backfill} for one in queries])
        else:
            self._add_with_history([one for one in queries if isinstance(one, Query)], history)

    def _add_with_history(self, queries: Sequence[Query], history: DataFrame) -> None:
        """Add queries that wait, and then give them what they wait for."""
        check_history(history, self.axis, self.df)
        self.apply([{"op": "add", "query": one, "history": True} for one in queries])
        names = [query.name for query in queries]
        try:
            version = self._versions.now
            places = write_history(
                history, self.axis, version.catalogue, version.compiled, self.checkpoint, names
            )
            self.apply(history_changes(places))
        except BaseException:
            with suppress(Exception):  # what went wrong first is told
                self.apply([{"op": "drop", "name": name} for name in wholes(queries)])
            raise

    def drop(self, name: str) -> None:
        """Take a query out, from the next micro-batch on; its state is freed."""
        self.apply([{"op": "drop", "name": name}])

    def pause(self, name: str) -> None:
        """Hold a query's answers back from the next micro-batch on; its state is kept up to date.

        Windows that close while it is paused are not answered, then or later.
        """
        self.apply([{"op": "pause", "name": name}])

    def resume(self, name: str) -> None:
        """Answer a paused query again: every window that closes from now on, complete."""
        self.apply([{"op": "resume", "name": name}])

    def replan(self, plan: Plan) -> None:
        """Go on under another plan of the same queries."""
        self.apply([{"op": "plan", "plan": plan}])

    def apply(self, asked: Sequence[Change]) -> dict[str, Any]:
        """Make some changes, all or none; returns since when they hold.

        A change has an `op`: add (with `query` and perhaps `backfill`), drop, pause or resume
        (with `name`), or limit (with `name` and `limits`).
        """
        with self._lock:
            if self.is_active and self.fits(asked):
                try:
                    return self.soon(lambda: self.change(asked)).result()
                except NeedsRestart:  # others have changed since what it has to fit
                    pass
            return self.restart(asked)

    def soon(self, work: Callable[[], Made]) -> Future[Made]:
        """Have work done between two micro-batches."""
        return self._between.soon(work)

    def fits(self, asked: Sequence[Change]) -> bool:
        """Whether the running stream can make a change without a restart.

        What can be wrong with a change shows here, before the stream is touched.
        """
        return not self.needs(asked)

    def look(self, asked: Sequence[Change]) -> None:
        """Learn from Spark what a change will have to know, before its turn comes."""
        self._versions.look(asked)

    def needs(self, asked: Sequence[Change]) -> list[str]:
        """What a change asks for that the stream does not project: why it needs a restart."""
        return self._versions.altered(asked, self.progress, live=True)[1]

    def change(self, asked: Sequence[Change]) -> dict[str, Any]:
        """Make a change without a restart; returns since when it holds. For work of `soon`."""
        self._versions.change(asked, self.progress)
        self._news.look(self.status, self._mark)
        return self.catalogue.since()

    def restart(self, asked: Sequence[Change]) -> dict[str, Any]:
        """Make a change by starting Spark's query again; returns since when it holds."""
        with self._lock:
            tried, _ = self._versions.altered(asked, self.progress, live=False)
            if tried is self._versions.now:
                return self.catalogue.since()
            was_active = self.is_active
            if was_active and self.trigger.waits:
                self._halt()
            elif was_active:
                # Started again without rows, Spark leaves the windows that the last rows closed,
                # unless a micro-batch has begun: that one runs again, and Spark goes on from it.
                self._halt(may_stop=self._is_under_way)
            try:  # again, because the last micro-batch has seen later rows
                self._switch(asked, launch=was_active)
            except Exception:
                if was_active and not self.is_active:
                    self._relaunch()
                raise
            return self.catalogue.since()

    def limit(self, name: str, **limits: Any) -> None:
        """Set what a query may use, from the next micro-batch on; nothing takes its limits away.

        `state_bytes`, `groups` (in a window), `answers` (in a micro-batch) and `share` (of the
        operator's time) are the most that it may have; `over` says whether it is then failed or
        paused.
        """
        self.apply([{"op": "limit", "name": name, "limits": limits or None}])

    def _take_out_excesses(self) -> None:
        for excess in self._delivery.taken():
            self._take_out(excess)

    def _take_out(self, excess: Excess) -> None:
        """Pause a query that is over a limit, or go on without it if there is another."""
        with self._lock:
            entry = next((e for e in self.catalogue.entries if e.number == excess.number), None)
            if entry is None or (entry.paused is not None and excess.over == "pause"):
                return
            if excess.over == "fail" and len(self.catalogue.entries) == 1:
                return
            change = excess.change(entry, self.progress.batch + 1)
            self.apply([change])
            failure = change.get("failure")
            paused = f"query {entry.query.name!r} is paused: {excess.why}"
            self._error = self._hide(paused if failure is None else failure.said)

    def _switch(self, asked: Sequence[Change], *, launch: bool) -> None:
        """Make a change of a halted stream; if it cannot be started so, nothing has changed."""
        with self._between.still():  # nothing comes between the catalogue and its successor
            version, _ = self._versions.altered(asked, self.progress, live=False)
            files = self._versions.files
            files.write(version.catalogue)
            try:
                if launch:
                    self._query = self._launch(version)
                else:
                    self._versions.now = version
            except Exception:
                files.withdraw(version.catalogue)
                raise
        self._news.look(self.status, self._mark)

    def _watch(self) -> None:
        """Pick up requests from other processes, and re-plan where that was asked for."""
        looked = posted = 0.0
        while not self._stopped.wait(self._requests.pace):
            try:
                self._handling.carry_out()
                if time.monotonic() - looked >= _LOOK:
                    looked, query = time.monotonic(), self._query
                    if not query.isActive and query.exception() is not None:
                        self._recovered(query)
                    if self.trigger.waits:
                        self._ticker.look(self._is_waiting)
                self._take_out_excesses()
                self._news.look(self.status, self._mark)
                if time.monotonic() - posted < _POST:
                    continue
                if self.adaptive:
                    self._adapt()
                self._post()
                posted = time.monotonic()
            except Exception as error:  # the stream itself goes on
                self._error = self._hide(str(error))
        self._handling.tell()
        self._handling.close()

    def _adapt(self) -> None:
        plan = self._adapter.better_plan(self.catalogue, self._delivery.tally, self._rate())
        if plan is not None:
            self.replan(plan)

    # What it would answer now.

    def answer(
        self,
        name: str,
        at: At | None = None,
        keys: Mapping[str, Any] | None = None,
        *,
        max_age: str | timedelta | None = None,
    ) -> AsOf:
        """The answers to one window of a query, as the last micro-batch left it.

        `at` is a time: the window is the last that ends at or before it. Without it the window is
        the one under way, which ends first after the latest row; sessions are those that are open.
        `keys` are the values of some keys, and without them all groups are answered. Nothing waits
        for the watermark: `open` says whether more rows may come, and `batch` up to which
        micro-batch they have. A window that is closed is read from the sink, if that is Parquet.
        With `max_age="5 seconds"` an answer will do that was read for somebody so long ago: readers
        who ask often then cost the stream one read in that time, instead of one per micro-batch.
        """
        version = self._versions.now
        asked = Asked(version.catalogue, version.compiled, sink_facts(self.sink))
        return self._reader.answer(asked, name, at, keys, max_age=max_age)

    def told(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The answers that another process asks for, as JSON values."""
        max_age = asked.get("max_age")
        found = self.answer(asked["query"], asked["at"], asked["keys"], max_age=max_age)
        return found.to_dict(min(LIMIT, int(asked["limit"])))

    # How it is doing.

    def _rate(self) -> float | None:
        """Rows per second of event time, as measured."""
        return self._delivery.tally.rate(1 if self.axis.kind == "integer" else 1_000_000)

    def _observed_ahead(self) -> int:
        """Rows that the rewrite engine set aside since the start; Spark keeps few reports."""
        if self.catalogue.settings.engine != "operator":
            rows, batch = self._observed
            more, batch = observed(self._query.recentProgress, batch)
            self._observed = (rows + more, batch)
        return self._observed[0]

    @property
    def _mark(self) -> tuple[int, str | None]:
        """Another one when queries, plan or error have changed."""
        return self.catalogue.number, self._error

    def batches(self, *, last: bool = False) -> list[BatchDone]:
        """The micro-batches that were done since this was last asked, each as Spark reports it.

        One that Spark has not reported on yet is in a later answer, unless these are the `last`.
        """
        if self._listener is None:
            for report in self._query.recentProgress:
                self._delivery.log.reported(report)
        return self._delivery.log.take(last=last)

    def status(self) -> Status:
        """Rates, lag, state, late rows and each query's share, as of the last micro-batch."""
        query, tally = self._query, self._delivery.tally
        return status_of(
            self.catalogue,
            tally,
            self.progress,
            (self._listener.last if self._listener is not None else None) or query.lastProgress,
            active=self.is_active,
            timed=self.axis.kind != "integer",
            ahead_rows=tally.ahead_rows + self._observed_ahead(),
            error=self._error,
            failed=not query.isActive and query.exception() is not None,
            damaged_requests=self._requests.damaged(),
        )

    def costs(self) -> tuple[Cost, ...]:
        """What each query has cost in the life of the checkpoint, the dearest first."""
        return self._delivery.tally.ledger.costs()

    def _post(self) -> None:
        """Leave the status in the checkpoint, where other processes find it."""
        reports = self._listener.recent if self._listener is not None else None
        self._board.post(self.status(), reports)
        self._ledger.write(self._delivery.tally.ledger)

    def metrics(self) -> str:
        """The status as Prometheus text, with what each query and owner has cost."""
        return prometheus(self.status(), self.costs())

    def serve_metrics(self, port: int = 0) -> int:
        """Serve `metrics()` at http://127.0.0.1:port/metrics; returns the port."""
        if self._server is None:
            self._server = MetricsServer(self.metrics, port)
        return self._server.port

    def explain(self) -> str:
        """The plan, and what it predicted beside what was measured."""
        plan = self.catalogue.planned
        tally = self._delivery.tally
        lines = [plan.explain(), *measured_lines(plan, self.catalogue, tally, self._rate())]
        if self.catalogue.settings.engine == "operator":
            lines += explain_lanes(
                self._versions.now.compiled.program.stores, self.catalogue.settings.finals
            )
        return "\n".join(lines)

    @property
    def queries(self) -> Sequence[Query]:
        """The queries that run."""
        return tuple(self.catalogue.queries)

    def answered(self, name: str) -> SinkQuery | None:
        """A query as the sink knows it; None if it is given no answers of this name."""
        known = self._versions.now.compiled.answered.values()
        return next((query for query in known if query.name.lower() == name.lower()), None)

    @property
    def progress(self) -> Progress:
        """How far the stream has come."""
        return self._delivery.progress
