"""What a plan wants to know of the rows, measured: rate, groups, fragments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.plan.cost import Statistics
from weft.plan.time_axis import TimeAxis
from weft.query.duration import MICROSECONDS
from weft.query.query import Query
from weft.spark.batch.fragments import FRAGMENT, fragment_plan, with_fragments

SAMPLE = 100_000
"""Rows in which fragments are counted: enough to see those that matter."""


@dataclass(frozen=True)
class Measured:
    """What was measured. `rate` is per second on a time axis, per unit on an integer axis."""

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
    """Count rows, their span and the groups of every set of keys, in one pass over the rows.

    Groups are counted approximately; fragments in the first rows only.
    """
    keysets = list(dict.fromkeys(tuple(key.expression for key in q.keys) for q in queries))
    counted = [
        F.expr(f"approx_count_distinct({_guarded(keys, queries)})").alias(f"g{i}")
        for i, keys in enumerate(keysets)
        if keys
    ]
    time = F.expr(axis.units())
    row = df.agg(
        F.count(time).alias("n"), F.min(time).alias("low"), F.max(time).alias("high"), *counted
    ).collect()[0]
    rows, low, high = row["n"], row["low"] or 0, row["high"] or 0
    unit = MICROSECONDS["second"] if axis.axis == "time" else 1
    groups = {",".join(keys): float(max(1, row[f"g{i}"])) for i, keys in enumerate(keysets) if keys}
    return Measured(
        rows,
        low,
        high,
        rows / (high - low + 1) * unit if rows else 0.0,
        Statistics(
            groups=groups or 1.0,
            fragments=_fragments(df, queries),
            span=(high - low + 1) / unit if rows else None,
        ),
    )


def _guarded(keys: tuple[str, ...], queries: Sequence[Query]) -> str:
    """SQL of a group's keys, evaluated only on rows that one of its queries takes."""
    users = [q.predicate for q in queries if tuple(key.expression for key in q.keys) == keys]
    struct = f"struct({', '.join(keys)})"
    if None in users:
        return struct
    taken = " OR ".join(f"coalesce({predicate}, false)" for predicate in dict.fromkeys(users))
    return f"CASE WHEN {taken} THEN {struct} END"


def _fragments(df: DataFrame, queries: Sequence[Query]) -> float | None:
    """Distinct fragments in a sample; None (as many as predicates) where that is known well."""
    predicates = list(dict.fromkeys(query.predicate for query in queries))
    if len(predicates) <= 2:
        return None
    sample = df.limit(SAMPLE)
    marked = with_fragments(sample, fragment_plan(sample, predicates))
    return float(max(1, marked.select(FRAGMENT).distinct().count()))
