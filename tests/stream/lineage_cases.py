"""Queries for the tests of lineage, and their events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft import Query, Window
from weft.query.sql import parse_statement
from weft.stream.events import Event
from weft.stream.lineage.datasets import Dataset
from weft.stream.lineage.facets import Described
from weft.stream.lineage.runs import LineageRuns

TRADES = Dataset(
    "kafka://h:9092",
    "trades",
    (("ts", "timestamp"), ("Symbol", "string"), ("price", "double"), ("volume", "bigint")),
)
NAMES = Dataset("file", "/data/names", (("symbol", "string"), ("sector", "string")))
BIG = Query(
    "big",
    aggs={"value": "sum(price * volume)", "n": "count(*)"},
    window=Window(range="12 minutes", slide="5 minutes"),
    where="volume > 50000",
    by=["symbol", "upper(sector) AS sector"],
    owner="ann",
)


def described(query: Query, *columns: str, parts: tuple[Query, ...] = ()) -> Described:
    output = Dataset("file", f"/out/{query.name}", tuple((name, "string") for name in columns))
    return Described(query, parts, "ts", (TRADES, NAMES), output)


class Kept:
    """A transport that keeps what is sent."""

    def __init__(self) -> None:
        self.events: list[Mapping[str, Any]] = []
        self.closed = False

    def send(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    def close(self) -> None:
        self.closed = True


def all_kinds() -> list[Mapping[str, Any]]:
    """Events of every kind: of a query by its fields, one in SQL, and one with SQL over answers."""
    shown = parse_statement(
        "SELECT window.start AS at, max(price) AS hi FROM t GROUP BY window(ts, '1 hour')", "hi"
    )[0]
    over = parse_statement(
        "SELECT window, max(n) AS m FROM (SELECT window, symbol, count(*) AS n FROM t "
        "GROUP BY window(ts, '1 hour'), symbol) GROUP BY window",
        "over",
    )[0]
    known = {
        "big": described(BIG, "window", "symbol", "sector", "value", "n"),
        "hi": described(shown, "at", "hi"),
        "over": described(over, "window", "m"),
    }
    kept = Kept()
    runs = LineageRuns(kept, known.get, stream="job", engine="4.3.0", hide=str)
    runs.tell(Event("started", 1.0, {"queries": ["big", "hi", "a part"]}))
    runs.tell(Event("paused", 2.0, {"query": "hi"}))
    runs.tell(Event("resumed", 3.0, {"query": "hi"}))
    runs.tell(Event("added", 4.0, {"query": "over"}))
    runs.tell(Event("failed", 5.0, {"query": "hi", "error": "overflow"}))
    runs.tell(Event("resumed", 6.0, {"query": "hi"}))
    runs.tell(Event("dropped", 7.0, {"query": "over"}))
    runs.tell(Event("replaced", 8.0, {"query": "big"}))
    runs.tell(Event("stopped", 9.0, {"error": None}))
    runs.close()
    assert kept.closed
    return kept.events
