"""A stream of trades with the shape of the one in SIGMOD'06 section 6, and its query sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft.query.query import Query

Drawn = TypeVar("Drawn")

QUERIES = Path(__file__).parent / "trades.yaml"
"""The queries of `weft demo`, as a workload file."""
ROWS = 1_181_901
"""The number of trades in the hour from noon that the paper's measurements use."""
SYMBOLS = 6_000
NOON = 1_101_920_400_000_000
"""2004-12-01 12:00 in New York, in microseconds since the epoch."""
SECONDS = 3_600

# Half of the trades are of 100 shares, and 15 volumes make nine tenths (section 4.3.3).
COMMON_VOLUMES = (100, 200, 300, 500, 400, 1000, 600, 1500, 2000, 700, 800, 5000, 900, 2500, 3000)
_REST = np.array([9, 6, 5, 4, 4, 2.5, 2, 2, 1.5, 1.5, 1, 0.75, 0.5, 0.25])
COMMON_SHARES = np.concatenate([[0.5], 0.4 * _REST / _REST.sum()])


@dataclass(frozen=True, eq=False)
class Market:
    """The stream of trades and the two tables that the paper joins it with (its Table 7)."""

    trades: pa.Table
    close: pa.Table
    index: pa.Table

    def joined(self) -> pa.Table:
        """The trades with their closing price and index membership, as Query 4 joins them."""
        order = self.trades["symbol"].to_numpy()
        extra = {
            "cp": self.close["cp"].to_numpy()[order],
            **{name: self.index[name].to_numpy(zero_copy_only=False)[order] for name in MEMBERS},
        }
        table = self.trades
        for name, values in extra.items():
            table = table.append_column(name, pa.array(values))
        return table


MEMBERS = ("r3000", "r2000", "r1000")


def market(
    rows: int = ROWS, *, symbols: int = SYMBOLS, seed: int = 0, prints: float = 1.0
) -> Market:
    """An hour of trades; the number of rows sets the rate, not the hour.

    Prices walk by symbol in cents from the closing price of the day before; a few symbols make
    most of the trades. The 1,000 largest are in r1000, the next 2,000 in r2000, both in r3000.
    `prints` is how many trades in a row are alike on average (symbol, price, volume): the prints
    of one large order.

    >>> small = market(1_000)
    >>> small.trades.column_names, small.joined().num_rows
    (['ts', 'symbol', 'price', 'volume'], 1000)
    """
    random = np.random.default_rng(seed)
    popularity = 1.0 / np.arange(1, symbols + 1) ** 0.8
    order, orders = _orders(random, rows, prints)
    symbol = random.choice(symbols, orders, p=popularity / popularity.sum()).astype(np.int32)
    ts = NOON + np.sort(random.integers(0, SECONDS * 1_000_000, rows))
    closing = np.round(np.exp(random.normal(3.2, 0.8, symbols)), 2).clip(1.0)
    number = np.arange(symbols)
    return Market(
        pa.table(
            {
                "ts": pa.array(ts, pa.timestamp("us", tz="UTC")),
                "symbol": symbol[order],
                "price": _walk(random, symbol, closing)[order],
                "volume": _volumes(random, orders)[order],
            }
        ),
        pa.table({"symbol": number.astype(np.int32), "cp": closing}),
        pa.table(
            {
                "symbol": number.astype(np.int32),
                "r3000": number < 3_000,
                "r2000": (number >= 1_000) & (number < 3_000),
                "r1000": number < 1_000,
            }
        ),
    )


def _orders(
    random: np.random.Generator, rows: int, prints: float
) -> tuple[npt.NDArray[np.int64], int]:
    """For each trade, the order that it is part of; and the number of orders."""
    if prints == 1.0:
        return np.arange(rows), rows
    first = random.random(rows) < 1.0 / prints
    first[:1] = True
    return np.cumsum(first) - 1, int(first.sum())


