"""A running stream: changes its queries, and reports its status."""

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

from weft.engine.state.lanes import explain_lanes
from weft.errors import EngineError
from weft.job.variables import redact
from weft.plan.plan import Plan
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.sinks import Sink
from weft.sinks.contract import SinkQuery
from weft.spark.instants import At
from weft.spark.streaming.as_of import Asked, StateReader
from weft.spark.streaming.compile import Compiled
from weft.spark.streaming.delivery import Delivery
from weft.spark.streaming.history import check_history, write_history
from weft.spark.streaming.lost_rows import LostRows
from weft.spark.streaming.spark_run import SparkRun
from weft.spark.streaming.versions import Versions
from weft.stream.adaptive import Adapter, measured_lines
from weft.stream.as_of import LIMIT, AsOf
from weft.stream.batch_log import BatchDone
from weft.stream.between import Between
from weft.stream.burst import NONE_LEFT, Change, NeedsRestart, history_changes, wholes
from weft.stream.catalogue import Catalogue
from weft.stream.events import News, Watcher
from weft.stream.future_rows import Guard
from weft.stream.handling import Handling
from weft.stream.heartbeat import Heartbeat
from weft.stream.ledger import Cost, LedgerFile
from weft.stream.metrics import MetricsServer, prometheus
from weft.stream.progress import Progress
from weft.stream.requests import Requests
from weft.stream.status import Status, status_of
from weft.stream.status_file import Board, sink_facts
from weft.stream.trigger import Trigger
from weft.stream.usage import Excess

Made = TypeVar("Made")
_LOOK = 0.2
"""Seconds between two looks at whether the Spark query has failed."""
_POST = 1.0
"""Seconds between two reports of the status."""


