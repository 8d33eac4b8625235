"""A thousand adds and drops in a minute, with unreadable requests among them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.faults.outcome import RIGHT, Outcome, Wrong
from tests.faults.rig import CLOSED, QUERIES, Case, Rig
from weft.query.query import Query
from weft.query.window import Window
from weft.stream.requests import Requests


def asked(number: int) -> Query:
    """One of the queries that are added and dropped."""
    window = Window(range=f"{1 + number % 7} minutes", slide="1 minute")
    where = None if number % 3 == 0 else f"x > {number % 5}"
    return Query(f"c{number}", aggs={"n": "count(*)"}, window=window, by=["k"], where=where)


def churn(rig: Rig) -> Iterator[Outcome]:
    """Half of the requests add a query and half drop one; every fiftieth file is damaged."""
    count = 60 if rig.short else 1000
    case = rig.case("churn")
    case.minutes(0, 4)
    running = case.start(trigger="500 milliseconds")
    try:
        _wait(lambda: running.progress.batch >= 0)
        requests = Requests(str(case.checkpoint))
        began = time.monotonic()
        tickets = []
        damaged = 0
        for number in range(count // 2):
            tickets.append(requests.ask_add(asked(number), backfill=number % 2 == 0))
            if number >= 10:
                tickets.append(requests.ask_drop(f"c{number - 10}"))
            if number % 25 == 24:
                damaged += _spoil(case)
            if number == count // 4:
                case.minutes(4, 6)
        asking = time.monotonic() - began
        for ticket in tickets:
            requests.wait(ticket, timeout=600)
        took = time.monotonic() - began
        changes = running.catalogue.number
        case.minutes(30, 32)
        case.end()
        _wait(lambda: (running.progress.frontier or 0) > CLOSED)
        status = running.status()
    finally:
        running.stop()
    if len(status.damaged_requests) != damaged:
        raise Wrong(f"{len(status.damaged_requests)} of {damaged} damaged requests are in status")
    kept = [asked(number) for number in range(count // 2 - 10, count // 2)]
    names = {query.name for query in running.queries}
    if names != {query.name for query in (*QUERIES, *kept)}:
        raise Wrong(f"the queries are {sorted(names)}")
    since = {entry.query.name: entry.complete_from for entry in running.catalogue.entries}
    rows = case.compare([*QUERIES, *kept], since)
    yield Outcome(
        f"{len(tickets):,} adds and drops from another process, asked for in {asking:.1f} s; "
        f"{damaged} damaged requests among them",
        f"carried out within {took:.0f} s in {changes - 1} changes of plan; the damaged ones set "
        f"aside and listed in `status()`",
        RIGHT,
        rows,
    )


def _spoil(case: Case) -> int:
    """Damage a request, as if its writing had been interrupted."""
    folder = case.checkpoint / "weft" / "requests"
    written = folder / ".cut"
    written.write_bytes(b'{"weft": "request", "checksum": 1')
    written.rename(folder / f"{time.time_ns():020d}-cut.json")
    return 1


def _wait(condition: Callable[[], bool], seconds: float = 300.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            raise Wrong("waited too long")
        time.sleep(0.1)
