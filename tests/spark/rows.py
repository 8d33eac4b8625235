"""Rows and queries for differential tests: every type, aggregate family and pitfall."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import weft

SECOND = 1_000_000
EPOCH = dt.datetime(1970, 1, 1)
KINDS = ("timestamp", "timestamp_ntz", "date", "integer")

# By family. Rows are ordered by `u`, which is unique, because Spark leaves ties open too.
AGGREGATES = (
    "count(*)",
    "count(x)",
    "count(x, s)",
    "count_if(i > 1)",
    "sum(x)",
    "sum(i)",
    "sum(l)",
    "sum(d)",
    "sum(x) FILTER (WHERE b)",
    "avg(x)",
    "avg(i)",
    "avg(l)",
    "avg(d)",
    "avg(big)",
    "sum(big)",
    "try_sum(l)",
    "min(x)",
    "max(x)",
    "min(s)",
    "max(s)",
    "min(d)",
    "max(day)",
    "max(b)",
    "value_range(i)",
    "var_pop(x)",
    "var_samp(i)",
    "stddev_pop(y)",
    "stddev(d)",
    "skewness(y)",
    "kurtosis(y)",
    "covar_pop(x, y)",
    "covar_samp(y, i)",
    "corr(y, l)",
    "product(i)",
    "geo_mean(y)",
    "min_by(s, u)",
    "max_by(x, u)",
    "max_by(s, struct(i, u))",
    "bool_and(b)",
    "bool_or(b)",
    "bit_and(i)",
    "bit_or(l)",
    "bit_xor(l)",
    "array_sort(collect_list(i))",
    "array_sort(collect_set(s))",
    "count(DISTINCT s)",
    "count(DISTINCT i, s)",
    "sum(DISTINCT i)",
    "max(x) - min(x)",
    "sum(x) / count(*) + max(i)",
    "coalesce(max(s), 'none')",
)
PREDICATES = (
    None,
    "i > 1",
    "1 < i",
    "i > 2",
    "i <= 0",
    "x > 0.5",
    "x < 0.5 AND s = 'a'",
    "s IN ('a', 'b') OR i IS NULL",
    "s LIKE 'b%'",
    "NOT b",
    "d >= 1.25",
    "l % 2 = 0",
    "false",
    "isnan(x)",
)
KEYS = ((), ("s",), ("k",), ("s", "k"), ("i % 2 AS parity",), ("x",), ("day", "s"), ("b",))


def rows(spark: SparkSession, seed: int, count: int, kind: str = "timestamp") -> DataFrame:
    """Rows with nulls, NaN, infinities, negative times, and times on edges or a tick off them."""
    draw = random.Random(seed)

    def maybe(value: object, nulls: float = 0.12) -> object:
        return None if draw.random() < nulls else value

    def time() -> object:
        seconds = draw.choice((-7200, -61, -1, 0, 0, 3, 59, 60, 61, 119, 600, 3600, 3600))
        ticks = seconds * SECOND + draw.choice((0, 0, 0, 0, 1, -1, draw.randrange(60 * SECOND)))
        if kind == "integer":
            return ticks // SECOND
        if kind == "date":
            return (EPOCH + dt.timedelta(days=seconds // 60)).date()
        return EPOCH + dt.timedelta(microseconds=ticks)

    types = {
        "timestamp": pa.timestamp("us", tz="UTC"),
        "timestamp_ntz": pa.timestamp("us"),
        "date": pa.date32(),
        "integer": pa.int32(),
    }
    columns: dict[str, pa.Array] = {
        "ts": pa.array([maybe(time(), 0.04) for _ in range(count)], types[kind]),
        "u": pa.array(draw.sample(range(10 * count), count) if count else [], pa.int64()),
        "k": pa.array([maybe(draw.choice((1, 1, 1, 2, 3))) for _ in range(count)], pa.int32()),
        "s": pa.array(
            [maybe(draw.choice(("a", "b", "bb", "", "é"))) for _ in range(count)], pa.string()
        ),
        "x": pa.array(
            [
                maybe(draw.choice((0.0, -0.0, 0.5, 1.5, -2.25, 1e6, math.nan, math.inf)))
                for _ in range(count)
            ],
            pa.float64(),
        ),
        "y": pa.array([maybe(draw.uniform(0.5, 9.5)) for _ in range(count)], pa.float64()),
        "i": pa.array([maybe(draw.randrange(-2, 5)) for _ in range(count)], pa.int32()),
        "l": pa.array([maybe(draw.randrange(-(10**12), 10**12)) for _ in range(count)], pa.int64()),
        "d": pa.array(
            [maybe(Decimal(draw.randrange(-500, 500)) / 4) for _ in range(count)],
            pa.decimal128(10, 2),
        ),
        "big": pa.array(
            [maybe(Decimal(draw.randrange(-(10**20), 10**20)) / 8) for _ in range(count)],
            pa.decimal128(30, 3),
        ),
        "day": pa.array(
            [maybe(dt.date(2020, 1, draw.randrange(1, 5))) for _ in range(count)], pa.date32()
        ),
        "b": pa.array([maybe(draw.random() < 0.5) for _ in range(count)], pa.bool_()),
    }
    return spark.createDataFrame(pa.table(columns))


def window(draw: random.Random, axis: str = "time", *, day: bool = False) -> weft.Window:
    """A random window: tumbling, sliding, with gaps, with an offset, with edges that never meet."""
    unit = 1 if axis == "integer" else SECOND
    unit *= 3600 if day else 1
    slide = draw.choice((10, 15, 60, 60, 61, 90, 600))
    range_ = draw.choice((slide, slide, 2 * slide, 3 * slide, slide + 7, max(1, slide // 3), 120))
    offset = draw.choice((0, 0, 0, 1, -5, slide // 2, 3 * slide + 1))
    return weft.Window.of_units(range_ * unit, slide * unit, offset * unit, axis)


def queries(
    seed: int, count: int, axis: str = "time", *, aggregates: int = 3, day: bool = False
) -> list[weft.Query]:
    """Random queries over `rows`."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        chosen = draw.sample(AGGREGATES, aggregates)
        found.append(
            weft.Query(
                f"q{number}",
                aggs={f"a{position}": sql for position, sql in enumerate(chosen)},
                window=window(draw, axis, day=day),
                where=draw.choice(PREDICATES),
                by=draw.choice(KEYS),
                having="count(*) > 1" if draw.random() < 0.1 else None,
            )
        )
    return found
