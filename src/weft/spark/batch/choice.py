"""Chooses how a tree runs: as plain Spark, in Spark SQL, or with final structures in Arrow code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.algebra.catalogue import BY_ORDER
from weft.errors import EngineError
from weft.plan.cost import NATIVE_OVERLAP
from weft.plan.layout import Layout
from weft.plan.tree import Tree
from weft.spark.arrow import is_variant

Method = Literal["native", "sql", "arrow", "coverage"]


@dataclass(frozen=True)
class RunChoice:
    """How one tree runs, and why."""

    method: Method
    reason: str
    tree: int = 0
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "; ".join([f"{self.method}: {self.reason}", *self.details])


def choose(
    layout: Layout, tree: Tree, engine: str, df: DataFrame, structure: str = "auto"
) -> RunChoice:
    """How to run some of a tree's queries on an engine; a named structure requires Arrow code."""
    if tree.coverage is not None:
        if engine == "operator":
            raise EngineError(
                "this plan computes windows from other windows, which the operator engine cannot "
                "do: use engine='rewrite' or a strategy such as 'weave'"
            )
        if len(layout.queries) == len(tree.rows):
            return RunChoice("coverage", "windows from windows, in Spark SQL")
    targets = [target for grouping_set in layout.grouping_sets for target in grouping_set.targets]
    alone = len(targets) == 1 and targets[0].window.overlap <= NATIVE_OVERLAP
    # Spark's first and last take any row; weft's are by event time, whether shared or not.
    timed = any(call.function in BY_ORDER for query in layout.queries for call in query.calls)
    if alone and structure == "auto" and not timed and not layout.has_maximum:
        return RunChoice("native", "one window by itself")
    if engine == "rewrite":
        if layout.has_ends:
            kind = "sessions" if layout.is_session else "calendar windows"
            return RunChoice("native", f"{kind} as they are: Spark SQL makes none of slices")
        return RunChoice("sql", "each slice is sent to its windows, in Spark SQL")
    nested = [key for key in layout.keys if is_nested(df, key)]
    if nested:
        method: Method = "native" if layout.has_ends else "sql"
        return RunChoice(method, f"key {nested[0]} is nested, which Arrow code cannot compare")
    return RunChoice("arrow", "finals in Arrow code, by key")


def is_nested(df: DataFrame, key: str) -> bool:
    """Whether a key is of a nested type."""
    kind = df.select(F.expr(key)).schema.fields[0].dataType
    return isinstance(kind, (T.StructType, T.ArrayType, T.MapType)) or is_variant(kind)
