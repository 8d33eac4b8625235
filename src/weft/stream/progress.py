"""The progress of a stream, written with every micro-batch."""

from __future__ import annotations

from dataclasses import dataclass

from weft.sinks.files import Folder


@dataclass(frozen=True)
class Progress:
    """The progress of a stream, as reported by its last micro-batch."""

    batch: int = -1
    max_event_time: int | None = None
    """The greatest time seen."""
    frontier: int | None = None
    """Windows that end at or before it are closed."""
    change: int = 0
    """The number of the catalogue that the micro-batch used."""
    clock: int | None = None
    """The latest clock time so far, in microseconds."""

    def at_least(
        self,
        max_event_time: int | None,
        frontier: int | None,
        batch: int,
        change: int = 0,
        clock: int | None = None,
    ) -> Progress:
        """The maximum of this progress and another, field by field."""
        return Progress(
            max(self.batch, batch),
            _greater(self.max_event_time, max_event_time),
            _greater(self.frontier, frontier),
            max(self.change, change),
            _greater(self.clock, clock),
        )


def _greater(a: int | None, b: int | None) -> int | None:
    return b if a is None else (a if b is None else max(a, b))


class ProgressFile:
    """`<checkpoint>/weft/progress.json`: written after every micro-batch, before Spark commits it.

    So it is never behind the state, which changes of queries rely on.
    """

    def __init__(self, checkpoint: str) -> None:
        self.folder = Folder(checkpoint).sub("weft")

    def read(self) -> Progress:
        """The progress; that of a new stream if there is no file."""
        if "progress.json" not in self.folder.kept_names():
            return Progress()
        return Progress(**self.folder.kept("progress.json", "progress"))

    def write(self, progress: Progress) -> None:
        """Replace it."""
        self.folder.keep("progress.json", "progress", dict(progress.__dict__))
