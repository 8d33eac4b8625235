"""Sessions of a bucket that are still open, and their answers when the watermark closes them.

    rows of a micro-batch --late for which gaps?--> stretches --join what touches--> kept
    kept, for every gap in turn: sessions --last row + gap <= watermark--> answers

The state of a group is a list of stretches: rows that are in one session for every gap that still
accepts them, with their first and last time and their partials. `spent` is the largest gap for
which a stretch is over: its session has been answered, or its rows came too late. Gaps are over in
ascending order, so one number is enough. As in Spark, a row is late for a gap if the session that
it would start ends at or before the watermark of the previous micro-batch, and a session that has
been answered accepts no more rows.

Sessions with a maximum are stored differently: see `capped_sessions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.answer import Combined
from weft.engine.blame import named
from weft.engine.groups import group_rows
from weft.engine.program import TreeProgram
from weft.engine.query_windows import FAR, Lane, QueryWindows, lanes
from weft.engine.sessions import (
    FIRST,
    LAST,
    Sessions,
    alike_parts,
    by_gap,
    columns_of,
    merge_sessions,
    session_ends,
    session_groups,
)
from weft.engine.shards import FRAGMENT, SLICE, NumberedPart, ShardSchema, flat
from weft.engine.state.codec import bytes_to_table, checksum_of, damaged, table_to_bytes
from weft.engine.state.lanes import lane_name
from weft.errors import AggregateError

if TYPE_CHECKING:
    from weft.engine.state.bucket import Bucket

Int64 = npt.NDArray[np.int64]
SPENT = "spent"
PIECE = 512 * 1024
"""The approximate size of a piece of stretches, in bytes."""


def session_lanes(tree: TreeProgram) -> list[Lane]:
    """The sessions of a tree by keys and predicate: each lane has its own stretches.

    Sessions with a maximum are also separated by gap, maximum and the time from which rows count.
    """
    if not tree.is_session:
        return []
    found: dict[tuple[int, int, int], list[QueryWindows]] = {}
    for window in tree.services:
        apart = (window.range, window.maximum, window.since) if window.maximum else (0, 0, 0)
        found.setdefault(apart, []).append(window)
    return [lane for windows in found.values() for lane in lanes(windows)]


def sessions_name(tree: TreeProgram, lane: Lane) -> str:
    """The name of a lane's pieces in the state."""
    name, window = f"w{lane_name(tree, lane)[1:]}", lane.windows[0]
    if not window.maximum:
        return name
    since = f"@{window.since}" if window.since > -FAR else ""
    return f"{name}~{window.range}<{window.maximum}{since}"


