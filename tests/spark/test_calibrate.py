"""Costs measured on a session: each constant can be separated from the others, with few rows."""

from __future__ import annotations

from math import isfinite

from pyspark.sql import SparkSession

from benchmarks.support.slice_costs import slice_costs, tabled
from weft.engine.slicing.method import MEASURED
from weft.plan.cost import Constants
from weft.spark.batch.calibrate import constants


def test_slice_costs(spark: SparkSession) -> None:
    assert len(tabled(1 << 10).lookup_table(1 << 16) or ()) == 1 << 10
    costs = slice_costs(spark, rows=20_000, repeats=1)
    # A single measurement with few rows, on a busy machine, may show no difference.
    assert costs.search >= 0
    assert isfinite(costs.search)
    assert costs.most_entries == MEASURED.most_entries


def test_constants(spark: SparkSession) -> None:
    found = constants(spark, rows=20_000, repeats=1)
    # Their size depends on what else the machine does; whether a plan can use them does not.
    assert min(found.row, found.partial, found.answer) >= 1.0
    assert all(isfinite(value) for value in (found.row, found.partial, found.answer))
    assert found != Constants()
    assert (found.combine, found.tree) == (Constants().combine, Constants().tree)
