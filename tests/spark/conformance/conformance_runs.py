"""Spark is asked once for what every engine is compared with; differences are told by output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from conformance_aggregates import ASKED, OF_NUMBERS, Asked
from conformance_values import VALUES, Values
from engines import Rows, comparable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from weft.query.query import Query
from weft.query.window import Window

WINDOWS = (
    Window(range="30 seconds", slide="10 seconds"),
    Window(range="40 seconds", slide="20 seconds", offset="5 seconds"),
)
"""Columns take turns with them, so that windows share slices."""
INTERPRETED = {
    # A handful of rows: generating code for whole stages takes longer than running without. (With
    # none at all, Spark 4.3's own min_by and max_by give values of other rows.)
    "spark.sql.codegen.wholeStage": "false",
}


@contextmanager
def settings(spark: SparkSession, given: Mapping[str, str]) -> Iterator[None]:
    """The session with some settings, for a while."""
    before = {name: spark.conf.get(name, None) for name in given}
    for name, value in given.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


@dataclass
class Matrix:
    """Aggregates by column, as far as Spark takes them; Spark is asked once for each column."""

    rows: Rows
    known: dict[tuple[str, ...], dict[str, dict[str, object]]] = field(default_factory=dict)
    """By column and outputs, what Spark answers."""

    @cached_property
    def asked(self) -> dict[Values, list[Asked]]:
        """Of each column, the aggregates that Spark's analysis accepts."""
        frame = self.rows.batch()
        found: dict[Values, list[Asked]] = {}
        for values in VALUES:
            found[values] = []
            for asked in ASKED:
                if values.words and asked.name in OF_NUMBERS:
                    continue
                try:
                    frame.agg(F.expr(asked.plain(values.name)))
                except AnalysisException:
                    continue
                found[values].append(asked)
        return found

    def queries(
        self, columns: Sequence[str], without: Callable[[str, str], bool], having: str | None = None
    ) -> list[Query]:
        """A query for each column, with all of its aggregates but some."""
        made = []
        for at, (values, asked) in enumerate(self.asked.items()):
            run = {a.name: a.of(values.name) for a in asked if not without(values.name, a.name)}
            if run and values.name in columns:
                window = WINDOWS[at % 2]
                made.append(Query(values.name, aggs=run, window=window, by=["k"], having=having))
        return made

    def expected(self, query: Query) -> dict[str, dict[str, object]]:
        """By output: the answer of each window and key, as Spark gives it."""
        asked = (query.name, *query.aggs)  # engines refuse different ones
        if asked not in self.known:
            plain = {one.name: one.plain(query.name) for one in ASKED}
            span = query.window
            lengths = (f"{units} microseconds" for units in (span.range, span.slide, span.phase))
            grouped = self.rows.batch().groupBy(F.window("ts", *lengths).alias("window"), "k")
            found = grouped.agg(*(F.expr(plain[name]).alias(name) for name in query.aggs))
            self.known[asked] = by_output(found.collect(), 2)
        return self.known[asked]

    def differences(self, query: Query, found: Sequence[tuple]) -> dict[str, str]:
        """By output, the first answer that is not Spark's."""
        answers = by_output(found, 2)
        told = {}
        for name in query.aggs:
            wanted, got = self.expected(query)[name], answers.get(name, {})
            for place in {**wanted, **got}:
                if place not in got or place not in wanted or got[place] != wanted[place]:
                    told[name] = f"{place}: {got.get(place)!r}, and Spark {wanted.get(place)!r}"
                    break
        return told


def by_output(found: Sequence[tuple], keys: int) -> dict[str, dict[str, object]]:
    """Answers by output, and by the window and keys that come first."""
    if not found:
        return {}
    names = found[0].__fields__[keys:]
    rows = [comparable(row) for row in found]
    return {
        name: {repr(row[:keys]): row[keys + at] for row in rows} for at, name in enumerate(names)
    }
