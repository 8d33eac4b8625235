"""Ticks: advance a stream's event time although no rows have arrived.

The driver writes the last tick to the checkpoint. A second source of the stream reads it from there
into Spark's offset log, so that a repeated micro-batch has the same tick, and then every bucket
gets a parcel without rows (`weft.engine.tick`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.errors import CheckpointError
from weft.sinks.files import Folder

SOURCE = "weft_ticks"
"""The name of the tick source in Spark."""
OFFSET = "weft_tick"
"""The name of a tick in an offset, by which its source is recognised in Spark's reports."""
_FILE, _KIND = "tick.json", "tick"


class TickFile:
    """`<checkpoint>/weft/tick.json`: the last tick, in microseconds of event time.

    >>> import tempfile
    >>> file = TickFile(tempfile.mkdtemp()); file.read() is None
    True
    >>> file.write(7); file.read()
    7
    """

    def __init__(self, checkpoint: str) -> None:
        self._folder = Folder(checkpoint).sub("weft")

    def read(self) -> int | None:
        """The last tick; None if there was none, or the file is damaged.

        Nothing is lost without it: ticks continue from the latest row instead, and the watermark
        never goes back.
        """
        try:
            return int(self._folder.read(_FILE, _KIND)["time"])
        except (CheckpointError, OSError):
            return None

    def write(self, time: int) -> None:
        """Make this the last tick."""
        self._folder.write(_FILE, _KIND, {"time": time})


def rows_of(report: Mapping[str, Any]) -> int:
    """The rows that Spark reports for a micro-batch, without the rows of the tick source.

    >>> rows = {"endOffset": {"logOffset": 3}, "numInputRows": 7}
    >>> ticks = {"endOffset": {OFFSET: 1700000000000000}, "numInputRows": 2}
    >>> rows_of({"numInputRows": 9, "sources": [rows, ticks]})
    7
    """
    sources = report.get("sources") or ()
    ticks = (one for one in sources if OFFSET in str(one["endOffset"]))
    return int(report["numInputRows"]) - sum(int(one["numInputRows"]) for one in ticks)
