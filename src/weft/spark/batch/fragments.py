"""Fragments on Spark: a row's fragment as a column, computed natively."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.engine.fragments.fragment_sql import fragment_stages
from weft.engine.fragments.fragments import TAG, FragmentLimits, FragmentPlan, plan_fragments

FRAGMENT = "weft_fragment"
BUDGET = 5_000
"""Limit of the JVM code of one method, in bytes; the JVM does not compile methods over 8,000."""
_ANY_NUMBER = 1 << 20
# Keeps the optimizer from pushing a filter on the column below its projections, where it would
# evaluate all of them again, doubling the work at every step.
_SETTLED = "(spark_partition_id() & 0)"


def fragment_plan(
    df: DataFrame, predicates: Sequence[str | None], limits: FragmentLimits | None = None
) -> FragmentPlan:
    """How the fragments of some predicates are found on the rows of a DataFrame.

    Predicates are distinct and normalised. Spark is only asked for types, once; no job runs.
    """
    return plan_fragments(predicates, lambda sql: expression_types(df, sql), limits)


def expression_types(df: DataFrame, expressions: Sequence[str]) -> Mapping[str, str]:
    """The names of the Spark types of some expressions; those without a type are left out."""
    try:
        fields = df.select(*(F.expr(sql).alias(f"c{i}") for i, sql in enumerate(expressions)))
        names = [field.dataType.simpleString() for field in fields.schema.fields]
        return dict(zip(expressions, names, strict=True))
    except AnalysisException:
        if len(expressions) == 1:
            return {}
        half = len(expressions) // 2
        return {
            **expression_types(df, expressions[:half]),
            **expression_types(df, expressions[half:]),
        }


def with_fragments(df: DataFrame, plan: FragmentPlan, name: str = FRAGMENT) -> DataFrame:
    """The rows that satisfy some predicate, each with the code of its fragment.

    The column is a long, or a struct of longs if a code has several words; `plan.members` tells
    which predicates a code satisfies. With a predicate that accepts every row, all rows are kept.
    With facets, a row occurs once for every facet in which it satisfies some predicate.
    """
    given = [predicate for predicate in plan.predicates if predicate is not None]
    if len(plan.predicates) == 1 and given:
        # A single predicate: a plain filter is best.
        return df.where(given[0]).withColumn(name, F.lit(1).cast("bigint"))
    if not given:
        return df.withColumn(name, F.lit(0).cast("bigint"))
    stages, words = fragment_stages(plan, f"{name}_")
    held = 0
    rows = df
    for stage in stages:
        chunk: list[str] = []
        for piece in stage:
            if held and held + piece.weight > BUDGET:
                rows = _settled(rows, chunk)
                chunk, held = [], 0
            chunk.append(f"{piece.sql} AS {piece.name}")
            held += piece.weight
        rows = rows.selectExpr("*", *chunk)
    rows = rows.selectExpr("*", *(f"{word} | {_SETTLED} AS {word}_" for word in words))
    temporary = [piece.name for stage in stages for piece in stage] + [f"{w}_" for w in words]
    if plan.faceted:
        tagged = ", ".join(f"{word}_ | {facet << TAG}L" for facet, word in enumerate(words))
        kept = [column for column in rows.columns if column not in temporary]
        quoted = [f"`{column.replace('`', '``')}`" for column in kept]
        rows = rows.selectExpr(*quoted, f"explode(array({tagged})) AS {name}")
        some = f"{name} & {(1 << TAG) - 1}L <> 0"
        return rows.where(f"{some} OR {name} = 0" if plan.keeps_all else some)
    if not plan.keeps_all:
        rows = rows.where(" OR ".join(f"{word}_ <> 0" for word in words))
    packed = ", ".join(f"'w{i}', {word}_" for i, word in enumerate(words))
    code = f"{words[0]}_" if len(words) == 1 else f"named_struct({packed})"
    return rows.selectExpr("*", f"{code} AS {name}").drop(*temporary)


def _settled(rows: DataFrame, columns: list[str]) -> DataFrame:
    """Rows with further columns, which Spark compiles to a separate method from what follows.

    Spark compiles consecutive projections to one method. A coalesce breaks this up, because it is
    not compiled; to more partitions than there are, it does nothing else.
    """
    if columns:
        rows = rows.selectExpr("*", *columns)
    return rows.coalesce(_ANY_NUMBER)
