"""Schema changes of a stream's rows between runs: which are accepted, and which are refused.

    column that no query reads: added, dropped, another type   accepted
    column of predicates only: another type                    accepted: state has only results
    key or argument: another type                              refused: state has the old type
    column that a query reads: dropped or renamed              refused

A key of another type would hash to another bucket and form two groups; an argument of another type
has partials of another type, and its answers may not match those in the sink.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from weft.errors import CheckpointError
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.spark.as_written import as_written
from weft.spark.check import check_queries
from weft.stream.rows_file import RowsFile


def check_rows(df: DataFrame, axis: TimeAxis, checkpoint: str, queries: Sequence[Query]) -> None:
    """Refuse rows that do not fit the state of some query; the error names query and column."""
    known = RowsFile(checkpoint).read_if_there()
    if known is None:  # a checkpoint of an older release
        return
    schema = T.StructType.fromJson(known["schema"])
    before, now = _columns(schema), _columns(df.schema)
    if before == now:
        return
    _check_there(before, now, queries)
    with as_written(df.sparkSession):
        empty = df.sparkSession.createDataFrame([], schema)
        kept = check_queries(empty, axis, queries)
        found = check_queries(df, axis, queries)
    for query in queries:
        for sql in _kept_of(query):
            if sql in kept and found.get(sql) != kept[sql]:
                raise CheckpointError(
                    f"query {query.name!r}: {sql} was {kept[sql].upper()} when the stream last "
                    f"ran, and is {found[sql].upper()} now, which does not fit its state: "
                    f"CAST(... AS {kept[sql].upper()}) where the rows are read, or drop the query, "
                    f"start the stream, and add the query again (with history= its windows are "
                    f"complete at once)"
                )


def _check_there(
    before: Mapping[str, str], now: Mapping[str, str], queries: Sequence[Query]
) -> None:
    """Refuse rows without a column that some query reads."""
    for name in before.keys() - now.keys():
        asking = [query.name for query in queries if name in query.columns]
        if not asking:
            continue
        like = sorted(new for new in now.keys() - before.keys() if now[new] == before[name])
        renamed = f" (or {', '.join(map(repr, like))}, if it was renamed)" if like else ""
        named = ", ".join(map(repr, sorted(asking)))
        raise CheckpointError(
            f"column {name!r} is not in the rows any more, and queries read it ({named}): give the "
            f"rows a column of that name{renamed}, for instance with withColumn; or drop these "
            f"queries before the stream starts (weft query drop)"
        )


def _kept_of(query: Query) -> list[str]:
    """The expressions of a query that affect its state: its keys and its aggregates' arguments."""
    arguments = [arg for call in query.calls for arg in call.args]
    return list(dict.fromkeys([*(key.expression for key in query.keys), *arguments]))


def _columns(schema: T.StructType) -> dict[str, str]:
    """Types by column, ignoring nullability."""
    return {field.name.lower(): field.dataType.simpleString() for field in schema.fields}
