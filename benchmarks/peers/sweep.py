"""Engines by numbers of queries over the same rows: each cell of a table is one trial."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import oracle, workload
from benchmarks.peers.job import DELAY, Job
from benchmarks.peers.trial import try_out
from benchmarks.support.harness import CannotRun, Row, Rows, one, pick

LABELS = {
    "weft": "weft",
    "weft_eager": 'weft, `emit="eager"`',
    "spark": "plain Spark",
    "flink": "Flink SQL",
    "duckdb": "DuckDB, query by query",
    "duckdb_cells": "DuckDB, cells written by hand (a bound)",
    "polars": "Polars, query by query",
    "bytewax": "Bytewax",
}
BOUNDS = ("duckdb_cells",)
"""Engines with hand-optimised queries, which presuppose knowing how the queries could share."""
FOREVER = 1e18


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    rows: int
    batches: int
    limit: float
    """Seconds after which an engine is stopped, and then not tried with more queries."""


FULL = Size(5_000_000, 10, 120.0)
QUICK = Size(200_000, 4, 60.0)


def sweep(form: str, engines: Sequence[str], size: Size) -> Iterator[Row]:
    """A row for every engine and number of queries, with answers compared."""
    table = workload.rows(size.rows)
    held = oracle.cells(table)
    # Up to where windows must be answered: in a batch all; on a stream of files, by Spark's rule.
    last = table["ts"][-1].as_py().timestamp()
    closed = FOREVER if form == "batch" else last - DELAY
    with tempfile.TemporaryDirectory(prefix="weft-peers-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        workload.write_rows(folder / "rows", table, size.batches)
        for engine in engines:
            ended: Row = {}  # the result for more queries than the engine could handle
            for count in workload.COUNTS:
                if ended:
                    yield ended | {"queries": count}
                    continue
                place = folder / f"{engine}-{count}"
                job = Job(engine, form, workload.windows(count), str(folder / "rows"), str(place))
                head: Row = {"rows": size.rows, "batches": size.batches, "tried": True}
                try:
                    trial = try_out(job, size.limit)
                except CannotRun as error:
                    ended = head | {"engine": engine, "cannot": str(error), "tried": False}
                    yield ended | {"queries": count}
                    continue
                row = trial.row() | head
                if trial.told is None:
                    ended = head | {"engine": engine, "over": row["over"], "tried": False}
                else:
                    what = f"{engine}, {form}"
                    row["answers"] = oracle.compare(
                        trial.answers(), held, job.windows, closed, what
                    )
                    row["rows_per_second"] = size.rows / row["seconds"]
                yield row
                shutil.rmtree(place, ignore_errors=True)


def seconds(rows: Rows, engine: str, queries: int) -> float:
    """How long an engine took; infinite if it was stopped or cannot run."""
    found = one(rows, engine=engine, queries=queries)["seconds"]
    return float("inf") if found is None else float(found)


def told(rows: Rows, queries: int) -> str:
    """A sentence about all engines at one number of queries."""
    said = []
    for row in pick(rows, queries=queries):
        version = f" {row['version']}" if row.get("version") else ""
        said.append(f"{row['engine']}{version} {cell(row)}")
    return f"{queries} queries: " + ", ".join(said)


def cell(row: Row) -> str:
    """The text of a table cell."""
    if row.get("cannot"):
        return "cannot run here"
    return str(row["over"]) if row["over"] else f"{row['seconds']:.2f} s"


def rivals(rows: Rows) -> list[str]:
    """The other engines, without the hand-optimised ones."""
    names = dict.fromkeys(row["engine"] for row in rows)
    return [name for name in names if name not in ("weft", *BOUNDS)]
