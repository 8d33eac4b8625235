"""Compares the plan's answers with those of the plain Spark queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.plan.scale import scales
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.results.results import Results
from weft.spark.verify.compare import Difference, Pair, compare
from weft.spark.verify.native import native, union


@dataclass(frozen=True)
class VerifyReport:
    """The result of the comparison and how long both took; true if all answers are equal."""

    differences: tuple[Difference, ...]
    native_seconds: float
    weft_seconds: float

    @property
    def ok(self) -> bool:
        """Whether all rows of all queries are equal."""
        return all(difference.ok for difference in self.differences)

    @property
    def rows(self) -> int:
        """The number of rows compared."""
        return sum(difference.rows for difference in self.differences)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        wrong = [difference for difference in self.differences if not difference.ok]
        equal = len(self.differences) - len(wrong)
        lines = [
            f"{'equal' if self.ok else 'NOT EQUAL'}: {equal} of {len(self.differences)} queries, "
            f"{self.rows:,} rows",
            f"plain Spark {self.native_seconds:.2f} s, weft {self.weft_seconds:.2f} s "
            f"({self.native_seconds / max(self.weft_seconds, 1e-9):.3g}x)",
        ]
        return "\n".join([*lines, *map(str, wrong)])


def verify(
    df: DataFrame, axis: TimeAxis, queries: Sequence[Query], results: Results
) -> VerifyReport:
    """Run the plain queries, run the plan, and compare row by row.

    Both are computed in full and persisted before the comparison, so that their times are
    comparable.
    """
    plain = {query.name: scaled(df, axis, query) for query in queries}
    kept = {name: frame.persist() for name, (frame, _) in plain.items()}
    try:
        start = perf_counter()
        compute(list(kept.values()))
        middle = perf_counter()
        compute([results.all()])
        end = perf_counter()
        differences = compare(
            [
                Pair(
                    query.name,
                    ["window", *(key.name for key in query.keys)],
                    kept[query.name],
                    results.answers(query.name),
                    plain[query.name][1],
                )
                for query in queries
            ]
        )
    finally:
        for frame in kept.values():
            frame.unpersist()
    return VerifyReport(tuple(differences), middle - start, end - middle)


def compute(frames: Sequence[DataFrame]) -> None:
    """Compute every row of every frame, in one job."""
    counts = [frame.agg(F.count(F.lit(1))) for frame in frames]
    union(counts).collect()


def scaled(df: DataFrame, axis: TimeAxis, query: Query) -> tuple[DataFrame, dict[str, str]]:
    """The plain query with the scale of each floating-point output, and the scales' names."""
    plain = native(df, axis, query)
    doubles = {field.name for field in plain.schema if _is_double(field)}
    wanted = {name: sql for name, sql in scales(query).items() if name in doubles}
    if not wanted:
        return plain, {}
    names = {name: f"weft_scale_{position}" for position, name in enumerate(wanted)}
    extra = {names[name]: sql for name, sql in wanted.items()}
    return native(df, axis, query, extra), names


def _is_double(field: T.StructField) -> bool:
    return isinstance(field.dataType, T.DoubleType)