class OpenSessions:
    """The stretches of a lane, opened for one micro-batch."""

    def __init__(self, bucket: Bucket, tree: TreeProgram, lane: Lane) -> None:
        self.bucket, self.tree, self.lane = bucket, tree, lane
        self.name = sessions_name(tree, lane)
        self.gaps = np.array(lane.ranges, dtype=np.int64)
        self.keys = [key for key in tree.schema.keys if key.number in lane.keys]
        self.parts: list[NumberedPart] = [tree.part(number) for number in lane.parts]
        self.since = np.array(sorted({window.since for window in lane.windows}), dtype=np.int64)
        self._read: pa.Table | None = None
        self._changed = False

    # New rows.

    def take(self, shards: pa.Table, rows: Int64) -> None:
        """Add the rows of a micro-batch that are not late for every gap."""
        predicate = self.lane.predicate
        if predicate is not None:
            mine = self.bucket.satisfied(predicate)[flat(shards, FRAGMENT).to_numpy()]
            shards, rows = shards.filter(pa.array(mine)), rows[mine]
        times = flat(shards, SLICE).to_numpy()
        over = self.bucket.frontier - times  # gaps up to this are closed for the row
        self._count_late(times, over, rows)
        spent = self._spent(over)
        kept = (spent < len(self.gaps)) & (times >= self.since[0])
        if not kept.any():
            return
        shards, times, spent = shards.filter(pa.array(kept)), times[kept], spent[kept]
        columns = [key.column for key in self.keys]
        columns += [column for part in self.parts for column in part.columns]
        arrays = {name: flat(shards, name) for name in columns}
        fresh = pa.table({FIRST: times, LAST: times, SPENT: self._gap_of(spent), **arrays})
        self._put(self._joined(pa.concat_tables([self.table(), fresh.select(self._names)])))

    def _count_late(self, times: Int64, over: Int64, rows: Int64) -> None:
        late = self.bucket.index.late
        for window in self.lane.windows:
            count = int(rows[(over >= window.range) & (times >= window.since)].sum())
            if count:
                late[window.query] = late.get(window.query, 0) + count

    def _spent(self, over: Int64) -> Int64:
        """How many of the gaps, in ascending order, are over."""
        return np.searchsorted(self.gaps, over, side="right").astype(np.int64)

    def _gap_of(self, spent: Int64) -> Int64:
        """The largest gap that is over, 0 if none is; stored instead of the count, because gaps
        are added and dropped."""
        return np.concatenate([[0], self.gaps])[spent]

    def _joined(self, table: pa.Table) -> pa.Table:
        """Joins stretches of a group that are in one session for every gap that accepts them.

        Stretches on both sides of the time from which a query counts rows are not joined, because
        that query has only the later one. Stretches that no gap accepts any more, because the query
        with the largest gap was dropped, are removed.
        """
        spent = self._spent(flat(table, SPENT).to_numpy())
        if (spent == len(self.gaps)).any():
            table = table.filter(pa.array(spent < len(self.gaps))).combine_chunks()
            spent = self._spent(flat(table, SPENT).to_numpy())
        first = flat(table, FIRST).to_numpy()
        epoch = np.searchsorted(self.since, first, side="right")
        groups = self._groups(table)
        order = np.lexsort((first, spent, epoch, groups))
        table = table.take(pa.array(order)).combine_chunks()
        spent, group = spent[order], groups[order]
        apart = np.empty(len(order), dtype=np.bool_)
        apart[:1] = True
        apart[1:] = (group[1:] != group[:-1]) | (spent[1:] != spent[:-1])
        apart[1:] |= epoch[order][1:] != epoch[order][:-1]
        firsts, lasts = flat(table, FIRST).to_numpy(), flat(table, LAST).to_numpy()
        apart[1:] |= np.diff(self._span(firsts)) != 0
        stretches = session_groups(np.cumsum(apart), firsts, lasts, self.gaps[spent])
        if stretches.distinct:
            return table
        try:
            made = merge_sessions(table, stretches, self.parts)
        except AggregateError as error:
            raise named((window.query for window in self.lane.windows), error) from error
        at = pa.array(stretches.first)
        for name in (SPENT, *(key.column for key in self.keys)):
            made = made.append_column(name, flat(table, name).take(at))
        return made.select(self._names)

    def _groups(self, table: pa.Table) -> Int64:
        return group_rows([flat(table, key.column) for key in self.keys], table.num_rows).ids

    def _span(self, times: Int64) -> Int64:
        """The number of each time's span; stretches in different spans are not joined."""
        return np.zeros_like(times)

    def _by_group(self, table: pa.Table) -> tuple[pa.Table, Int64]:
        """The stretches in order of group and first time, and their groups."""
        group = self._groups(table)
        order = np.lexsort((flat(table, FIRST).to_numpy(), group))
        return table.take(pa.array(order)).combine_chunks(), group[order]

    # Due sessions.

    def close(self, watermark: int) -> Iterator[Combined]:
        """The answers of the sessions that end at or before the watermark, for every gap."""
        if not self._is_due(watermark):
            return
        table, group = self._by_group(self.table())
        first, last = flat(table, FIRST).to_numpy(), flat(table, LAST).to_numpy()
        spent = self._spent(flat(table, SPENT).to_numpy())
        for at, (gap, _, windows) in enumerate(by_gap(self.lane.windows)):
            rows = np.flatnonzero(spent <= at)
            if not len(rows):
                continue
            sessions = session_groups(group[rows], first[rows], last[rows], gap)
            closed = rows[(latest_of(sessions, last[rows]) + gap <= watermark)[sessions.ids]]
            if not len(closed):
                continue
            asked = [w for w in windows if w.query not in self.bucket.program.silent]
            for since in sorted({window.since for window in asked}):
                some = [window for window in asked if window.since == since]
                own = closed[first[closed] >= since]
                yield from self._answers(
                    table.take(pa.array(own)).combine_chunks(),
                    session_groups(group[own], first[own], last[own], gap),
                    some,
                )
            spent[closed] = at + 1
            self._changed = True
        kept = spent < len(self.gaps)
        if self._changed or not kept.all():
            place = table.column_names.index(SPENT)
            table = table.set_column(place, SPENT, pa.array(self._gap_of(spent)))
            self._put(table.filter(pa.array(kept)).combine_chunks())

    def _is_due(self, watermark: int) -> bool:
        """Whether there are new rows, or a session may have ended."""
        known = self.bucket.index.sessions.get(self.name)
        return self._read is not None or (known is not None and watermark >= known["due"])

    def _answers(
        self, some: pa.Table, sessions: Sessions, windows: Sequence[QueryWindows]
    ) -> Iterator[Combined]:
        """The answers of sessions of one gap and maximum, given all of their stretches."""
        if not some.num_rows:
            return
        gap, maximum = windows[0].range, windows[0].maximum
        keys = {
            key.number: flat(some, key.column).take(pa.array(sessions.first)) for key in self.keys
        }
        bounds = self.bucket.program.bounds
        for wished, queries in alike_parts(windows).items():
            for query in bounds.queries.intersection(queries):
                bounds.check(query, "windows", sessions.count)
            parts = [part for part in self.parts if part.number in wished]
            try:
                made = merge_sessions(some, sessions, parts)
            except AggregateError as error:
                raise named(queries, error) from error
            yield Combined.of(
                queries,
                sessions.starts,
                tuple(keys[number] for number in self.lane.keys),
                columns_of(made, parts, wished),
                session_ends(sessions.starts, flat(made, LAST).to_numpy(), gap, maximum),
            )

    # The state.

    @property
    def _names(self) -> list[str]:
        return [FIRST, LAST, SPENT, *self._schema.arrow.names[2:]]

    @property
    def _schema(self) -> ShardSchema:
        return ShardSchema(tuple(self.keys), tuple(self.parts))

    def table(self) -> pa.Table:
        """The stretches, with the lane's current columns."""
        if self._read is None:
            known = self.bucket.index.sessions.get(self.name)
            pieces = [] if known is None else known["pieces"]
            tables = [self._piece(at, checksum) for at, (_, checksum) in enumerate(pieces)]
            times = {name: pa.int64() for name in (FIRST, LAST, SPENT)}
            blank = pa.schema([*times.items(), *list(self._schema.arrow)[2:]]).empty_table()
            self._read = pa.concat_tables([blank, *tables]).combine_chunks()
        return self._read

    def _piece(self, at: int, checksum: int) -> pa.Table:
        name = f"{self.name}/{at}"
        data = self.bucket.get_piece(name)
        if data is None:
            raise damaged(f"piece {name}", "it is not there")
        if checksum_of(data) != checksum:
            raise damaged(f"piece {name}", "it is another version than the index names")
        found = bytes_to_table(data, f"piece {name}")
        zeros = pa.array(np.zeros(found.num_rows, dtype=np.int64))
        conformed = self._schema.conform(
            found.append_column(SLICE, zeros).append_column(FRAGMENT, zeros)
        ).drop_columns([SLICE, FRAGMENT])
        for number, column in enumerate((FIRST, LAST, SPENT)):
            conformed = conformed.add_column(number, column, flat(found, column))
        return conformed

    def _put(self, table: pa.Table) -> None:
        self._read, self._changed = table, True

    def save(self) -> None:
        """Write the stretches, if any have changed."""
        if not self._changed:
            return
        table = self.table()
        before = self.bucket.index.sessions.pop(self.name, {"pieces": []})
        most = max(1, int(table.num_rows * PIECE / max(1, table.nbytes)))
        pieces = []
        for at, low in enumerate(range(0, table.num_rows, most)):
            data = table_to_bytes(table.slice(low, most))
            self.bucket.put_piece(f"{self.name}/{at}", data)
            pieces.append([len(data), checksum_of(data)])
        for at in range(len(pieces), len(before["pieces"])):
            self.bucket.remove_piece(f"{self.name}/{at}")
        if table.num_rows:
            self.bucket.index.sessions[self.name] = {
                "pieces": pieces,
                "stretches": table.num_rows,
                "due": self._due(table),
            }
        self._changed = False

    def _due(self, table: pa.Table) -> int:
        """A lower bound of when a session ends: until then, without new rows, it is not read."""
        spent = self._spent(flat(table, SPENT).to_numpy())
        return int((flat(table, LAST).to_numpy() + self.gaps[spent]).min())


def latest_of(sessions: Sessions, last: Int64) -> Int64:
    """The time of the last row of each session."""
    latest = np.full(sessions.count, -FAR)
    np.maximum.at(latest, sessions.ids, last)
    return latest


def discard_sessions(bucket: Bucket, live: set[str]) -> None:
    """Remove the state of lanes that no query needs any more."""
    for name in [name for name in bucket.index.sessions if name not in live]:
        for at in range(len(bucket.index.sessions.pop(name)["pieces"])):
            bucket.remove_piece(f"{name}/{at}")
