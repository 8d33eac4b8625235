"""Small deterministic tables that the Spark and Databricks statements of the corpus read.

The data are awkward on purpose: three days across the European change to summer time (2026-03-29
01:00 UTC) with rows at its edge, nulls in every column, NaN, negative zero, large values and their
negatives, integers that no double holds, duplicate rows, keys that the dimension tables lack,
dimensions without rows, and sessions whose gaps are exactly ten minutes and a microsecond less.

Prices are multiples of 1/64 and large ones powers of two, so that sums of `price` and of
`price * volume` are exact: they are the same in whatever order Spark adds them.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = tuple[Any, ...]

SCHEMAS: dict[str, str] = {
    "trades": (
        "ts TIMESTAMP, symbol STRING, venue STRING, side STRING, price DOUBLE, volume BIGINT, "
        "fee DECIMAL(10,2), note STRING, tags ARRAY<STRING>, attrs MAP<STRING,STRING>, "
        "quote STRUCT<bid:DOUBLE, ask:DOUBLE>"
    ),
    "symbols": "symbol STRING, sector STRING, listed DATE",
    "flights": (
        "dep TIMESTAMP, carrier STRING, origin STRING, dest STRING, delay INT, distance INT, "
        "cancelled BOOLEAN"
    ),
    "carriers": "carrier STRING, name STRING, country STRING",
    "clicks": "at TIMESTAMP, user_id BIGINT, page STRING, ms INT, country STRING",
    "bids": (
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, "
        "bid_time TIMESTAMP"
    ),
    "auctions": (
        "id BIGINT, item STRING, seller BIGINT, category BIGINT, reserve BIGINT, "
        "opens TIMESTAMP, expires TIMESTAMP"
    ),
    "persons": "id BIGINT, name STRING, city STRING, state STRING, joined TIMESTAMP",
}

SYMBOLS: list[Row] = [
    ("ABX", "metals", date(2019, 5, 2)),
    ("BOL", "metals", date(2001, 1, 31)),
    ("CRD", "energy", date(2026, 3, 29)),  # listed on a day with trades
    ("DNO", "energy", None),
    ("QQQ", None, date(2024, 2, 29)),  # never traded
]  # ERO and ZIM are traded and not listed here

CARRIERS: list[Row] = [
    ("SK", "Scandi", "SE"),
    ("DY", "Northern", "NO"),
    ("LH", "Crane", "DE"),
    ("XX", "Grounded", None),  # never flies
]  # FR and W6 fly and are not listed here

TAGS: list[list[str | None] | None] = [
    None,
    [],
    ["block"],
    ["block", "late"],
    ["algo", None],
    ["late", "late"],
]
ATTRS: list[dict[str, str | None] | None] = [
    None,
    {},
    {"desk": "a"},
    {"desk": "b", "algo": "x"},
    {"desk": "b", "algo": None},
]
NOTES = [None, None, None, "17", "it's", "five o'clock", "; -- no comment", "/cart", "n/a"]

# Edges of hours, of days in UTC, Stockholm and New York, of the month, and of the change of clocks.
EDGES = [
    "2026-03-28 00:00:00",
    "2026-03-28 22:59:59.999999",
    "2026-03-28 23:00:00",
    "2026-03-29 00:59:59.999999",
    "2026-03-29 01:00:00",
    "2026-03-29 01:00:00.000001",
    "2026-03-29 04:00:00",
    "2026-03-29 22:00:00",
    "2026-03-30 23:59:59.999",
    "2026-03-31 22:00:00",
    "2026-04-01 00:00:00",
]


def make_tables(spark: SparkSession) -> dict[str, DataFrame]:
    """The tables by name, the same rows at every call and in every time zone."""
    rows = {
        "trades": _trades(Random(0)),
        "symbols": SYMBOLS,
        "flights": _flights(Random(0)),
        "carriers": CARRIERS,
        "clicks": _clicks(Random(0)),
        **_nexmark(Random(0)),
    }
    return {name: spark.createDataFrame(rows[name], SCHEMAS[name]) for name in SCHEMAS}


def _nexmark(random: Random) -> dict[str, list[Row]]:
    """Bids on auctions of persons, within a few minutes."""
    start = _utc("2026-03-29 00:59:30")

    def moment(seconds: int) -> datetime:
        return start + timedelta(milliseconds=random.randrange(seconds * 1000))

    persons = [
        (n, f"p{n}", random.choice("ABC"), random.choice(["OR", "ID"]), moment(60))
        for n in range(40)
    ]
    auctions: list[Row] = []
    for n in range(25):
        opens = moment(60)
        expires = opens + timedelta(seconds=random.randrange(10, 90))
        reserve = random.randrange(1, 999)
        auctions.append((n, f"i{n}", random.randrange(40), 10 + n % 4, reserve, opens, expires))
    bids = [
        (
            random.randrange(25),
            random.choice([*range(40), 500]),
            random.randrange(1, 300_000),
            random.choice(["web", "app", "Google"]),
            f"https://example.test/item/{random.randrange(9)}",
            moment(120),
        )
        for _ in range(300)
    ]
    return {"bids": bids, "auctions": auctions, "persons": persons}


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def _trades(random: Random) -> list[Row]:
    """Some 400 rows: most on 28 to 30 March 2026, some on the three days after."""
    start = _utc("2026-03-28 00:00:00")
    dense = [start + timedelta(milliseconds=random.randrange(3 * 86_400_000)) for _ in range(310)]
    sparse = [start + timedelta(days=3, seconds=random.randrange(3 * 86_400)) for _ in range(64)]
    rows = [_trade(random, ts) for ts in [*map(_utc, EDGES), *dense, *sparse, None, None, None]]
    return rows + rows[40:52]  # duplicates


def _trade(random: Random, ts: datetime | None) -> Row:
    price: float | None = random.randrange(64, 9600) / 64
    volume: int | None = random.randrange(1, 1500)
    if random.random() < 0.08:
        price = random.choice([None, float("nan"), -0.0, 0.0, -12.5, 2.0**32, -(2.0**32)])
    elif random.random() < 0.08:
        volume = random.choice([None, 0, -5, 2**33])
    elif random.random() < 0.01:
        price, volume = None, random.choice([2**53 + 1, -(2**53) - 1])
    bid = random.randrange(64, 6400) / 64
    return (
        ts,
        random.choice(["ABX", "ABX", "BOL", "CRD", "DNO", "ERO", "ZIM", None]),
        random.choice(["NYSE", "NYSE", "nyse", "XETRA", "LSE", None]),
        random.choice(["B", "B", "S", "S", None]),
        price,
        volume,
        None if random.random() < 0.1 else Decimal(random.randrange(-200, 5000)) / 100,
        random.choice(NOTES),
        random.choice(TAGS),
        random.choice(ATTRS),
        None if random.random() < 0.1 else (bid, bid + random.randrange(64) / 64),
    )


def _flights(random: Random) -> list[Row]:
    """14 months from February 2025: two years, five quarters, two changes to summer time."""
    start = _utc("2025-02-01 00:00:00")
    airports = ["ARN", "CPH", "OSL", "FRA", "HEL", None]
    rows: list[Row] = []
    for _ in range(260):
        cancelled = random.choice([False] * 8 + [True, None])
        rows.append(
            (
                start + timedelta(minutes=random.randrange(424 * 1440)),
                random.choice(["SK", "SK", "DY", "LH", "FR", "W6", None]),
                random.choice(airports),
                random.choice(airports),
                None if cancelled else random.choice([random.randrange(-20, 90), 0, 400]),
                random.choice([None, *[random.randrange(100, 9000)] * 9]),
                cancelled,
            )
        )
    return rows + rows[:6] + [(None, "SK", "ARN", "OSL", 3, 390, False)]


def _clicks(random: Random) -> list[Row]:
    """Clicks of users in sessions; user 1 pauses for ten minutes, and for a microsecond less."""
    pages = ["/", "/shop", "/shop/1", "/cart", "/paid", "/health"]
    visits: list[tuple[int | None, datetime]] = []
    for user in [1, 2, 3, 4, 5, 6, 40_000, None]:
        for _ in range(4):
            at = _utc("2026-03-28 06:00:00") + timedelta(seconds=random.randrange(60 * 3600))
            for _ in range(random.randrange(1, 12)):
                visits.append((user, at))
                at += timedelta(milliseconds=random.choice([0, 900, 45_000, 240_000, 700_000]))
    gap = timedelta(minutes=10)
    first = _utc("2026-03-30 20:00:00")
    visits += [(1, first), (1, first + gap), (1, first + 2 * gap - timedelta(microseconds=1))]
    rows = [
        (
            at,
            user,
            random.choice(pages),
            random.choice([None, *[random.randrange(5, 3000)] * 9]),
            random.choice(["SE", "SE", "NO", "DE", "se", None]),
        )
        for user, at in visits
    ]
    return [*rows, *rows[10:14], (None, 2, "/", 20, "SE")]
