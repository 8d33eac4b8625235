"""The columns that a statement selects from its query's answers."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.query.query import Query
from weft.spark.as_written import as_written


def selected(frame: DataFrame, query: Query) -> DataFrame:
    """The columns of SELECT under their names there; without SELECT, all columns."""
    if query.shown is None:
        return frame
    with as_written(frame.sparkSession):
        return frame.select(*(F.expr(sql).alias(name) for sql, name in query.shown))