def _walk(
    random: np.random.Generator, symbol: npt.NDArray[np.int32], closing: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Each symbol's prices, in order of time: the opening gap, then steps of a few cents."""
    order = np.argsort(symbol, kind="stable")
    steps = np.round(random.normal(0.0, 0.0005, len(symbol)) * closing[symbol[order]], 2)
    walked = np.cumsum(steps)
    sorted_symbol = symbol[order]
    first = np.flatnonzero(np.r_[True, sorted_symbol[1:] != sorted_symbol[:-1]])
    base = np.repeat(walked[first] - steps[first], np.diff(np.r_[first, len(symbol)]))
    opening = np.round(closing * (1.0 + random.normal(0.0, 0.015, len(closing))), 2)
    price = np.empty(len(symbol))
    price[order] = np.round(opening[sorted_symbol] + walked - base, 2).clip(0.01)
    return price


def _volumes(random: np.random.Generator, rows: int) -> npt.NDArray[np.int64]:
    """Volumes between 10 and 1.6 million, of which 15 values make nine tenths."""
    common = random.choice(COMMON_VOLUMES, rows, p=COMMON_SHARES / COMMON_SHARES.sum())
    odd = np.exp(random.uniform(np.log(10), np.log(2_000), rows)).astype(np.int64)
    block = np.exp(random.uniform(np.log(20), np.log(16_000), rows)).astype(np.int64) * 100
    rare = np.where(random.random(rows) < 0.6, odd, block)
    return np.where(random.random(rows) < 0.9, common, rare).astype(np.int64)


VALUE = "sum(price * volume)"
_MICROS = 1_000_000


def workload(kind: str, count: int, *, seed: int = 0) -> list[Query]:
    """`count` queries made as in the paper's Table 8 from its Query 4, the total value of trades.

    `A` differs in windows, `B` in predicates, `C` in both: `C` (regular) combines the square
    root of `count` windows with as many predicates, `C_low` gives every query its own.

    >>> [len(workload(kind, 16)) for kind in ("A", "B", "C", "C_low")]
    [16, 16, 16, 16]
    """
    from weft.query.query import Query
    from weft.query.window import Window

    random = np.random.default_rng(seed)
    fixed = (600, 600)

    def query(number: int, window: tuple[int, int], where: str | None) -> Query:
        return Query(
            f"q{number + 1}",
            aggs={"value": VALUE},
            window=Window.of_units(window[0] * _MICROS, window[1] * _MICROS),
            where=where,
        )

    asked: Sequence[tuple[tuple[int, int], str | None]]
    if kind == "A":
        asked = [(window, None) for window in _distinct(_window, random, count)]
    elif kind == "B":
        asked = [(fixed, where) for where in _distinct(_predicate, random, count)]
    elif kind == "C":
        side = round(count**0.5)
        windows = _distinct(_window, random, side)
        predicates = _distinct(_predicate, random, side)
        asked = [(window, where) for window in windows for where in predicates][:count]
    elif kind == "C_low":
        windows = _distinct(_window, random, count)
        chosen = _distinct(_predicate, random, count)
        asked = [(window, chosen[number]) for number, window in enumerate(windows)]
    else:
        raise ValueError(f"kind={kind!r}: accepted are 'A', 'B', 'C', 'C_low'")
    return [query(number, *one) for number, one in enumerate(asked)]


def _distinct(
    draw: Callable[[np.random.Generator], Drawn], random: np.random.Generator, count: int
) -> list[Drawn]:
    found: dict[Drawn, None] = {}
    while len(found) < count:
        found[draw(random)] = None
    return list(found)


def _window(random: np.random.Generator) -> tuple[int, int]:
    """Range and slide in seconds."""
    return int(random.integers(600, 901)), int(random.integers(300, 601))


def _predicate(random: np.random.Generator) -> str:
    """A condition on index membership AND one on the value, all choices equally probable."""
    member = MEMBERS[random.integers(3)]
    inside = "" if random.random() < 0.5 else "NOT "
    kind = random.integers(3)
    quantity, low, high, digits = (
        ("volume", 50, 20_000, 0),
        ("price * volume", 500, 1_000_000, 0),
        ("abs(price - cp) / cp", 0.0005, 0.05, 5),
    )[kind]
    value = float(np.exp(random.uniform(np.log(low), np.log(high))))
    constant = f"{value:.{digits}f}"
    comparison = ">" if random.random() < 0.5 else "<"
    return f"{inside}{member} AND {quantity} {comparison} {constant}"
