"""Expressions over aggregates and HAVING, as Spark SQL over a query's combined partials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from weft.algebra.aggregate import Aggregate
from weft.algebra.part import Part
from weft.errors import EngineError
from weft.plan.time_axis import TimeAxis, quote
from weft.query.query import Query
from weft.stream.places import lowered_at
from weft.stream.tree_schema import TreeSchema


@dataclass(frozen=True)
class OutputSql:
    """SQL over the columns `start`, `k0`, ... and `p0_total`, ... of one query."""

    inner: str
    """The temporary column that holds the partials; its name is not one of the query's."""
    outputs: tuple[tuple[str, str], ...]
    """The name and SQL of each output."""
    having: str | None

    def applied(self, frame: DataFrame, axis: TimeAxis, query: Query, number: int = 0) -> DataFrame:
        """The plain query's columns and rows, from its combined partials.

        `number` identifies the query in Spark's errors.
        """
        columns = [("window", axis.of_query(query.window))]
        columns += [(key.name, f"k{at}") for at, key in enumerate(query.keys)]
        # The partials are moved into one column, so that the query's names cannot clash with them.
        named = frame.selectExpr(
            f"struct(*) AS {self.inner}", *(f"{sql} AS {quote(name)}" for name, sql in columns)
        )
        selected = [quote(name) for name, _ in columns]
        selected += [lowered_at(number, f"{sql} AS {quote(name)}") for name, sql in self.outputs]
        if self.having is None:
            return named.selectExpr(*selected)
        kept = named.selectExpr(*selected, lowered_at(number, f"{self.having} AS {self.inner}"))
        return kept.where(self.inner).drop(self.inner)


def output_sql(
    query: Query, store: TreeSchema, names: Mapping[Part, Sequence[str]], types: Mapping[str, str]
) -> OutputSql:
    """The Spark SQL that computes the query's answers from its partials."""

    taken = {name.casefold() for name in (*query.aggs, *(key.name for key in query.keys))}
    inner = "weft_partials"
    while inner in taken:
        inner += "_"

    def answer(call: Aggregate) -> str:
        kept = call.ordered(store.time)
        known = [types[arg] for arg in call.args if arg in types]
        columns = [[f"{inner}.{name}" for name in names[part]] for part in store.parts_kept(call)]
        sql = kept.spark_lower(columns, known or None)
        if sql is None:
            raise EngineError(
                f"query {query.name!r}: {call.function}({', '.join(call.args)}) has no exact form "
                f"in SQL, so it cannot stand in an expression: ask for it as an output of its own"
            )
        return sql

    outputs = tuple(
        (output.name, output.render([answer(call) for call in output.calls]))
        for output in query.outputs
    )
    having = query.having_filter
    if having is None:
        return OutputSql(inner, outputs, None)
    return OutputSql(inner, outputs, having.render([answer(call) for call in having.calls]))
