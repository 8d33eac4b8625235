"""Measures the statistics of the rows that planning needs: rate, groups, fragments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.plan.cost import Statistics
from weft.plan.time_axis import TimeAxis
from weft.query.duration import MICROSECONDS
from weft.query.query import Query
from weft.query.sql.select.nodes import unquoted
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Name, Node
from weft.spark.batch.choice import is_nested
from weft.spark.batch.footers import (
    Footers,
    footers,
    groups_of_first_rows,
    has_rows_of_files,
)
from weft.spark.batch.fragments import FRAGMENT, fragment_plan, with_fragments

Int64 = npt.NDArray[np.int64]

SAMPLE = 100_000
"""Rows in which fragments are counted: enough to find the frequent ones."""
LARGE = 32 * 2**20
"""Parquet files of at least this many bytes are not scanned for measuring."""
_LOOKED = 20_000
"""The first rows of a large frame, which are sampled because Spark can stop after them."""
_NOBODY = 0


@dataclass(frozen=True)
class Measured:
    """The measurements. `rate` is per second on a time axis, per unit on an integer axis.

    For large frames all of them are estimates, including the first and the last time.
    """

    rows: int
    first: int
    last: int
    rate: float
    statistics: Statistics

    @property
    def span(self) -> int:
        """Axis units from the first row to the last."""
        return self.last - self.first + 1 if self.rows else 0


def measure(df: DataFrame, axis: TimeAxis, queries: Sequence[Query]) -> Measured:
    """Measure the rows, their time span, the groups of every set of keys, and the fragments.

    Of local Parquet files, rows and times come from the footers, and groups are estimated from the
    first rows, which Arrow reads if the keys are columns of the files, and otherwise Spark, if the
    files are large. Other frames are scanned once; fragments are counted in the first rows only.
    """
    keysets = list(dict.fromkeys(tuple(key.expression for key in q.keys) for q in queries))
    keysets = [keys for keys in keysets if keys]
    if hasattr(df, "_jdf") and has_rows_of_files(df):  # not available on Spark Connect
        told = footers(df, axis)
        found = None if told is None else _of_files(axis, queries, keysets, told)
        if found is None and told is not None and told.size >= LARGE:
            found = _estimated(df, axis, queries, keysets, told)
        if found is not None:
            return found
    return _counted(df, axis, queries, keysets)


def _counted(
    df: DataFrame, axis: TimeAxis, queries: Sequence[Query], keysets: Sequence[tuple[str, ...]]
) -> Measured:
    """Measure in one pass over the rows. Groups are counted approximately, by hashes of keys.

    Counting structs instead of hashes takes Spark three times as long.
    """
    counted = [
        F.expr(f"approx_count_distinct({_hashed(df, keys, queries)})").alias(f"g{i}")
        for i, keys in enumerate(keysets)
    ]
    time = F.expr(axis.units())
    row = df.agg(
        F.count(time).alias("n"), F.min(time).alias("low"), F.max(time).alias("high"), *counted
    ).collect()[0]
    groups = [float(row[f"g{i}"]) for i in range(len(keysets))]
    fragments = _fragments(df, queries)
    return _measured(axis, row["n"], row["low"], row["high"], keysets, groups, fragments)


def _of_files(
    axis: TimeAxis,
    queries: Sequence[Query],
    keysets: Sequence[tuple[str, ...]],
    told: Footers,
) -> Measured | None:
    """Estimate without Spark, whose first job takes seconds; None if that takes expressions."""
    predicates = {query.predicate for query in queries}
    every = {tuple(k.expression for k in q.keys) for q in queries if q.predicate is None}
    if len(predicates) > 2 or not every.issuperset(keysets):
        return None
    nodes = [[read_expression(key) for key in keys] for keys in keysets]
    columns = [[_column(node) for node in some] for some in nodes]
    named = [[name for name in some if name is not None] for some in columns]
    if named != columns:
        return None
    counts = groups_of_first_rows(told.files, named, _LOOKED) if named else []
    if counts is None:
        return None
    groups = [estimated_groups(some, told.rows) for some in counts]
    return _measured(axis, round(told.rows), told.first, told.last, keysets, groups, None)


def _column(node: Node) -> str | None:
    """The column that an expression is; None if it is more."""
    return unquoted(node.parts[0]) if isinstance(node, Name) and len(node.parts) == 1 else None


def _estimated(
    df: DataFrame,
    axis: TimeAxis,
    queries: Sequence[Query],
    keysets: Sequence[tuple[str, ...]],
    told: Footers,
) -> Measured | None:
    """Estimate from the footers and from the first rows; None if there are no rows."""
    predicates = list(dict.fromkeys(query.predicate for query in queries))
    few = len(predicates) <= 2
    rows = df if few else with_fragments(df, fragment_plan(df, predicates))
    columns = [axis.units(), *(f"coalesce({_hashed(df, keys, queries)}, 0L)" for keys in keysets)]
    columns += [] if few else [f"xxhash64({FRAGMENT})"]
    looked = rows.where(F.col(axis.quoted).isNotNull()).selectExpr(*columns)
    found = looked.take(_LOOKED)
    if not found:
        return None
    sample = np.array([tuple(row) for row in found], np.int64)
    count = round(told.rows)
    low, high = min(told.first, int(sample[:, 0].min())), max(told.last, int(sample[:, 0].max()))
    groups = [distinct(sample[:, 1 + i], count) for i in range(len(keysets))]
    fragments = None if few else distinct(sample[:, -1], count)
    return _measured(axis, count, low, high, keysets, groups, fragments)


def distinct(sample: Int64, rows: int) -> float:
    """The distinct values in `rows` rows, estimated from a sample; 0 is ignored.

    >>> distinct(np.array([1, 1, 2, 2, 3, 3, 0]), 1000), distinct(np.array([1, 2, 3, 4, 4]), 1000)
    (3.0, 5.5)
    """
    return estimated_groups(np.unique(sample[sample != _NOBODY], return_counts=True)[1], rows)


def estimated_groups(counts: Int64, rows: float) -> float:
    """The groups in `rows` rows, given how often each occurs in a sample (Chao's estimate).

    The number of groups that occur once in the sample indicates how many were not sampled.

    >>> estimated_groups(np.array([1, 1, 1, 2]), 1000), estimated_groups(np.array([1, 1, 1, 2]), 5)
    (5.5, 4.0)
    """
    if counts.sum() >= rows:
        return float(counts.size)
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return float(min(rows, counts.size + once * (once - 1) / (2 * (twice + 1))))


def _measured(
    axis: TimeAxis,
    rows: int,
    low: int | None,
    high: int | None,
    keysets: Sequence[tuple[str, ...]],
    groups: Sequence[float],
    fragments: float | None,
) -> Measured:
    low, high = low or 0, high or 0
    unit = MICROSECONDS["second"] if axis.axis == "time" else 1
    named = {",".join(keys): max(1.0, n) for keys, n in zip(keysets, groups, strict=True)}
    return Measured(
        rows,
        low,
        high,
        rows / (high - low + 1) * unit if rows else 0.0,
        Statistics(
            groups=named or 1.0,
            fragments=fragments,
            span=(high - low + 1) / unit if rows else None,
        ),
    )


def _hashed(df: DataFrame, keys: tuple[str, ...], queries: Sequence[Query]) -> str:
    """SQL of a hash of a group's keys, evaluated only on rows that satisfy one of its queries."""
    users = [q.predicate for q in queries if tuple(key.expression for key in q.keys) == keys]
    # Spark cannot hash maps.
    given = [f"CAST({key} AS STRING)" if is_nested(df, key) else key for key in keys]
    hashed = f"xxhash64({', '.join(given)})"
    if None in users:
        return hashed
    taken = " OR ".join(f"coalesce({predicate}, false)" for predicate in dict.fromkeys(users))
    return f"CASE WHEN {taken} THEN {hashed} END"


def _fragments(df: DataFrame, queries: Sequence[Query]) -> float | None:
    """Distinct fragments in a sample; None for up to two predicates, which need no sampling."""
    predicates = list(dict.fromkeys(query.predicate for query in queries))
    if len(predicates) <= 2:
        return None
    sample = df.limit(SAMPLE)
    marked = with_fragments(sample, fragment_plan(sample, predicates))
    return float(max(1, marked.select(FRAGMENT).distinct().count()))
