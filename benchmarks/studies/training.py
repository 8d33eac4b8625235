"""Training set: 20 ranges (1 hour to 30 days) for every row of a spine; weft, Spark, DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.support.harness import CannotRun, Claim, Row, Rows, check, noted, pick
from benchmarks.support.loads import SECOND, START
from benchmarks.support.sparks import best, cached, timed
from weft.query.query import Query
from weft.query.window import Window

PICTURE = None
HOURS = (1, 2, 3, 4, 6, 8, 12, 18, 24, 36, 48, 72, 96, 120, 168, 240, 336, 480, 600, 720)
AGGS = {"n": "count(*)", "total": "sum(cents)", "top": "max(price)"}
DAYS = 60
QUICK = {"rows": 200_000, "keys": 400, "spine": 20_000}
FULL = {"rows": 10_000_000, "keys": 20_000, "spine": 1_000_000}
SAMPLES = (5_000, 20_000)
"""Numbers of spine rows for slow ways: a line through both times predicts the time for the whole
spine, so that fixed costs are counted once."""
TARGET = 10.0
"""Target speedup over the better of Spark's own ways."""


def run(full: bool) -> Rows:
    """Run every way on the same rows, and compare answers for the first spine rows."""
    return noted(_rows(FULL if full else QUICK))


def _rows(size: dict[str, int]) -> Iterator[Row]:
    rows, spine = events(size["rows"], size["keys"]), asked(size["spine"], size["keys"])
    with cached(rows) as df, cached(spine) as whole:
        few = whole.where(f"id < {SAMPLES[0]}")
        expected = in_order(weft_way(few, df).toArrow())
        seconds, _ = best(lambda: compute(weft_way(whole, df)), repeats=1)
        yield _row("weft", size, seconds, size["spine"])
        for name, way in (("spark, one join", spark_once), ("spark, a join a range", spark_each)):
            same(in_order(way(few, df).toArrow()), expected, name)  # which warms it up
            yield slow(name, size, lambda m, way=way: compute(way(whole.where(f"id < {m}"), df)))
    with duckdb(rows, spine) as connection:
        for name, sql in (
            ("duckdb, one join", duckdb_once()),
            ("duckdb, asof joins", duckdb_asof()),
        ):

            def made(most: int, sql: str = sql) -> Any:
                text = sql.replace("$most", str(most))
                return connection.execute(f"CREATE OR REPLACE TEMP TABLE made AS {text}")

            made(SAMPLES[0])
            found = connection.execute("SELECT * FROM made").to_arrow_table()
            same(in_order(found), expected, name)
            yield slow(name, size, made)


def slow(name: str, size: dict[str, int], action: Any) -> Row:
    """Time a way that may take hours: on samples of the spine, or on all rows of a small one."""
    if size["spine"] <= QUICK["spine"]:
        return _row(name, size, timed(lambda: action(size["spine"]))[0], size["spine"])
    small, large = (timed(lambda m=most: action(m))[0] for most in SAMPLES)
    each = max(0.0, large - small) / (SAMPLES[1] - SAMPLES[0])
    whole = small + each * (size["spine"] - SAMPLES[0])
    if whole < 10 * large:  # short enough to run
        return _row(name, size, timed(lambda: action(size["spine"]))[0], size["spine"])
    return _row(name, size, whole, SAMPLES[1]) | {"measured_s": round(large, 2)}


def _row(way: str, size: dict[str, int], seconds: float, ran: int) -> Row:
    told = "" if ran == size["spine"] else f"from samples of up to {ran:,} spine rows"
    return {"way": way, **size, "ranges": len(HOURS), "seconds": round(seconds, 2),
            "spine_rows_run": ran, "scaled": told}  # fmt: skip


