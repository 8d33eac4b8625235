"""What a statement selects of its query's answers."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.query.query import Query
from weft.spark.as_written import as_written


def selected(frame: DataFrame, query: Query) -> DataFrame:
    """The columns of SELECT, under the names that it gives; else all that answers have."""
    if query.shown is None:
        return frame
    with as_written(frame.sparkSession):
        return frame.select(*(F.expr(sql).alias(name) for sql, name in query.shown))
