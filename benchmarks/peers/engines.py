"""The same window queries as users of each engine would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute

from benchmarks.support.harness import CannotRun, check
from benchmarks.support.loads import SECOND, stream
from benchmarks.support.sparks import by_value, cached, session, woven
from weft.query.query import Query
from weft.query.window import Window

WINDOWS = ((30, 10), (60, 10), (60, 20), (120, 30), (300, 60), (600, 60), (900, 60), (1800, 300))
"""Range and slide in seconds; the slide divides the range."""
Answers = dict[str, pa.Table]
"""Per window, the columns start (microseconds), k, hi, n."""
Runs = dict[str, Callable[[], Answers]]
"""By form: one query at a time, or all at once."""


def names() -> list[str]:
    """The windows, by range and slide."""
    return [f"{range_}/{slide}" for range_, slide in WINDOWS]


@contextmanager
def spark(table: pa.Table) -> Iterator[tuple[str, Runs]]:
    """Plain Spark SQL: GROUP BY window(...)."""
    with cached(table) as df:
        df.createOrReplaceTempView("events")
        sql = {
            name: "SELECT unix_micros(window.start) AS start, k, max(v) AS hi, count(*) AS n FROM "
            f"events GROUP BY window(ts, '{r} seconds', '{s} seconds'), k"
            for name, (r, s) in zip(names(), WINDOWS, strict=True)
        }
        whole = " UNION ALL ".join(
            f"SELECT '{name}' AS w, * FROM ({text})" for name, text in sql.items()
        )
        run = session().sql  # anew each time: a frame collected before skips its first stages
        yield (
            session().version,
            {
                "one by one": lambda: {name: run(text).toArrow() for name, text in sql.items()},
                "all": lambda: by_value(run(whole).toArrow(), "w"),
            },
        )


@contextmanager
def weft(table: pa.Table) -> Iterator[tuple[str, Runs]]:
    """A loom with all of the queries."""
    import weft as package

    with cached(table) as df:
        queries = [
            Query(f"q{n}", aggs={"hi": "max(v)", "n": "count(*)"}, by=["k"],
                  window=Window.of_units(r * SECOND, s * SECOND))
            for n, (r, s) in enumerate(WINDOWS)
        ]  # fmt: skip
        answer = woven(df, queries)[2]

        def whole() -> Answers:
            found = answer()
            start = pa.compute.struct_field(found["window"], "start").cast(pa.int64())
            flat = found.append_column("start", start)
            parts = by_value(flat, "query")
            return {name: parts[f"q{n}"] for n, name in enumerate(names())}

        yield package.__version__, {"all": whole}


@contextmanager
def duckdb(table: pa.Table) -> Iterator[tuple[str, Runs]]:
    """DuckDB: each row to the starts of its windows by UNNEST, then GROUP BY."""
    try:
        import duckdb as engine
    except ModuleNotFoundError as error:
        raise CannotRun("duckdb is not installed: pip install --group bench") from error

    connection = engine.connect()
    connection.register("given", naive(table))
    connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    sql = {}
    for name, (r, s) in zip(names(), WINDOWS, strict=True):
        bucket = f"time_bucket(INTERVAL {s} SECOND, ts, TIMESTAMP '1970-01-01')"
        sql[name] = (
            "SELECT epoch_us(start) AS start, k, max(v) AS hi, count(*) AS n FROM (SELECT k, v, "
            f"ts, unnest(generate_series({bucket} - INTERVAL {(r // s - 1) * s} SECOND, {bucket}, "
            f"INTERVAL {s} SECOND)) AS start FROM rows) WHERE ts < start + INTERVAL {r} SECOND "
            "GROUP BY ALL"
        )
    whole = " UNION ALL ".join(
        f"SELECT '{name}' AS w, * FROM ({text})" for name, text in sql.items()
    )
    try:
        yield (
            engine.__version__,
            {
                "one by one": lambda: {
                    name: connection.sql(text).to_arrow_table() for name, text in sql.items()
                },
                "all": lambda: by_value(connection.sql(whole).to_arrow_table(), "w"),
            },
        )
    finally:
        connection.close()


@contextmanager
def polars(table: pa.Table) -> Iterator[tuple[str, Runs]]:
    """Polars: group_by_dynamic on frames sorted by time.

    The offset adds the windows that begin before the first row, which it would leave out.
    """
    try:
        import polars as engine
    except ModuleNotFoundError as error:
        raise CannotRun("polars is not installed: pip install --group bench") from error

    frame = engine.from_arrow(naive(table)).sort("ts")
    lazy = [
        frame.lazy()
        .group_by_dynamic("ts", every=f"{s}s", period=f"{r}s", offset=f"-{r - s}s",
                          closed="left", group_by="k")
        .agg(engine.col("v").max().alias("hi"), engine.len().alias("n"))
        .select(engine.col("ts").dt.timestamp("us").alias("start"), "k", "hi", "n")
        for r, s in WINDOWS
    ]  # fmt: skip
    yield (
        engine.__version__,
        {
            "one by one": lambda: {
                name: one.collect().to_arrow() for name, one in zip(names(), lazy, strict=True)
            },
            "all": lambda: {
                name: found.to_arrow()
                for name, found in zip(names(), engine.collect_all(lazy), strict=True)
            },
        },
    )


def naive(table: pa.Table) -> pa.Table:
    """The rows with times that have no zone, as the other engines prefer them."""
    return table.set_column(0, "ts", table["ts"].cast(pa.timestamp("us")))


def same(found: Answers, expected: Answers, what: str) -> int:
    """Compare all answers with those of plain Spark; how many there are."""
    count = 0
    for name in names():
        ours, theirs = _sorted(found[name]), _sorted(expected[name])
        check(ours.shape == theirs.shape, f"{what}, {name}: {ours.shape}, expected {theirs.shape}")
        check(bool((ours == theirs).all()), f"{what}, {name}: answers differ")
        count += ours.shape[1]
    return count


def _sorted(table: pa.Table) -> np.ndarray:  # type: ignore[type-arg]
    columns = [table[name].cast(pa.int64()).to_numpy() for name in ("start", "k", "hi", "n")]
    order = np.lexsort((columns[1], columns[0]))
    return np.stack([column[order] for column in columns])


def rows(count: int) -> pa.Table:
    """An hour of rows by a hundred keys."""
    return stream(count, 100)
