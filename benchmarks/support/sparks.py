"""Timing on Spark: weft and the plain queries on the same cached rows, answers compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import pyarrow as pa

from benchmarks.support.harness import check
from weft.bench.share import loom_of, stored
from weft.query.query import Query
from weft.spark.native import native
from weft.spark.session import local_session, silent_children

SECONDS = "WEFT_BENCH_SECONDS"
"""Where it is set, studies of many points stop after so long, and go on at the next run."""


def session() -> Any:
    """One embedded Spark for all benchmarks of a run."""
    with silent_children():
        spark = local_session(memory="6g", name="benchmarks")
        spark.sparkContext.setLogLevel("ERROR")
    return spark


@contextmanager
def cached(table: pa.Table) -> Iterator[Any]:
    """A table as a cached DataFrame."""
    with stored(session(), table) as df:
        yield df


def time_left() -> Callable[[], bool]:
    """Whether a study may begin another point."""
    began, most = perf_counter(), float(os.environ.get(SECONDS, "inf"))
    return lambda: perf_counter() - began < most


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """How long an action takes, and what it returns."""
    began = perf_counter()
    found = action()
    return perf_counter() - began, found


def best(action: Callable[[], Any], repeats: int = 2) -> tuple[float, Any]:
    """The best time of an action that has been run once before, and what it returned."""
    action()
    runs = [timed(action) for _ in range(repeats)]
    return min(seconds for seconds, _ in runs), runs[0][1]


def woven(df: Any, queries: Sequence[Query], **options: Any) -> tuple[Any, Any, Callable[[], Any]]:
    """A loom, its plan, and what collects every answer by it as an Arrow table."""
    loom = loom_of(df, queries)
    plan = loom.plan(**options)
    return loom, plan, lambda: loom.run(plan=plan, persist=False).all().toArrow()


def plainly(df: Any, queries: Sequence[Query]) -> Callable[[], list[pa.Table]]:
    """What collects the answers of the plain queries, one after the other.

    Every time from new frames: a frame that was collected before keeps its plan, and Spark skips
    the stages whose shuffles are still there, which is to skip reading the rows.
    """
    axis = loom_of(df, queries).axis
    return lambda: [native(df, axis, query).toArrow() for query in queries]


def compare(
    found: pa.Table, expected: Sequence[pa.Table], queries: Sequence[Query], what: str
) -> int:
    """Every answer of weft against the plain ones, floats to nine digits; how many there are.

    Plain answers are one table per query, in the order of the queries.
    """
    mine = _keyed(found.to_pylist(), queries, named=True)
    count = 0
    for query, table in zip(queries, expected, strict=True):
        theirs = _keyed(table.to_pylist(), [query], named=False)[query.name]
        ours = mine[query.name]
        check(
            set(ours) == set(theirs),
            f"{what}, {query.name}: {len(ours)} answers, expected {len(theirs)}",
        )
        for key, values in theirs.items():
            for a, b in zip(ours[key], values, strict=True):
                same = a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))
                check(same, f"{what}, {query.name} at {key}: {a!r}, expected {b!r}")
        count += len(theirs)
    check(found.num_rows == count, f"{what}: {found.num_rows} rows, expected {count}")
    return count


def _keyed(
    rows: list[dict[str, Any]], queries: Sequence[Query], named: bool
) -> dict[str, dict[Any, tuple[Any, ...]]]:
    """Answers by query and by window and keys."""
    known = {
        query.name: (
            tuple(key.name for key in query.keys),
            tuple(output.name for output in query.outputs),
        )
        for query in queries
    }
    found: dict[str, dict[Any, tuple[Any, ...]]] = {name: {} for name in known}
    for row in rows:
        name = row["query"] if named else queries[0].name
        if name in known:
            keys, outputs = known[name]
            at = (row["window"]["start"], *(row[key] for key in keys))
            found[name][at] = tuple(row[output] for output in outputs)
    return found
