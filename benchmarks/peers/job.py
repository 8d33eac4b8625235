"""The job that a trial gives to an engine, as a file, because engines run in other processes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

DELAY = 10
"""Seconds of event time that rows may be late; in fact none is."""


@dataclass(frozen=True)
class Job:
    """Queries over rows: count, sum, max and avg of `v` by `k`, one query per window."""

    engine: str
    form: str
    """`batch`, `stream` or `live`."""
    windows: tuple[tuple[int, int], ...]
    """Range and slide in seconds; the slide divides the range."""
    rows: str
    """The folder of the rows, which `workload.write_rows` fills, or a feed."""
    folder: str
    """For answers, checkpoints and the report."""
    jars: tuple[str, ...] = ()
    port: int = 0
    """The feed's port, if rows come live."""

    @property
    def whole(self) -> Path:
        """All rows in one file, in order of time."""
        return Path(self.rows) / "whole" / "rows.parquet"

    @property
    def batches(self) -> Path:
        """The same rows in files by micro-batch."""
        return Path(self.rows) / "batches"

    @property
    def out(self) -> Path:
        """Where a stream writes its answers."""
        return Path(self.folder) / "out"

    @property
    def ready(self) -> Path:
        """A file that exists once the engine has started, has its rows, and is being timed."""
        return Path(self.folder) / "ready"

    @property
    def fed(self) -> Path:
        """A file that exists once the feed has sent everything."""
        return Path(self.folder) / "fed"

    @property
    def said(self) -> Path:
        """The output of the child and its engine; each line begins with its time in seconds."""
        return Path(self.folder) / "said"

    @property
    def report(self) -> Path:
        """The report that the child writes when it has finished."""
        return Path(self.folder) / "report.json"

    def note_done(self, queries: int) -> None:
        """Record how many queries have been answered, in case the time limit is reached."""
        (Path(self.folder) / "done").write_text(str(queries))

    def done(self) -> int | None:
        """How many queries were answered, if the engine answers them one by one."""
        file = Path(self.folder) / "done"
        return int(file.read_text() or 0) if file.exists() else None

    def save(self) -> Path:
        """Write the job to a file that `load` reads."""
        path = Path(self.folder) / "job.json"
        path.write_text(json.dumps(asdict(self)))
        return path

    @staticmethod
    def load(path: str) -> Job:
        """The job in a file."""
        told = json.loads(Path(path).read_text())
        told["windows"] = tuple(tuple(window) for window in told["windows"])
        return Job(**told | {"jars": tuple(told["jars"])})


def long_table(tables: list[pa.Table]) -> pa.Table:
    """The answers of all queries in one table, with the number of the query in `q`."""
    return pa.concat_tables(
        table.append_column("q", pa.array([number] * table.num_rows, pa.int32()))
        for number, table in enumerate(tables)
    )
