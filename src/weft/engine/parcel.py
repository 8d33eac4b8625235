"""What map tasks send to buckets: one parcel per task and bucket, with shards of every store."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.state.codec import (
    bytes_to_json,
    bytes_to_table,
    damaged,
    json_to_bytes,
    table_to_bytes,
)

ROWS = "rows"
"""The column with the number of rows that a shard was aggregated from."""
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, eq=False)
class Shipment:
    """One store's shards, with the signature of each fragment number in them."""

    store: int
    signatures: tuple[int, ...]
    shards: pa.Table

    def split(self) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        """The shards, and how many rows each was aggregated from."""
        return self.shards.drop_columns([ROWS]), self.shards.column(ROWS).to_numpy()


@dataclass(frozen=True)
class Parcel:
    """What one task sends to one bucket; a parcel without shards still advances the time."""

    max_event_time: int | None
    """The greatest time among the task's rows, of all buckets."""
    rows: int
    shipments: tuple[Shipment, ...] = ()
    ahead: int = 0
    """Rows of the task that the guard against future rows set aside."""
    tick: int | None = None
    """The time to advance to although no rows have arrived."""

    def to_bytes(self) -> bytes:
        """The parcel as bytes; `from_bytes` reads them.

        >>> Parcel.from_bytes(Parcel(7, 2, ahead=1).to_bytes())
        Parcel(max_event_time=7, rows=2, shipments=(), ahead=1, tick=None)
        """
        bodies = [table_to_bytes(shipment.shards) for shipment in self.shipments]
        header = json_to_bytes(
            {
                "max_event_time": self.max_event_time,
                "rows": self.rows,
                "ahead": self.ahead,
                "tick": self.tick,
                "shipments": [
                    [shipment.store, [f"{s:x}" for s in shipment.signatures], len(body)]
                    for shipment, body in zip(self.shipments, bodies, strict=True)
                ],
            }
        )
        return b"".join([_LENGTH.pack(len(header)), header, *bodies])

    @classmethod
    def from_bytes(cls, data: bytes) -> Parcel:
        """The parcel that `to_bytes` wrote."""
        if len(data) < _LENGTH.size:
            raise damaged("a parcel", f"{len(data)} bytes")
        (length,) = _LENGTH.unpack_from(data)
        at = _LENGTH.size + length
        header = bytes_to_json(data[_LENGTH.size : at], "a parcel")
        shipments = []
        for store, signatures, size in header["shipments"]:
            table = bytes_to_table(data[at : at + size], "a parcel")
            shipments.append(Shipment(store, tuple(int(s, 16) for s in signatures), table))
            at += size
        return cls(
            header["max_event_time"],
            header["rows"],
            tuple(shipments),
            header["ahead"],
            header.get("tick"),
        )


def greatest(times: Iterable[int | None]) -> int | None:
    """The greatest of the times that are not None.

    >>> greatest([None, 3, 1]), greatest([])
    (3, None)
    """
    return max((time for time in times if time is not None), default=None)
