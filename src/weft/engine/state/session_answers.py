"""The sessions of a tree in a bucket, with a maximum or without: rows in, answers out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.answer import Combined
from weft.engine.program import TreeProgram
from weft.engine.query_windows import Lane
from weft.engine.state.capped_sessions import CappedSessions
from weft.engine.state.sessions import OpenSessions, session_lanes

if TYPE_CHECKING:
    from weft.engine.state.bucket import Bucket

Int64 = npt.NDArray[np.int64]


def session_answers(
    bucket: Bucket, tree: TreeProgram, shards: pa.Table | None, rows: Int64, watermark: int
) -> Iterator[Combined]:
    """Add a micro-batch's rows, and answer the sessions that the watermark closes.

    The shards are by exact time; `rows` is how many rows each was aggregated from.
    """
    for lane in session_lanes(tree):
        kept = opened(bucket, tree, lane)
        if shards is not None and shards.num_rows:
            kept.take(shards, rows)
        yield from kept.close(watermark)
        kept.save()


def opened(bucket: Bucket, tree: TreeProgram, lane: Lane) -> OpenSessions:
    """The open sessions of a lane, with a maximum or without."""
    kind = CappedSessions if lane.windows[0].maximum else OpenSessions
    return kind(bucket, tree, lane)
