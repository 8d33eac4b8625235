"""The status of a stream: rates, lag, state, late rows, and the costs of each query."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.query import html
from weft.stream.catalogue import Catalogue, Entry, Failure
from weft.stream.ledger import Ledger
from weft.stream.progress import Progress
from weft.stream.ticks import rows_of
from weft.stream.usage import Load, Usage, usage_of, users_of


@dataclass(frozen=True)
class QueryStatus:
    """One query of a running stream."""

    name: str
    number: int
    complete_from: int | None
    """Windows that start from here on are complete and answered, in axis units; None: all."""
    answers: int
    """Answers since the stream was started in this process."""
    late_rows: int
    """Late rows: those that arrived after all their windows were closed, over the life of the
    checkpoint."""
    share: float
    """Its share of the operator's recent time, between 0 and 1."""
    stores: tuple[int, ...]
    paused: bool = False
    """Whether it is paused."""
    failed: str | None = None
    """Why it failed, if it has."""
    state_bytes: int = 0
    """Its share of the state, in bytes; slices are shared with queries that need them as long."""
    groups: int = 0
    """The most groups in a window of the last micro-batch."""
    batch_answers: int = 0
    """Answers of the last micro-batch."""
    limits: Mapping[str, Any] | None = None
    """Its limits, and whether it fails or is paused when it exceeds one."""
    why: str | None = None
    """Why it is paused, if it is over a limit."""
    owner: str | None = None
    """The owner, whom its costs are charged to."""
    lateness: int = 0
    """How long its windows stay open after the watermark has passed their end, in axis units."""

    @property
    def state(self) -> str:
        """answering, paused or failed."""
        return "failed" if self.failed else "paused" if self.paused else "answering"


@dataclass(frozen=True)
class StoreStatus:
    """One store: the slices of a tree."""

    number: int
    queries: int
    slices: int
    pieces: int
    state_bytes: int
    shards_per_batch: float
    seconds: float


@dataclass(frozen=True)
class Status:
    """A running stream, as of its last micro-batch."""

    active: bool
    batch: int
    rows: int
    """Rows of the last micro-batch."""
    rows_per_second: float
    batch_seconds: float
    watermark: int | None
    """In axis units: windows that end at or before this are closed."""
    high: int | None
    """The greatest time seen, in axis units."""
    lag: float | None
    """Seconds between the clock and the greatest time seen; None on an integer axis."""
    state_bytes: int
    slices: int
    pieces: int
    read_bytes: int
    written_bytes: int
    changes: int
    """The number of the current catalogue."""
    queries: tuple[QueryStatus, ...]
    stores: tuple[StoreStatus, ...]
    error: str | None = None
    failed: bool = False
    """Whether an error has ended it."""
    ahead_rows: int = 0
    """Rows set aside because they were far ahead of the clock, over the life of the checkpoint."""
    damaged_requests: tuple[str, ...] = ()
    """Requests from other processes that could not be read and were set aside."""
    answers: int = 0
    """Answers since the stream was started in this process, including those of dropped queries."""

    def query(self, name: str) -> QueryStatus:
        """The status of one query."""
        return next(query for query in self.queries if query.name.lower() == name.lower())

    def _repr_html_(self) -> str:
        """The busiest queries as a table, for notebooks."""
        shown = sorted(self.queries, key=lambda query: -query.share)[: html.SHOWN]
        rows = [
            {
                "query": query.name,
                "state": query.state,
                "answers": query.answers,
                "late rows": query.late_rows,
                "share": query.share,
                "state bytes": query.state_bytes,
            }
            for query in shown
        ]
        lag = "" if self.lag is None else f", {self.lag:,.1f} s behind the clock"
        title = (
            f"{'running' if self.active else 'stopped'} after batch {self.batch}: "
            f"{self.rows:,} rows in {self.batch_seconds:.2f} s{lag}, {self.slices:,} slices, "
            f"{self.state_bytes:,} bytes of state"
        )
        more = len(self.queries) - len(rows)
        return html.table(title, rows, more=more, note=self.error or "")


