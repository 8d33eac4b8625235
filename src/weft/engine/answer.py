"""Answers of the windows that are due, combined from a bucket's shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.algebra.ops import bind
from weft.engine.finals.batch import Slices, WindowRequest, answer
from weft.engine.groups import group_rows
from weft.engine.overload import Bounds
from weft.engine.program import FAR, QueryWindows, TreeProgram
from weft.engine.shards import FRAGMENT, SLICE, flat
from weft.engine.state.bucket import Bucket, satisfied

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Combined:
    """Some answers before lowering: window starts, keys, and partials by part."""

    queries: tuple[int, ...]
    """Whose answers they are: queries that ask for the same windows, groups, rows and parts."""
    start: Int64
    keys: tuple[pa.Array, ...]
    parts: tuple[tuple[pa.Array, ...], ...]


@dataclass(frozen=True)
class DueWindows:
    """The windows of a service to be answered: those that end in `(after, upto]`."""

    service: QueryWindows
    after: int
    upto: int

    def starts(self, stretches: Sequence[tuple[int, int]], bounds: Bounds) -> Int64:
        """Starts of those windows that may hold any of these stretches of slices."""
        times = (self.after, self.upto)
        count = sum(self.service.count(low, high, *times) for low, high in stretches)
        bounds.check(self.service.query, "windows", count)
        found = [self.service.starts(low, high, self.after, self.upto) for low, high in stretches]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)

    def ask(self, parts: tuple[int, ...], rows: npt.NDArray[np.bool_] | None) -> WindowRequest:
        """The same for the finals; `parts` are positions."""
        service = self.service
        return WindowRequest(
            range=service.range,
            slide=service.slide,
            offset=service.phase,
            parts=parts,
            rows=rows,
            ends_after=max(self.after, min(FAR, service.since + service.range - 1)),
            ends_until=min(self.upto, service.until - 1 + service.range),
        )


def closing_answers(bucket: Bucket, store: TreeProgram, watermark: int) -> Iterator[Combined]:
    """The answers of the windows that the watermark closes: each window once, final."""
    dues = [DueWindows(service, bucket.frontier, watermark) for service in store.services]
    yield from combined_answers(bucket, store, dues)


def changed_answers(
    bucket: Bucket, store: TreeProgram, delta: pa.Table | None
) -> Iterator[Combined]:
    """Early answers: every group of an open window into which the micro-batch brought a row."""
    if delta is None or delta.num_rows == 0:
        return
    low, high = pc.min_max(delta.column(SLICE)).as_py().values()
    dues = [
        DueWindows(service, max(bucket.frontier, low), high + service.range)
        for service in store.services
    ]
    signatures = bucket.signatures()
    changed: dict[tuple[int, ...], list[Combined]] = {}
    for keys in dict.fromkeys(service.keys for service in store.services):
        some = [due for due in dues if due.service.keys == keys]
        for found in _by_keys(bucket, store, delta, signatures, keys, some):
            changed.setdefault(found.queries, []).append(found)
    for found in combined_answers(bucket, store, dues):
        kept = _among(found, changed.get(found.queries, []))
        if len(kept.start):
            yield kept


def _among(found: Combined, changed: Sequence[Combined]) -> Combined:
    """Those answers whose window and group are among the changed."""
    starts = np.concatenate([found.start, *(some.start for some in changed)])
    keys = [
        pa.concat_arrays([column, *(some.keys[at] for some in changed)])
        for at, column in enumerate(found.keys)
    ]
    groups = group_rows([starts, *keys], len(starts))
    here = groups.ids[: len(found.start)]
    rows = np.flatnonzero(np.isin(here, groups.ids[len(found.start) :]))
    at = pa.array(rows)
    return Combined(
        found.queries,
        found.start[rows],
        tuple(column.take(at) for column in found.keys),
        tuple(tuple(column.take(at) for column in part) for part in found.parts),
    )


def combined_answers(
    bucket: Bucket, store: TreeProgram, dues: Sequence[DueWindows]
) -> Iterator[Combined]:
    """Every due window with any row in it, for every group."""
    stretches = bucket.stretches(store)
    edges = []
    open_dues = []
    for due in dues:
        starts = due.starts(stretches, bucket.program.bounds)
        if len(starts):
            edges += [starts, starts + due.service.range]
            open_dues.append(due)
    if not edges:
        return
    shards = bucket.gather(store, np.unique(np.concatenate(edges)))
    if shards.num_rows == 0:
        return
    signatures = bucket.signatures()
    for keys in dict.fromkeys(due.service.keys for due in open_dues):
        some = [due for due in open_dues if due.service.keys == keys]
        yield from _by_keys(bucket, store, shards, signatures, keys, some)


def _check_bounds(
    bounds: Bounds, askers: dict[DueWindows, list[int]], slices: Int64, groups: int
) -> None:
    """Stop, before the answers of a query are made, if they are more than it may have."""
    for due, queries in askers.items():
        for query in bounds.queries.intersection(queries):
            service = due.service
            windows = service.count(int(slices.min()), int(slices.max()), due.after, due.upto)
            in_windows = -(-service.range // service.slide)  # of each, a shard makes one answer
            bounds.check(query, "groups", groups)
            bounds.check(query, "windows", min(windows * groups, len(slices) * in_windows))


def _by_keys(
    bucket: Bucket,
    store: TreeProgram,
    shards: pa.Table,
    signatures: list[int],
    keys: tuple[int, ...],
    dues: Sequence[DueWindows],
) -> Iterator[Combined]:
    """The answers of services with the same keys: the shards sorted once, by key and slice.

    What several queries ask for alike is combined once.
    """
    askers: dict[DueWindows, list[int]] = {}
    for due in dues:
        alike = replace(due, service=replace(due.service, query=0))
        askers.setdefault(alike, []).append(due.service.query)
    dues = list(askers)
    groups = group_rows([flat(shards, f"k{number}") for number in keys], shards.num_rows)
    slices = flat(shards, SLICE).to_numpy()
    _check_bounds(bucket.program.bounds, askers, slices, groups.count)
    order = np.lexsort((slices, groups.ids))
    at = pa.array(order)
    fragments = flat(shards, FRAGMENT).to_numpy()[order]
    masks: dict[int, npt.NDArray[np.bool_]] = {}
    wanted = sorted({part for due in dues for part in due.service.parts})
    parts = []
    for number in wanted:
        part = store.part(number)
        columns = [flat(shards, column).take(at) for column in part.columns]
        parts.append((bind(part.part, part.types), columns))
    asks = []
    for due in dues:
        predicate = due.service.predicate
        if predicate is not None and predicate not in masks:
            masks[predicate] = satisfied(signatures, predicate)[fragments]
        positions = tuple(wanted.index(number) for number in due.service.parts)
        asks.append(due.ask(positions, None if predicate is None else masks[predicate]))
    holders = [flat(shards, f"k{number}").take(pa.array(groups.first)) for number in keys]
    for found in answer(Slices(groups.ids[order], slices[order]), parts, asks):
        group = pa.array(found.key)
        yield Combined(
            tuple(askers[dues[found.ask]]),
            found.start,
            tuple(holder.take(group) for holder in holders),
            tuple(tuple(columns) for columns in found.parts),
        )
