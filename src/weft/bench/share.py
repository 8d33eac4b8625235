"""`weft bench share`: the study of SIGMOD'06 section 6 on Spark, against what users do today."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft.bench.counting import aggregations
from weft.bench.memory import peak_memory
from weft.bench.report import BenchReport
from weft.bench.trades import VALUE, market, workload
from weft.query.query import Query
from weft.query.window import Window
from weft.spark.compare import Pair, compare
from weft.spark.loom import Loom
from weft.spark.native import native, native_filters, union
from weft.spark.session import local_session

WORKLOADS = {
    "A": "windows differ",
    "B": "predicates differ",
    "C": "both differ, regular",
    "C_low": "both differ, low sharing",
}
QUICK, FULL = (16, 64), (16, 64, 256)
TARGETS = {"A": 30.0, "B": 25.0, "C": 15.0, "C_low": 4.0}
"""At 256 queries, against the better of the two plain ways."""
AHEAD_OF_FILTERS, GROWTH, ONE_QUERY = 3.0, 2.0, 1.3
COLD = 4.0
"""A union that takes so many times as long as its queries one by one is not run a second time."""
MANY_KEYS = {"rows": 10_000_000, "keys": 100_000, "queries": 50, "times": 5.0}
PLAIN_QUERIES = 5
"""Of the queries by many keys, so many are run plainly and compared: all would take an hour."""


def run(quick: bool = True) -> BenchReport:
    """Measure every workload at every size; answers are compared, and a wrong one fails the run."""
    report = BenchReport()
    spark = local_session(memory="6g")
    with trades(spark, rows=200_000 if quick else None) as df:
        report.rows.append(one_query(df, report))
        for kind in WORKLOADS:
            for count in QUICK if quick else FULL:
                report.rows.append(shared(df, kind, count, report))
    report.rows += many_keys(spark, quick, report)
    summarise(report, quick)
    return report


@contextmanager
def trades(spark: Any, rows: int | None) -> Iterator[Any]:
    """The joined stream of trades, in memory as in the paper."""
    made = market(**({} if rows is None else {"rows": rows})).joined()
    with stored(spark, made) as df:
        yield df


@contextmanager
def stored(spark: Any, table: pa.Table) -> Iterator[Any]:
    """A table as a cached Any; through a file, which Spark reads far faster than a call."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(table, path)
        df = spark.read.parquet(str(path)).repartition(4).cache()
        df.count()
        try:
            yield df
        finally:
            df.unpersist()


def seconds(action: Callable[[], object], repeats: int = 2) -> float:
    """The best time of an action that has been warmed up by running it once."""
    action()
    return min(timed(action) for _ in range(repeats))


def timed(action: Callable[[], object]) -> float:
    """How long an action takes."""
    start = perf_counter()
    action()
    return perf_counter() - start


def compute(*frames: Any) -> None:
    """Compute every row of some frames, one after the other, and throw them away."""
    for df in frames:
        df.write.format("noop").mode("overwrite").save()


def loom_of(df: Any, queries: Sequence[Query]) -> Loom:
    """A loom with these queries."""
    loom = Loom(df, "ts")
    for query in queries:
        loom.add(query)
    return loom


def shared(df: Any, kind: str, count: int, report: BenchReport) -> dict[str, Any]:
    """One workload at one size: weft, the plain ways, and whether they answer the same."""
    queries = workload(kind, count)
    loom = loom_of(df, queries)
    start = perf_counter()
    plan = loom.plan()
    planned = perf_counter() - start
    weft = seconds(lambda: compute(loom.run(plan=plan, persist=False).all()))
    frames = [native(df, loom.axis, query) for query in queries]
    each = seconds(lambda: compute(*frames), repeats=1)
    joined = timed(lambda: compute(union(frames)))
    if joined < COLD * each:  # else it will not be the better one when warm either
        joined = timed(lambda: compute(union(frames)))
    filters = None
    if kind == "B":
        filters = seconds(lambda: compute(native_filters(df, loom.axis, queries)), repeats=1)
    check(loom, frames, f"{kind} at {count} queries", report)
    best = min(joined, each)
    counted = aggregations(loom, plan)
    return {
        "workload": kind,
        "queries": count,
        "weft_s": round(weft, 3),
        "plan_s": round(planned, 3),
        "union_s": round(joined, 3),
        "each_s": round(each, 3),
        "filters_s": None if filters is None else round(filters, 3),
        "times": round(best / weft, 2),
        "times_filters": None if filters is None else round(filters / weft, 2),
        "trees": len(plan.trees),
        **counted,
    }