@dataclass
class Tally:
    """Metrics of the micro-batches, summed up."""

    batch: int = -1
    last: Sequence[Mapping[str, Any]] = ()
    late: dict[int, dict[int, int]] = field(default_factory=dict)
    """By bucket and query, over the life of the checkpoint."""
    shards: dict[int, int] = field(default_factory=dict)
    cuts: dict[int, int] = field(default_factory=dict)
    """The number of slices with new shards, by store; with `shards` it gives shards per slice."""
    load: Load = field(default_factory=Load)
    """Since the stream was started in this process."""
    recent: Load = field(default_factory=Load.of_late)
    rows: int = 0
    """Rows since the first micro-batch of this process, which itself only marks the start."""
    low: int | None = None
    high: int | None = None
    seconds: float = 0.0
    last_seconds: float = 0.0
    """Of the last micro-batch, as measured at delivery."""
    ledger: Ledger = field(default_factory=Ledger)
    """The costs of each query over the life of the checkpoint."""

    def add(self, batch: int, figures: Sequence[Mapping[str, Any]], seconds: float) -> None:
        """Add the buckets' reports of a micro-batch."""
        self.batch, self.last = batch, figures
        self.seconds += seconds
        self.last_seconds = seconds
        self.load.add(figures)
        self.recent.add(figures)
        high = max((one["high"] for one in figures if one["high"] is not None), default=None)
        if self.low is None:
            self.low = high
        else:
            self.rows += self.last_rows
        self.high = high if self.high is None or high is None else max(self.high, high)
        for one in figures:
            self.late[one["bucket"]] = {int(q): n for q, n in one["late"].items()}
            for number, store in one["stores"].items():
                self.shards[int(number)] = self.shards.get(int(number), 0) + store["shards"]
            self._count_cuts(one)

    def _count_cuts(self, one: Mapping[str, Any]) -> None:
        # Every bucket sees about the same slices, so one is enough.
        if one is self.last[0]:
            for number, store in one["stores"].items():
                self.cuts[int(number)] = self.cuts.get(int(number), 0) + store["cuts"]

    @property
    def batches(self) -> int:
        """Micro-batches since the stream was started in this process."""
        return self.load.batches

    @property
    def last_rows(self) -> int:
        """Rows of the last micro-batch; every bucket reports all of them."""
        return int(max((one["rows"] for one in self.last), default=0))

    @property
    def all_answers(self) -> int:
        """Answers in that time, including those of queries dropped since."""
        return int(sum(self.load.answers.values()))

    def answers(self, query: int) -> int:
        """The answers of a query in that time."""
        return int(self.load.answers.get(query, 0))

    def rate(self, units_per_second: int) -> float | None:
        """Rows per second of event time; None until there is anything to measure."""
        if self.low is None or self.high is None or self.high <= self.low:
            return None
        return self.rows / ((self.high - self.low) / units_per_second)

    def total(self, name: str) -> int:
        """The sum of a metric over the buckets, in the last micro-batch."""
        return int(sum(one[name] for one in self.last))

    @property
    def ahead_rows(self) -> int:
        """Rows that the guard set aside: the maximum, since newer buckets have counted fewer."""
        return max((one.get("ahead", 0) for one in self.last), default=0)

    def late_rows(self, query: int) -> int:
        """Rows too late for every window of a query."""
        return sum(by_query.get(query, 0) for by_query in self.late.values())

    def store(self, number: int) -> dict[str, int]:
        """The slices, pieces and bytes of a store, over all buckets."""
        found = {"slices": 0, "pieces": 0, "bytes": 0}
        for one in self.last:
            for name in found:
                found[name] += one["stores"].get(str(number), {}).get(name, 0)
        return found


def status_of(
    catalogue: Catalogue,
    tally: Tally,
    progress: Progress,
    last: Mapping[str, Any] | None,
    *,
    active: bool,
    timed: bool,
    ahead_rows: int,
    error: str | None,
    failed: bool,
    damaged_requests: tuple[str, ...],
) -> Status:
    """The status of a stream; `last` is Spark's report of its last micro-batch.

    Only a stream with a time axis (`timed`) has a lag behind the clock.
    """
    usage = usage_of(catalogue, tally.last, tally.recent)
    stores = []
    for number, queries in users_of(catalogue).items():
        held = tally.store(number)
        stores.append(
            StoreStatus(
                number,
                len(queries),
                held["slices"],
                held["pieces"],
                held["bytes"],
                tally.shards.get(number, 0) / max(1, tally.batches),
                tally.load.seconds(number),
            )
        )
    seconds, rows = tally.last_seconds, tally.last_rows
    if last and int(last["batchId"]) == tally.batch:  # the report follows the delivery
        seconds = float(last["durationMs"]["triggerExecution"]) / 1000.0
        rows = rows_of(last)
    high = progress.max_event_time
    lag = None
    if timed and high is not None:
        lag = time.time() - high / 1_000_000
    return Status(
        active=active,
        batch=tally.batch,
        rows=rows,
        rows_per_second=rows / seconds if seconds else 0.0,
        batch_seconds=seconds,
        watermark=progress.frontier,
        high=high,
        lag=lag,
        state_bytes=sum(store.state_bytes for store in stores),
        slices=sum(store.slices for store in stores),
        pieces=sum(store.pieces for store in stores),
        read_bytes=tally.total("read_bytes"),
        written_bytes=tally.total("written_bytes"),
        changes=catalogue.number,
        queries=(
            *(
                _answered(catalogue, entry, tally, usage[entry.number])
                for entry in catalogue.entries
            ),
            *(_failed(failure, tally) for failure in catalogue.failed),
        ),
        stores=tuple(stores),
        error=error,
        failed=failed,
        ahead_rows=ahead_rows,
        damaged_requests=damaged_requests,
        answers=tally.all_answers,
    )


def _answered(catalogue: Catalogue, entry: Entry, tally: Tally, usage: Usage) -> QueryStatus:
    limits = catalogue.limits_of(entry.query)
    return QueryStatus(
        entry.query.name,
        entry.number,
        entry.complete_from,
        tally.answers(entry.number),
        tally.late_rows(entry.number),
        usage.share,
        tuple(assignment.store for assignment in entry.assignments),
        entry.paused is not None,
        state_bytes=usage.state_bytes,
        groups=usage.groups,
        batch_answers=usage.answers,
        limits=None if limits is None else limits.to_dict(),
        why=entry.why,
        owner=entry.query.owner,
        lateness=entry.query.lateness,
    )


def _failed(failure: Failure, tally: Tally) -> QueryStatus:
    query, answers = failure.query, tally.answers(failure.number)
    return QueryStatus(
        query.name,
        failure.number,
        None,
        answers,
        0,
        0.0,
        (),
        failed=failure.said,
        owner=query.owner,
        lateness=query.lateness,
    )