def events(rows: int, keys: int) -> pa.Table:
    """Purchases of two months, unordered."""
    draw = np.random.default_rng(0)
    return pa.table(
        {
            "ts": pa.array(START + draw.integers(0, DAYS * 86_400 * SECOND, rows),
                           pa.timestamp("us", "UTC")),
            "k": pa.array(draw.integers(0, keys, rows).astype(np.int32)),
            "cents": pa.array(draw.integers(1, 100_000, rows)),
            "price": pa.array(draw.normal(100.0, 20.0, rows)),
        }
    )  # fmt: skip


def asked(rows: int, keys: int) -> pa.Table:
    """The spine: labels in the second month."""
    draw = np.random.default_rng(1)
    at = START + draw.integers(30 * 86_400 * SECOND, DAYS * 86_400 * SECOND, rows)
    return pa.table(
        {
            "id": pa.array(np.arange(rows)),
            "k": pa.array(draw.integers(0, keys, rows).astype(np.int32)),
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "label": pa.array(draw.random(rows) < 0.1),
        }
    )


def weft_way(spine: Any, df: Any) -> Any:
    """weft: a query for each range, all in one call."""
    from weft.spark.training.training_set import training_set

    queries = [
        Query(f"h{hours}", aggs=AGGS, window=Window(range=f"{hours} hours", slide="1 hour"), by="k")
        for hours in HOURS
    ]
    return training_set(spine, queries, df, at="at")


def spark_once(spine: Any, df: Any) -> Any:
    """Spark: one join over the longest range, with a FILTER for every shorter one."""
    from pyspark.sql import functions as F

    inside = (F.col("e.k") == F.col("s.k")) & (F.col("e.ts") < F.col("s.at"))
    inside &= F.expr(f"e.ts >= s.at - INTERVAL {HOURS[-1]} HOURS")
    joined = spine.alias("s").join(df.alias("e"), inside, "left")
    outputs = []
    for hours in HOURS:
        recent = f"FILTER (WHERE e.ts >= s.at - INTERVAL {hours} HOURS)"
        outputs += [
            F.expr(f"count(e.ts) {recent}").alias(f"h{hours}_n"),
            F.expr(f"sum(e.cents) {recent}").alias(f"h{hours}_total"),
            F.expr(f"max(e.price) {recent}").alias(f"h{hours}_top"),
        ]
    return joined.groupBy("s.id", "s.k", "s.at", "s.label").agg(*outputs)


def spark_each(spine: Any, df: Any) -> Any:
    """Spark: a join and an aggregation for each range, joined to one table."""
    from pyspark.sql import functions as F

    found = spine
    for hours in HOURS:
        inside = (F.col("e.k") == F.col("s.k")) & (F.col("e.ts") < F.col("s.at"))
        inside &= F.expr(f"e.ts >= s.at - INTERVAL {hours} HOURS")
        values = (
            spine.alias("s")
            .join(df.alias("e"), inside, "left")
            .groupBy("s.id")
            .agg(
                F.expr("count(e.ts)").alias(f"h{hours}_n"),
                F.expr("sum(e.cents)").alias(f"h{hours}_total"),
                F.expr("max(e.price)").alias(f"h{hours}_top"),
            )
        )
        found = found.join(values, "id")
    return found


@contextmanager
def duckdb(rows: pa.Table, spine: pa.Table) -> Iterator[Any]:
    """A DuckDB connection with both tables loaded."""
    try:
        import duckdb as engine
    except ModuleNotFoundError as error:
        raise CannotRun("duckdb is not installed: pip install --group bench") from error

    connection = engine.connect()
    try:
        for name, table, column in (("events", rows, "ts"), ("spine", spine, "at")):
            at = table.schema.get_field_index(column)
            plain = table.set_column(at, column, table[column].cast(pa.timestamp("us")))
            connection.register("given", plain)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            connection.unregister("given")
        yield connection
    finally:
        connection.close()


