"""Times weft and the plain queries on Spark, on the same cached rows, and compares answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.support.harness import WrongAnswer, check
from weft.query.query import Query
from weft.spark.loom import Loom
from weft.spark.session import local_session, silent_children
from weft.spark.verify.native import native

SECONDS = "WEFT_BENCH_SECONDS"
"""The variable that limits the time of studies with many points; the next run continues them."""


def session() -> Any:
    """One embedded Spark for all benchmarks of a run."""
    with silent_children():
        spark = local_session(memory="6g", name="benchmarks")
        spark.sparkContext.setLogLevel("ERROR")
    return spark


@contextmanager
def cached(table: pa.Table) -> Iterator[Any]:
    """A table as a cached DataFrame, read from a file: far faster than createDataFrame."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(table, path)
        df = session().read.parquet(str(path)).repartition(4).cache()
        df.count()
        try:
            yield df
        finally:
            df.unpersist()


def loom_of(df: Any, queries: Sequence[Query]) -> Loom:
    """A loom with these queries."""
    loom = Loom(df, "ts")
    for query in queries:
        loom.add(query)
    return loom


def time_left() -> Callable[[], bool]:
    """A function that says whether a study has time for another point."""
    began, most = perf_counter(), float(os.environ.get(SECONDS, "inf"))
    return lambda: perf_counter() - began < most


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """How long an action takes, and what it returns."""
    began = perf_counter()
    found = action()
    return perf_counter() - began, found


def best(action: Callable[[], Any], repeats: int = 2) -> tuple[float, Any]:
    """The best time of an action after a first run to warm up, and what it returned."""
    action()
    runs = [timed(action) for _ in range(repeats)]
    return min(seconds for seconds, _ in runs), runs[0][1]


def woven(df: Any, queries: Sequence[Query], **options: Any) -> tuple[Any, Any, Callable[[], Any]]:
    """A loom, its plan, and a function that collects all its answers as an Arrow table."""
    loom = loom_of(df, queries)
    plan = loom.plan(**options)
    return loom, plan, lambda: loom.run(plan=plan, persist=False).all().toArrow()


def plainly(df: Any, queries: Sequence[Query]) -> Callable[[], list[pa.Table]]:
    """A function that collects the answers of the plain queries, one after the other.

    Each call makes new frames: a frame that was collected before keeps its plan, and Spark would
    skip the stages whose shuffle files still exist, and so not read the rows again.
    """
    axis = loom_of(df, queries).axis
    return lambda: [native(df, axis, query).toArrow() for query in queries]


def compare(
    found: pa.Table, expected: Sequence[pa.Table], queries: Sequence[Query], what: str
) -> int:
    """Compare weft's answers with the plain ones, floats to nine digits; return their number.

    The plain answers are one table per query, in the order of the queries.
    """
    mine = by_value(found, "query")
    count = 0
    for query, table in zip(queries, expected, strict=True):
        ours, theirs = _sorted(mine.get(query.name, found[:0]), query), _sorted(table, query)
        check(
            ours.num_rows == theirs.num_rows,
            f"{what}, {query.name}: {ours.num_rows} answers, expected {theirs.num_rows}",
        )
        for name in theirs.column_names:
            wrong = _different(ours[name], theirs[name])
            if len(wrong):
                at = int(wrong[0])
                raise WrongAnswer(
                    f"{what}, {query.name}: {len(wrong)} of {theirs.num_rows} values of {name} "
                    f"differ, the first {ours[name][at]}, expected {theirs[name][at]}"
                )
        count += theirs.num_rows
    check(found.num_rows == count, f"{what}: {found.num_rows} rows, expected {count}")
    return count


def by_value(table: pa.Table, column: str) -> dict[Any, pa.Table]:
    """Split a table by the values in one column."""
    codes = table[column].combine_chunks().dictionary_encode()
    return {
        value: table.filter(pc.equal(codes.indices, number))
        for number, value in enumerate(codes.dictionary.to_pylist())
    }


def _sorted(table: pa.Table, query: Query) -> pa.Table:
    """A query's window starts, keys and outputs, in order of the first two."""
    columns = {"window start": pc.struct_field(table["window"], "start")}
    columns |= {key.name: table[key.name] for key in query.keys}
    order = [(name, "ascending") for name in columns]
    columns |= {output.name: table[output.name] for output in query.outputs}
    return pa.table(columns).sort_by(order)


def _different(ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> npt.NDArray[np.intp]:
    """Where two columns differ; floats must differ by more than the last digits."""
    if pa.types.is_floating(theirs.type):
        close = np.isclose(ours.to_numpy(), theirs.to_numpy(), 1e-9, 0.0, equal_nan=True)
        return np.flatnonzero(~close)
    same = pc.fill_null(pc.equal(ours, theirs), False)
    both = pc.and_(pc.is_null(ours), pc.is_null(theirs))
    return np.flatnonzero(~pc.or_(same, both).to_numpy())
