"""How a stream is doing: rates, lag, state, late rows, and what each query costs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.stream.catalogue import Catalogue, Progress


@dataclass(frozen=True)
class QueryStatus:
    """One query of a running stream."""

    name: str
    number: int
    complete_from: int | None
    """Windows from here on are complete and answered, in axis units; None: all of them."""
    answers: int
    """Answers given since the stream was started in this process."""
    late_rows: int
    """Rows that came when all their windows were closed, in the life of the checkpoint."""
    share: float
    """Its part of the operator's time, between 0 and 1."""
    stores: tuple[int, ...]
    paused: bool = False
    """Whether its answers are held back."""
    failed: str | None = None
    """Why it is answered no longer, if it has failed."""

    @property
    def state(self) -> str:
        """answered, paused or failed."""
        return "failed" if self.failed else "paused" if self.paused else "answered"


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
    """In axis units: windows that end at or before it are closed."""
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
    """The number of the catalogue entry that runs."""
    queries: tuple[QueryStatus, ...]
    stores: tuple[StoreStatus, ...]
    error: str | None = None
    failed: bool = False
    """Whether an error has ended it."""
    ahead_rows: int = 0
    """Rows set aside because their time was far ahead of the clock, in the checkpoint's life."""
    damaged_requests: tuple[str, ...] = ()
    """Requests of other processes that could not be read, and were set aside."""

    def query(self, name: str) -> QueryStatus:
        """The status of one query."""
        return next(query for query in self.queries if query.name.lower() == name.lower())


@dataclass
class Tally:
    """Figures of the micro-batches, added up as they come."""

    batch: int = -1
    last: Sequence[Mapping[str, Any]] = ()
    late: dict[int, dict[int, int]] = field(default_factory=dict)
    """By bucket and query: in the life of the checkpoint."""
    answers: dict[int, int] = field(default_factory=dict)
    merging: dict[int, float] = field(default_factory=dict)
    answering: dict[int, float] = field(default_factory=dict)
    shards: dict[int, int] = field(default_factory=dict)
    cuts: dict[int, int] = field(default_factory=dict)
    """Slices that shards came in, by store: with `shards`, how many there are to a slice."""
    batches: int = 0
    rows: int = 0
    """Rows since the first micro-batch that this process ran, which only marks the beginning."""
    low: int | None = None
    high: int | None = None
    seconds: float = 0.0

    def add(self, batch: int, figures: Sequence[Mapping[str, Any]], seconds: float) -> None:
        """Take in what the buckets reported for a micro-batch."""
        self.batch, self.last = batch, figures
        self.batches += 1
        self.seconds += seconds
        high = max((one["high"] for one in figures if one["high"] is not None), default=None)
        if self.low is None:
            self.low = high
        else:
            self.rows += max((one["rows"] for one in figures), default=0)
        self.high = high if self.high is None or high is None else max(self.high, high)
        for one in figures:
            self.late[one["bucket"]] = {int(q): n for q, n in one["late"].items()}
            for query, count in one["answers"].items():
                self.answers[int(query)] = self.answers.get(int(query), 0) + count
            for number, store in one["stores"].items():
                key = int(number)
                self.merging[key] = self.merging.get(key, 0.0) + store["merging"]
                self.answering[key] = self.answering.get(key, 0.0) + store["answering"]
                self.shards[key] = self.shards.get(key, 0) + store["shards"]
            self._count_cuts(one)

    def _count_cuts(self, one: Mapping[str, Any]) -> None:
        # Every bucket sees about the same slices: one of them speaks for all.
        if one is self.last[0]:
            for number, store in one["stores"].items():
                self.cuts[int(number)] = self.cuts.get(int(number), 0) + store["cuts"]

    def rate(self, units_per_second: int) -> float | None:
        """Rows per second of event time, once there is anything to measure."""
        if self.low is None or self.high is None or self.high <= self.low:
            return None
        return self.rows / ((self.high - self.low) / units_per_second)

    def total(self, name: str) -> int:
        """The sum of a figure over the buckets, in the last micro-batch."""
        return int(sum(one[name] for one in self.last))

    @property
    def ahead_rows(self) -> int:
        """Rows that the guard set aside; buckets that came later have seen fewer."""
        return max((one.get("ahead", 0) for one in self.last), default=0)

    def late_rows(self, query: int) -> int:
        """Rows too late for every window of a query."""
        return sum(by_query.get(query, 0) for by_query in self.late.values())

    def store(self, number: int) -> dict[str, int]:
        """Slices, pieces and bytes of a store, in all buckets."""
        found = {"slices": 0, "pieces": 0, "bytes": 0}
        for one in self.last:
            for name in found:
                found[name] += one["stores"].get(str(number), {}).get(name, 0)
        return found

    def shares(self, users: Mapping[int, Sequence[int]]) -> dict[int, float]:
        """Each query's part of the operator's time.

        Merging a store's shards serves its queries alike and is split evenly; answering is split
        by answers given.

        >>> tally = Tally(merging={1: 2.0}, answering={1: 2.0}, answers={7: 3, 8: 1})
        >>> tally.shares({1: [7, 8]})
        {7: 0.625, 8: 0.375}
        """
        costs: dict[int, float] = {}
        for store, queries in users.items():
            answers = sum(self.answers.get(query, 0) for query in queries)
            for query in queries:
                even = 1.0 / len(queries)
                part = self.answers.get(query, 0) / answers if answers else even
                cost = self.merging.get(store, 0.0) * even + self.answering.get(store, 0.0) * part
                costs[query] = costs.get(query, 0.0) + cost
        total = sum(costs.values())
        return {query: cost / total if total else 0.0 for query, cost in costs.items()}


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

    Only of a stream that is `timed` can it be said how far it lags behind the clock.
    """
    users = {
        store.number: [
            entry.number
            for entry in catalogue.entries
            if any(a.store == store.number for a in entry.assignments)
        ]
        for store in catalogue.stores
    }
    shares = tally.shares(users)
    stores = []
    for number, queries in users.items():
        held = tally.store(number)
        stores.append(
            StoreStatus(
                number,
                len(queries),
                held["slices"],
                held["pieces"],
                held["bytes"],
                tally.shards.get(number, 0) / max(1, tally.batches),
                tally.merging.get(number, 0.0) + tally.answering.get(number, 0.0),
            )
        )
    seconds = float(last["durationMs"]["triggerExecution"]) / 1000.0 if last else 0.0
    rows = int(last["numInputRows"]) if last else 0
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
        queries=tuple(
            QueryStatus(
                entry.query.name,
                entry.number,
                entry.complete_from,
                tally.answers.get(entry.number, 0),
                tally.late_rows(entry.number),
                shares.get(entry.number, 0.0),
                tuple(a.store for a in entry.assignments),
                entry.paused is not None,
            )
            for entry in catalogue.entries
        )
        + tuple(
            QueryStatus(
                failure.query.name,
                failure.number,
                None,
                tally.answers.get(failure.number, 0),
                0,
                0.0,
                (),
                failed=failure.said,
            )
            for failure in catalogue.failed
        ),
        stores=tuple(stores),
        error=error,
        failed=failed,
        ahead_rows=ahead_rows,
        damaged_requests=damaged_requests,
    )
