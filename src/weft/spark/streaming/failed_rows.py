"""Finds rows of a micro-batch on which a query failed, by bisection; some of them, not all.

What is tried are the expressions that a query evaluates for every row: its predicate, keys and
arguments. A query that failed in an aggregate, such as a sum that overflows, has no failed rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from weft.query.query import Query
from weft.stream.halving import Stretch, failing_numbers

MOST = 100
"""Most rows to find per query."""
_TRIES = 200
"""Most Spark jobs for finding the rows of a query."""
_ROW = "weft_row"
_PARTITION = 33
"""The number of bits of `monotonically_increasing_id` that number the rows in a partition."""


def failed_rows(
    rows: DataFrame,
    queries: Sequence[Query],
    described: Callable[[DataFrame, Sequence[str]], DataFrame],
    use: Callable[[DataFrame], None],
    is_over: Callable[[], bool],
) -> None:
    """Pass the rows on which some queries fail to `use`, each `described` with their names.

    At most `MOST` rows per query; `use` is not called if there are none.
    """
    numbered = rows.withColumn(_ROW, F.monotonically_increasing_id()).persist()
    try:
        by_partition = numbered.groupBy(F.shiftright(_ROW, _PARTITION)).agg(
            F.min(_ROW).alias("low"), F.max(_ROW).alias("high")
        )
        stretches = sorted((row["low"], row["high"]) for row in by_partition.collect())
        names: dict[int, list[str]] = {}
        for query in queries:

            def fails(some: Sequence[Stretch], query: Query = query) -> bool:
                return _fails(evaluated(numbered.where(_within(some)), query), is_over)

            for row in failing_numbers(stretches, fails, most=MOST, tries=_TRIES):
                names.setdefault(row, []).append(query.name)
        found = []
        for losing in dict.fromkeys(map(tuple, names.values())):
            mine = [row for row, some in names.items() if tuple(some) == losing]
            found.append(described(numbered.where(F.col(_ROW).isin(mine)).drop(_ROW), losing))
        if found:
            use(reduce(DataFrame.unionAll, found))
    finally:
        numbered.unpersist()


def _within(some: Sequence[Stretch]) -> Column:
    return reduce(Column.__or__, (F.col(_ROW).between(low, high) for low, high in some))


def _fails(frame: DataFrame, is_over: Callable[[], bool]) -> bool:
    try:
        frame.write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JJavaError):
        if is_over():  # cancelled jobs fail too, but not because of a row
            raise
        return True
    return False


def evaluated(rows: DataFrame, query: Query) -> DataFrame:
    """All expressions that a query evaluates per row, on the rows on which it does so."""
    taken = rows if query.where is None else rows.where(F.expr(query.where))
    columns = [F.expr(key.native) for key in query.keys]
    for call in (call for output in query.outputs for call in output.calls):
        arguments = [F.expr(argument) for argument in call.args if argument != "*"]
        if call.where is not None:
            kept = F.expr(call.where)
            arguments = [kept, *(F.when(kept, argument) for argument in arguments)]
        columns += arguments
    return taken.select(F.lit(1).alias("one"), *(c.alias(f"c{n}") for n, c in enumerate(columns)))
