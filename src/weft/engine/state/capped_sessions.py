"""Sessions with a maximum that are still open in a bucket, and their answers when they end.

    checks at multiples of M      |               |               |               |
    stretches of a group            x-xx  x---x-x   x--xx x-x--x    x-x
    sessions                        [ ........................... )[ ... + gap )
                                    s     the first check at least M after s      it starts there

A lane has one gap and one maximum, and queries that were added at the same time, because the end of
a session depends on its start. Two rows of a group that are at most a gap apart, with no check
between them, are in the same session wherever it started; a stretch never spans a check. In order
of time, each stretch continues the session before it or starts one. The sessions of a group end in
that order, so a session that has ended never changes.

The last stretch of a session that a check has ended is kept, as `spent`: rows within a gap of it
belong to a session that starts at that check. It is removed once only late rows could do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weft.engine.answer import Combined
from weft.engine.program import TreeProgram
from weft.engine.query_windows import FAR, Lane
from weft.engine.sessions import (
    FIRST,
    LAST,
    Sessions,
    ending_check,
    session_ends,
    session_groups,
)
from weft.engine.shards import flat
from weft.engine.state.sessions import SPENT, OpenSessions, latest_of

if TYPE_CHECKING:
    from weft.engine.state.bucket import Bucket

Int64 = npt.NDArray[np.int64]


class CappedSessions(OpenSessions):
    """The stretches of a lane whose sessions have a maximum, opened for one micro-batch."""

    def __init__(self, bucket: Bucket, tree: TreeProgram, lane: Lane) -> None:
        super().__init__(bucket, tree, lane)
        self.gap, self.maximum = lane.windows[0].range, lane.windows[0].maximum

    def _span(self, times: Int64) -> Int64:
        return times // self.maximum

    def _joined(self, table: pa.Table) -> pa.Table:
        over = pa.array(_is_over(table))
        joined = super()._joined(table.filter(pc.invert(over)).combine_chunks())
        return pa.concat_tables([joined, table.filter(over)]).combine_chunks()

    def close(self, watermark: int) -> Iterator[Combined]:
        """The answers of the sessions that end at or before the watermark."""
        if not self._is_due(watermark):
            return
        table, group = self._by_group(self.table())
        first, last = flat(table, FIRST).to_numpy(), flat(table, LAST).to_numpy()
        over = _is_over(table)
        checked = np.full(int(group.max(initial=-1)) + 1, -FAR)
        checked[group[over]] = last[over]  # at most one per group
        rows = np.flatnonzero(~over)
        sessions = session_groups(
            group[rows], first[rows], last[rows], self.gap, self.maximum, checked[group[rows]]
        )
        latest = latest_of(sessions, last[rows])
        ends = session_ends(sessions.starts, latest, self.gap, self.maximum)
        is_closed = ends <= watermark
        yield from self._closed(table, rows, sessions, is_closed)
        goes_on = is_closed & (ending_check(sessions.starts, self.maximum) <= latest + self.gap)
        owner = group[rows[sessions.first]]
        # Once the session that began at a check is answered, no later row begins there.
        checked[owner[is_closed & (sessions.starts == self._check(checked)[owner])]] = -FAR
        np.maximum.at(checked, owner[goes_on], latest[goes_on])
        check = self._check(checked)
        going = np.zeros(len(checked), dtype=np.bool_)
        going[owner[~is_closed & (sessions.starts == check[owner])]] = True
        wanted = going | (checked + 2 * self.gap > watermark)
        kept = np.zeros(table.num_rows, dtype=np.bool_)
        kept[rows] = ~is_closed[sessions.ids]
        ended = ~kept & wanted[group] & (last == checked[group])
        # Two stretches of a session may end at the same time: keep only one of them.
        ended[np.flatnonzero(ended)[1:]] &= np.diff(group[ended]) != 0
        if (kept | (ended & over)).all():
            return
        spent = np.where(kept, 0, self.gap)
        table = table.set_column(table.column_names.index(SPENT), SPENT, pa.array(spent))
        self._put(table.filter(pa.array(kept | ended)).combine_chunks())

    def _check(self, last: Int64) -> Int64:
        """The check that ended a session with its last row at a time."""
        return last - last % self.maximum + self.maximum

    def _closed(
        self, table: pa.Table, rows: Int64, sessions: Sessions, is_closed: npt.NDArray[np.bool_]
    ) -> Iterator[Combined]:
        """The answers of the closed ones among the sessions."""
        silent = self.bucket.program.silent
        asked = [window for window in self.lane.windows if window.query not in silent]
        mine = is_closed[sessions.ids]
        if not asked or not mine.any():
            return
        number = np.cumsum(is_closed) - 1
        own = Sessions(number[sessions.ids[mine]], int(is_closed.sum()), sessions.starts[is_closed])
        yield from self._answers(table.take(pa.array(rows[mine])).combine_chunks(), own, asked)

    def _due(self, table: pa.Table) -> int:
        last, over = flat(table, LAST).to_numpy(), _is_over(table)
        check = (self._span(flat(table, FIRST).to_numpy()) + 1) * self.maximum
        ends = np.where(over, last + 2 * self.gap, np.minimum(last + self.gap, check))
        return int(ends.min())


def _is_over(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Which stretches belong to sessions that have been answered."""
    over: npt.NDArray[np.bool_] = flat(table, SPENT).to_numpy() > 0
    return over
