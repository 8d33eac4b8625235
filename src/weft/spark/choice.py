"""How a tree is run: as it is, in Spark SQL, or with finals in Arrow code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyspark.sql import DataFrame

from weft.errors import EngineError
from weft.plan.layout import Layout
from weft.plan.tree import Tree
from weft.spark.statistics import Measured

Method = Literal["native", "sql", "arrow", "coverage"]
NATIVE_OVERLAP = 3.0
"""A query alone in its tree runs as it is, unless `window()` would copy each row more often."""


@dataclass(frozen=True)
class Choice:
    """The way one tree is run, and why."""

    method: Method
    reason: str

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


def choose(
    layout: Layout, tree: Tree, df: DataFrame, engine: str, measured: Measured | None
) -> Choice:
    """The way to run a tree on an engine."""
    if tree.coverage is not None:
        if engine == "operator":
            raise EngineError(
                "this plan makes windows from windows, which the operator engine does not: use "
                "engine='rewrite' or a strategy such as 'weave'"
            )
        return Choice("coverage", "windows from windows, in Spark SQL")
    targets = [target for fold in layout.folds for target in fold.targets]
    if len(targets) == 1 and targets[0].window.overlap <= NATIVE_OVERLAP:
        return Choice("native", "one window by itself")
    if engine == "rewrite":
        return Choice("sql", "each slice sent to its windows, in Spark SQL")
    return Choice("arrow", "finals in Arrow code, by key")
