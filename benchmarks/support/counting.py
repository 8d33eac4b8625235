"""The aggregations of SIGMOD'06's strategies, counted from the rows without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.query.query import Query
from weft.query.window import Window

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """Partial and final aggregations; `shards` is the number of partials that they produce."""

    partial: int
    final: int
    shards: int

    @property
    def total(self) -> int:
        return self.partial + self.final


def times(table: pa.Table) -> Int64:
    """The event times of the trades, in microseconds."""
    return table["ts"].cast(pa.int64()).to_numpy()


def satisfied(table: pa.Table, where: str | None) -> npt.NDArray[np.bool_]:
    """Which rows satisfy a predicate of `weft.demo.trades.workload` (Member AND Value)."""
    if where is None:
        return np.ones(table.num_rows, dtype=np.bool_)
    member, value = where.split(" AND ")
    flag = table[member.removeprefix("NOT ")].to_numpy(zero_copy_only=False)
    quantity, comparison, constant = value.rsplit(" ", 2)
    price, volume = table["price"].to_numpy(), table["volume"].to_numpy()
    close = table["cp"].to_numpy()
    values = {
        "volume": volume,
        "price * volume": price * volume,
        "abs(price - cp) / cp": np.abs(price - close) / close,
    }[quantity]
    inside = values > float(constant) if comparison == ">" else values < float(constant)
    return (~flag if member.startswith("NOT ") else flag) & inside


def signatures(table: pa.Table, queries: Sequence[Query]) -> tuple[Int64, npt.NDArray[np.uint8]]:
    """For each row, its fragment's number; and a Boolean matrix of fragments by queries."""
    wanted = list(dict.fromkeys(query.where for query in queries))
    bits = np.packbits(np.stack([satisfied(table, where) for where in wanted]), axis=0).T
    whole = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    known = np.unpackbits(bits[first], axis=1)[:, : len(wanted)]
    place = [wanted.index(query.where) for query in queries]
    return number.astype(np.int64), known[:, place]


def slices(windows: Sequence[Window], low: int, high: int, pieces: str = "pairs") -> Int64:
    """The slice edges of the windows between two times, in order."""
    edges: list[Int64] = []
    for window in windows:
        if pieces == "panes":
            step = gcd(window.range, window.slide)
            progressions = [(window.phase, step)]
        else:
            step = window.slide
            progressions = [(window.phase, step), (window.phase + window.range, step)]
        for offset, every in progressions:
            first = low - (low - offset) % every
            edges.append(np.arange(first, high + every, every, dtype=np.int64))
    return np.unique(np.concatenate(edges))


def windows_with(window: Window, start: Int64) -> Int64:
    """For slices that start at given times, how many instances of a window contain each."""
    since = (start - window.phase) % window.slide
    inside = (window.range - 1 - since) // window.slide + 1
    return np.where(since < window.range, inside, 0)


def shared(table: pa.Table, queries: Sequence[Query], pieces: str = "pairs") -> Counts:
    """All queries in one tree, by slices, fragments or shards, depending on how they differ."""
    at = times(table)
    edges = slices([query.window for query in queries], int(at[0]), int(at[-1]), pieces)
    number, members = signatures(table, queries)
    slice_of = np.searchsorted(edges, at, side="right") - 1
    taken = members[number].any(axis=1) if not members.all() else np.ones(len(at), dtype=np.bool_)
    shard = np.unique(slice_of[taken] * len(members) + number[taken])
    start, fragment = edges[shard // len(members)], shard % len(members)
    final = sum(
        int(windows_with(query.window, start[members[fragment, column] > 0]).sum())
        for column, query in enumerate(queries)
    )
    return Counts(int(taken.sum()), final, len(shard))


def unshared(table: pa.Table, queries: Sequence[Query], pieces: str = "pairs") -> Counts:
    """Every query alone, from its own slices."""
    at = times(table)
    partial = final = made = 0
    known: dict[str | None, Int64] = {}
    for query in queries:
        if query.where not in known:
            known[query.where] = at[satisfied(table, query.where)]
        mine = known[query.where]
        edges = slices([query.window], int(at[0]), int(at[-1]), pieces)
        start = edges[np.unique(np.searchsorted(edges, mine, side="right") - 1)]
        partial += len(mine)
        final += int(windows_with(query.window, start).sum())
        made += len(start)
    return Counts(partial, final, made)