def check(loom: Loom, frames: Sequence[Any], what: str, report: BenchReport) -> None:
    """Compare weft's answers with the plain ones; differences are failures of the run."""
    tagged = [
        frame.selectExpr(f"'{query.name}' AS query", "*")
        for query, frame in zip(loom.queries, frames, strict=True)
    ]
    keys = ["query", "window", *(key.name for key in loom.queries[0].keys)]
    with loom.run() as results:
        pair = Pair(what, keys, union(tagged), results.all())
        (difference,) = compare([pair])
    if not difference.ok:
        report.failures.append(str(difference))


def one_query(df: Any, report: BenchReport) -> dict[str, Any]:
    """A single query: sharing must not cost where there is nothing to share."""
    queries = workload("A", 1)
    loom = loom_of(df, queries)
    plan = loom.plan()
    plain = native(df, loom.axis, queries[0])
    weft = seconds(lambda: compute(loom.run(plan=plan, persist=False).all()), repeats=3)
    alone = seconds(lambda: compute(plain), repeats=3)
    check(loom, [plain], "one query", report)
    return {
        "workload": "one",
        "queries": 1,
        "weft_s": round(weft, 3),
        "each_s": round(alone, 3),
        "times": round(alone / weft, 2),
    }


def many_keys(spark: Any, quick: bool, report: BenchReport) -> list[dict[str, Any]]:
    """Many keys: at a tenth of the rows and at all of them, to see that time grows linearly."""
    scale = 0.01 if quick else 1.0
    rows, keys = int(MANY_KEYS["rows"] * scale), int(MANY_KEYS["keys"] * scale)
    found = []
    for count in (rows // 10, rows):
        with stored(spark, market(count, symbols=keys, seed=1).trades) as df:
            found.append({"workload": "keys", "rows": count, "keys": keys})
            found[-1] |= by_many_keys(df, quick, quick or count < rows, report)
    return found


def by_many_keys(df: Any, all_plain: bool, checked: bool, report: BenchReport) -> dict[str, Any]:
    """Queries by symbol, once; plainly all of them, or as many as can be waited for."""
    queries = keyed(int(MANY_KEYS["queries"]))
    loom = loom_of(df, queries)
    plan = loom.plan()
    with peak_memory() as peak:
        weft = timed(lambda: compute(loom.run(plan=plan, persist=False).all()))
    step = 1 if all_plain else len(queries) // PLAIN_QUERIES
    some = loom_of(df, queries[::step])
    frames = [native(df, loom.axis, query) for query in some.queries]
    alone = timed(lambda: compute(*frames)) * len(queries) / len(frames)
    if checked:
        check(some, frames, f"many keys at {loom.measured().rows:,} rows", report)
    return {
        "queries": len(queries),
        "weft_s": round(weft, 3),
        "each_s": round(alone, 3),
        "plain_queries": len(frames),
        "times": round(alone / weft, 2),
        "peak_gib": round(peak.bytes / 2**30, 2),
    }


def keyed(count: int) -> list[Query]:
    """Queries by symbol, ranges to an hour, slides of 1 to 10 minutes."""
    minute = 60_000_000
    return [
        Query(
            f"q{number + 1}",
            aggs={"value": VALUE, "n": "count(*)", "hi": "max(price)"},
            window=Window.of_units((5 + number % 12 * 5) * minute, (1 + number % 10) * minute),
            by="symbol",
        )
        for number in range(count)
    ]


def summarise(report: BenchReport, quick: bool) -> None:
    """What was reached, in a line each."""
    by = {(row["workload"], row["queries"]): row for row in report.rows}
    most = max(QUICK if quick else FULL)
    say = report.summary.append
    for kind, target in TARGETS.items():
        row = by[kind, most]
        aim = f" (target {target:g}x at 256)" if most == 256 else ""
        say(f"{kind} ({WORKLOADS[kind]}), {most} queries: {row['times']:g}x{aim}")
    filters = by["B", most]["times_filters"]
    say(f"B against one aggregation with FILTER: {filters:g}x (target {AHEAD_OF_FILTERS:g}x)")
    growth = by["A", most]["weft_s"] / by["A", 16]["weft_s"]
    say(f"A from 16 to {most} queries: {growth:.2f}x the time (target {GROWTH:g}x)")
    slower = 1 / by["one", 1]["times"]
    say(f"one query: {slower:.2f}x of plain Spark (target at most {ONE_QUERY:g}x)")
    few, all_ = [row for row in report.rows if row["workload"] == "keys"]
    say(
        f"{all_['rows']:,} rows, {all_['keys']:,} keys, {all_['queries']} queries: "
        f"{all_['times']:g}x (target {MANY_KEYS['times']:g}x), "
        f"{all_['weft_s'] / few['weft_s']:.1f}x the time of a tenth of the rows, "
        f"{all_['peak_gib']:g} GiB at most (target 8); plain Spark from "
        f"{all_['plain_queries']} of the queries"
    )
