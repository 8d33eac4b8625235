"""How a tick reaches the buckets: as the parcel of a task that has a time but no rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from weft.engine.parcel import Parcel
from weft.engine.preaggregate import SCHEMA


def tick_parcels(labels: Sequence[int], time: int) -> pa.RecordBatch:
    """A tick as one parcel without rows for each bucket.

    >>> tick_parcels([4, 9], 7).to_pydict()["max_event_time"]
    [7, 7]
    """
    parcel = Parcel(None, 0, tick=time).to_bytes()
    return pa.RecordBatch.from_arrays(
        [
            pa.array(labels, pa.int32()),
            pa.array([time] * len(labels), pa.int64()),
            pa.array([parcel] * len(labels), pa.binary()),
        ],
        schema=SCHEMA,
    )