def duckdb_once() -> str:
    """DuckDB: the same as Spark's one join."""
    outputs = []
    for hours in HOURS:
        recent = f"FILTER (WHERE e.ts >= s.at - INTERVAL {hours} HOURS)"
        outputs.append(
            f"count(e.ts) {recent} AS h{hours}_n, sum(e.cents) {recent} AS h{hours}_total, "
            f"max(e.price) {recent} AS h{hours}_top"
        )
    return (
        f"SELECT s.id, {', '.join(outputs)} FROM (SELECT * FROM spine WHERE id < $most) s "
        f"LEFT JOIN events e ON e.k = s.k AND e.ts < s.at "
        f"AND e.ts >= s.at - INTERVAL {HOURS[-1]} HOURS GROUP BY s.id"
    )


def duckdb_asof() -> str:
    """DuckDB: running totals, looked up at both ends of each range; sums and counts only."""
    totals = (
        "WITH instants AS (SELECT k, ts, count(*) AS n, sum(cents) AS total FROM events GROUP BY "
        "ALL), running AS (SELECT k, ts, sum(n) OVER w AS n, sum(total) OVER w AS total FROM "
        "instants WINDOW w AS (PARTITION BY k ORDER BY ts)), asked AS (SELECT * FROM spine WHERE "
        "id < $most)"
    )
    columns, joins = ["s.id"], ["ASOF LEFT JOIN running now ON now.k = s.k AND now.ts < s.at"]
    for hours in HOURS:
        joins.append(
            f"ASOF LEFT JOIN running h{hours} ON h{hours}.k = s.k "
            f"AND h{hours}.ts < s.at - INTERVAL {hours} HOURS"
        )
        n, total = (f"coalesce(now.{x}, 0) - coalesce(h{hours}.{x}, 0)" for x in ("n", "total"))
        columns.append(f"{n} AS h{hours}_n, nullif({total}, 0) AS h{hours}_total")
    return f"{totals} SELECT {', '.join(columns)} FROM asked s {' '.join(joins)}"


def compute(df: Any) -> None:
    """Compute every row and discard it."""
    df.write.format("noop").mode("overwrite").save()


def in_order(table: pa.Table) -> pa.Table:
    """The first spine rows, by number."""
    return table.filter(pc.less(table["id"], SAMPLES[0])).sort_by("id")


def same(found: pa.Table, expected: pa.Table, what: str) -> None:
    """Compare a way's values with weft's, exactly: the only floats are maxima."""
    check(found["id"].to_pylist() == expected["id"].to_pylist(), f"{what}: other spine rows")
    names = [name for name in expected.column_names if name.startswith("h")]
    compared = [name for name in names if name in found.column_names]
    check(len(compared) >= 2 * len(HOURS), f"{what}: only {len(compared)} columns")
    for name in compared:
        kind = expected[name].type
        wrong = pc.sum(_differ(found[name].cast(kind), expected[name])).as_py()
        check(not wrong, f"{what}: {wrong} of {len(expected)} values of {name} differ")


def _differ(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray:
    nulls = pc.xor(pc.is_null(one), pc.is_null(other))
    return pc.or_(nulls, pc.fill_null(pc.not_equal(one, other), False))


def claim(rows: Rows) -> Claim:
    """The speedup over the better of Spark's own ways."""
    seconds = {row["way"]: row["seconds"] for row in rows}
    plain = min(value for way, value in seconds.items() if way.startswith("spark"))
    times = plain / seconds["weft"]
    size = rows[0]
    scaled = [row["way"] for row in pick(rows) if row["scaled"]]
    return Claim(
        paper="none; our target is 10x plain Spark",
        ours=", ".join(f"{way} {value:,.1f} s" for way, value in seconds.items()),
        holds=times >= TARGET,
        ratio=times / TARGET,
        comment=f"{size['spine']:,} spine rows x {size['ranges']} ranges over {size['rows']:,} "
        f"rows of {size['keys']:,} keys; count, sum and max, DuckDB's asof joins without max; "
        + (f"told by samples of the spine: {', '.join(scaled)}; " if scaled else "")
        + f"{times:,.1f}x the better Spark way, answers equal",
    )
