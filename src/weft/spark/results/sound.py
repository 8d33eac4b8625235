"""Answers of a batch in which a failing query does not affect the others.

Queries that share a job fail together. When that happens, their plain Spark queries are run one by
one until the failing one is found; the others are shared again without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from weft.query.query import Query
from weft.spark.as_written import as_written
from weft.spark.failures import spark_message
from weft.spark.loom import Loom
from weft.spark.results.results import Results
from weft.spark.verify.native import native

Made = TypeVar("Made")


class Failed(Exception):
    """A query cannot be answered, not even alone."""


class SoundResults:
    """The results of a loom's queries, used one after the other."""

    def __init__(self, loom: Loom, options: dict[str, Any]) -> None:
        self.loom, self.options = loom, options
        self._apart = False
        self._results: Results = loom.run(**options)

    def __enter__(self) -> SoundResults:
        return self

    def __exit__(self, *error: object) -> None:
        self._results.unpersist()

    def all(self) -> Results:
        """The results of all queries at once, without this handling of failures."""
        return self._results

    def use(self, query: Query, work: Callable[[DataFrame, bool], Made]) -> Made:
        """Do something with a query's answers; raises `Failed` if the query itself fails.

        `work` gets the answers, and whether it may already have been called with them.
        """
        again = False
        if not self._apart:
            try:
                return work(self._results[query.name], False)
            except (PySparkException, Py4JJavaError):
                self._apart = again = True
        try:
            with as_written(self.loom.spark):
                return work(native(self.loom.df, self.loom.axis, query), again)
        except (PySparkException, Py4JJavaError) as error:
            self._leave_out(query)
            raise Failed(spark_message(error) or str(error)) from error

    def _leave_out(self, query: Query) -> None:
        self._results.unpersist()
        self.loom.drop(query.name)
        if self.loom.queries:
            self._results, self._apart = self.loom.run(**self.options), False