class Running:
    """A running stream; made by `Loom.start`."""

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
        compiled: Compiled | None = None,
    ) -> None:
        self.df, self.axis, self.sink, self.checkpoint = df, axis, sink, checkpoint
        self.trigger, self.adaptive, self._hide = trigger, adaptive, hide
        self.guard = Guard.of("auto", axis) if guard is None else guard
        self._requests = Requests(checkpoint)
        self._requests.abandon()
        self._handling = Handling(self, self._requests, hide)
        self._board = Board(checkpoint, sink_facts(sink))
        self._ledger = LedgerFile(checkpoint)
        self._lock = threading.RLock()
        """Held while the stream is changed from outside; micro-batches never wait for it."""
        self._between = Between()
        self._stopped = threading.Event()
        self._server: MetricsServer | None = None
        self._adapter = Adapter()
        self._versions = Versions(
            df,
            axis,
            sink,
            checkpoint=checkpoint,
            offer=offer,
            catalogue=catalogue,
            compiled=compiled,
        )
        pausing = threading.Event()
        self._delivery = Delivery(self._versions, checkpoint, self.guard, pausing, lost)
        self._run = SparkRun(
            self._versions,
            self._delivery,
            self._between,
            checkpoint=checkpoint,
            trigger=trigger,
            guard=self.guard,
            pausing=pausing,
            hide=hide,
            lost=lost,
        )
        self._reader = StateReader(df.sparkSession, checkpoint, axis)
        self._news = News(watchers(self), self._delivery.log)
        self._run.launch(self._versions.now)
        self._news.begin(self.status)
        self._heartbeat = Heartbeat(checkpoint).start()
        self._thread = threading.Thread(target=self._watch, name="weft-requests", daemon=True)
        self._thread.start()

    # Starting and stopping.

    @property
    def catalogue(self) -> Catalogue:
        """The running queries and their plan."""
        return self._versions.catalogue

    @property
    def spark(self) -> SparkSession:
        """The session that the stream was started in; it runs in a copy of it."""
        return self._run.spark

    def stop(self, timeout: float = 60.0) -> None:
        """Finish the running micro-batch, then stop."""
        with self._lock:
            self._stopped.set()
            self._run.halt(timeout)
        self._close()

    def _close(self) -> None:
        self._stopped.set()
        with suppress(Exception):  # excesses of the last micro-batch take effect at the next start
            self._take_out_excesses()
        self._heartbeat.stop()
        if self._server is not None:
            self._server.close()
            self._server = None
        self._run.close()
        if self._thread is not threading.current_thread():
            self._thread.join(5.0)
        with suppress(Exception):  # only a status report; its failure must not hide another error
            self._post()
        with suppress(Exception):
            self._news.end(self.status, self._mark)

    @property
    def last_query(self) -> StreamingQuery:
        """Spark's own handle of the stream, as last started."""
        return self._run.query

    @property
    def is_active(self) -> bool:
        """Whether the stream is running."""
        return self._run.is_active

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the stream ends; True if it has. An error that ended it is raised."""
        ends = None if timeout is None else time.monotonic() + timeout
        while ends is None or time.monotonic() < ends:
            with self._lock:
                query = self._run.query
            left = 1.0 if ends is None else max(0.05, min(1.0, ends - time.monotonic()))
            try:
                done = query.awaitTermination(left)  # type: ignore[arg-type]
            except Exception as error:
                if self._recovered(query):
                    continue
                # An error of the sink is closer to the cause.
                said = self._run.error = self._run.error or self._hide(str(error))
                self._close()
                if said.startswith(NONE_LEFT):
                    raise EngineError(said) from None
                raise
            with self._lock:
                if done and query is self._run.query:
                    self._close()
                    return True
        return False

    def _recovered(self, failed: StreamingQuery) -> bool:
        """Whether the stream continues: in another run already, or restarted here."""
        with self._lock:
            if failed is not self._run.query:
                return True
            if self._stopped.is_set():
                return False
            recovered = self._run.recover()
            self._news.look(self.status, self._mark)  # so that the next change does not hide it
            return recovered

    # Changing queries.

    def add(
        self,
        query: Query | str,
        name: str | None = None,
        *,
        backfill: bool = False,
        history: DataFrame | None = None,
    ) -> None:
        """Add a query (or the SQL of one), from the next micro-batch on.

        It is answered from the first window that starts after the latest row seen so far; with
        `backfill`, from the earliest open window whose slices are all still in state. A query that
        needs only what the stream projects (see `Loom(offer=...)`) is added without a pause; for
        others Spark's query is restarted.

        `history` is a batch DataFrame with the stream's columns that has every row before now: the
        query is then answered completely from the first open window on. Rows up to the latest one
        that the stream has seen when the query is added are taken only from the history, later ones
        only from the stream. The call returns when the history has been merged; the stream
        continues meanwhile. If it fails, the query is not added.
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
        """Add queries that wait for history, and then provide the history."""
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
            with suppress(Exception):  # report the first error, not this one
                self.apply([{"op": "drop", "name": name} for name in wholes(queries)])
            raise

    def drop(self, name: str) -> None:
        """Drop a query, from the next micro-batch on; its state is freed."""
        self.apply([{"op": "drop", "name": name}])

    def pause(self, name: str) -> None:
        """Stop a query's answers from the next micro-batch on; its state is kept up to date.

        Windows that close while it is paused are never answered.
        """
        self.apply([{"op": "pause", "name": name}])

    def resume(self, name: str) -> None:
        """Answer a paused query again: every window that closes from now on, complete."""
        self.apply([{"op": "resume", "name": name}])

    def replan(self, plan: Plan) -> None:
        """Continue with another plan of the same queries."""
        self.apply([{"op": "plan", "plan": plan}])

    def apply(self, asked: Sequence[Change]) -> dict[str, Any]:
        """Make some changes, all or none; returns when they took effect.

        A change has an `op`: add (with `query` and optionally `backfill`), drop, pause or resume
        (with `name`), or limit (with `name` and `limits`).
        """
        with self._lock:
            if self.is_active and self.fits(asked):
                try:
                    return self.soon(lambda: self.change(asked)).result()
                except NeedsRestart:  # another change has altered the projection meanwhile
                    pass
            return self.restart(asked)

    def soon(self, work: Callable[[], Made]) -> Future[Made]:
        """Run work between two micro-batches."""
        return self._between.soon(work)

    def fits(self, asked: Sequence[Change]) -> bool:
        """Whether the running stream can make a change without a restart.

        Raises for an invalid change, before the stream is affected.
        """
        return not self.needs(asked)

    def look(self, asked: Sequence[Change]) -> None:
        """Let Spark analyse the queries of a change in advance, and cache the results."""
        self._versions.look(asked)

    def needs(self, asked: Sequence[Change]) -> list[str]:
        """The expressions that a change needs and the stream does not project, if any."""
        return self._versions.altered(asked, self.progress, live=True)[1]

    def change(self, asked: Sequence[Change]) -> dict[str, Any]:
        """Make a change without a restart; returns when it took effect. To be called by `soon`."""
        self._versions.change(asked, self.progress)
        self._news.look(self.status, self._mark)
        return self.catalogue.since()

    def restart(self, asked: Sequence[Change]) -> dict[str, Any]:
        """Make a change by restarting Spark's query; returns when it took effect."""
        with self._lock:
            tried, _ = self._versions.altered(asked, self.progress, live=False)
            if tried is self._versions.now:
                return self.catalogue.since()
            was_active = self.is_active
            if was_active:
                self._run.halt_to_restart()
            try:  # compile again, because the last micro-batch has seen later rows
                self._run.switch(asked, launch=was_active)
            except Exception:
                if was_active and not self.is_active:
                    self._run.relaunch()
                raise
            self._news.look(self.status, self._mark)
            return self.catalogue.since()

    def limit(self, name: str, **limits: Any) -> None:
        """Set the limits of a query, from the next micro-batch on; no arguments remove them.

        `state_bytes`, `groups` (in a window), `answers` (in a micro-batch) and `share` (of the
        operator's time) are upper limits; `over` says whether a query that exceeds one fails or is
        paused.
        """
        self.apply([{"op": "limit", "name": name, "limits": limits or None}])

    def _take_out_excesses(self) -> None:
        for excess in self._delivery.taken():
            self._take_out(excess)

    def _take_out(self, excess: Excess) -> None:
        """Pause a query that exceeds a limit, or remove it if it is not the last one."""
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
            self._run.error = self._hide(paused if failure is None else failure.said)

    def _watch(self) -> None:
        """Handle requests from other processes, and replan if the stream is adaptive."""
        looked = posted = 0.0
        while not self._stopped.wait(self._requests.pace):
            try:
                self._handling.carry_out()
                if time.monotonic() - looked >= _LOOK:
                    looked, query = time.monotonic(), self._run.query
                    if self._run.has_failed:
                        self._recovered(query)
                    self._run.look_for_idleness()
                self._take_out_excesses()
                self._news.look(self.status, self._mark)
                if time.monotonic() - posted < _POST:
                    continue
                if self.adaptive:
                    self._adapt()
                self._post()
                posted = time.monotonic()
            except Exception as error:  # the stream itself continues
                self._run.error = self._hide(str(error))
        self._handling.tell()
        self._handling.close()

    def _adapt(self) -> None:
        plan = self._adapter.better_plan(self.catalogue, self._delivery.tally, self._rate())
        if plan is not None:
            self.replan(plan)

    # As-of answers.

    def answer(
        self,
        name: str,
        at: At | None = None,
        keys: Mapping[str, Any] | None = None,
        *,
        max_age: str | timedelta | None = None,
    ) -> AsOf:
        """The answers of one window of a query, as of the last micro-batch.

        `at` is a time: the window is the last one that ends at or before it. Without it the window
        is the current one, which ends first after the latest row; for sessions, all open ones.
        `keys` are the values of some keys; without them all groups are answered. The call does not
        wait for the watermark: `open` says whether rows may still be added, and `batch` up to which
        micro-batch rows are included. A closed window is read from the sink, if that is Parquet.
        With `max_age="5 seconds"` a cached answer of up to that age may be returned: frequent
        readers then cause one read of the state in that time, instead of one per micro-batch.
        """
        version = self._versions.now
        asked = Asked(version.catalogue, version.compiled, sink_facts(self.sink))
        return self._reader.answer(asked, name, at, keys, max_age=max_age)

    def told(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The answers that another process requests, as JSON values."""
        max_age = asked.get("max_age")
        found = self.answer(asked["query"], asked["at"], asked["keys"], max_age=max_age)
        return found.to_dict(min(LIMIT, int(asked["limit"])))

    # Status.

    def _rate(self) -> float | None:
        """Rows per second of event time, as measured."""
        return self._delivery.tally.rate(1 if self.axis.kind == "integer" else 1_000_000)

    @property
    def _mark(self) -> tuple[int, str | None]:
        """A mark that differs when queries, plan or error have changed."""
        return self.catalogue.number, self._run.error

    def batches(self, *, last: bool = False) -> list[BatchDone]:
        """The micro-batches that were done since the last call, each as reported by Spark.

        Those that Spark has not reported yet are returned later, unless these are the `last` ones.
        """
        self._run.log_reports()
        return self._delivery.log.take(last=last)

    def status(self) -> Status:
        """Rates, lag, state, late rows and each query's share, as of the last micro-batch."""
        tally = self._delivery.tally
        return status_of(
            self.catalogue,
            tally,
            self.progress,
            self._run.last_report,
            active=self.is_active,
            timed=self.axis.kind != "integer",
            ahead_rows=tally.ahead_rows + self._run.observed_ahead(),
            error=self._run.error,
            failed=self._run.has_failed,
            damaged_requests=self._requests.damaged(),
        )

    def costs(self) -> tuple[Cost, ...]:
        """The costs of each query over the life of the checkpoint, the most expensive first."""
        return self._delivery.tally.ledger.costs()

    def _post(self) -> None:
        """Write the status to the checkpoint for other processes."""
        self._board.post(self.status(), self._run.reports)
        self._ledger.write(self._delivery.tally.ledger)

    def metrics(self) -> str:
        """The status, with the costs of each query and owner, in Prometheus' text format."""
        return prometheus(self.status(), self.costs())

    def serve_metrics(self, port: int = 0) -> int:
        """Serve `metrics()` at http://127.0.0.1:port/metrics; returns the port."""
        if self._server is None:
            self._server = MetricsServer(self.metrics, port)
        return self._server.port

    def explain(self) -> str:
        """The plan, with its predicted and measured values."""
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
        """The running queries."""
        return tuple(self.catalogue.queries)

    def answered(self, name: str) -> SinkQuery | None:
        """A query in the form that sinks get; None if the sink gets no answers of this name."""
        known = self._versions.now.compiled.answered.values()
        return next((query for query in known if query.name.lower() == name.lower()), None)

    @property
    def progress(self) -> Progress:
        """The progress of the stream."""
        return self._delivery.progress
