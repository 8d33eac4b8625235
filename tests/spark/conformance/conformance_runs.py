"""Runs Spark once for the expected answers of all engines, and finds differences by output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from conformance_aggregates import ASKED, OF_LISTS, OF_MEANS, OF_NUMBERS, OF_SKETCHES, Asked
from conformance_values import AS_THEY_ARE, VALUES, Values
from engines import Rows, comparable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weft.query.query import Query
from weft.query.window import Window

WINDOW = Window(range="30 seconds", slide="10 seconds")
OTHER = Window(range="20 seconds", slide="20 seconds", offset="5 seconds")
"""Shares slices with the first window; a single window would run as Spark's own query."""
LISTS, BESIDE = "lists", " beside"
INTERPRETED = {
    # With few rows, whole-stage code generation takes longer than running without it. (With
    # no code generation at all, Spark 4.3's own min_by and max_by return values of other rows.)
    "spark.sql.codegen.wholeStage": "false",
}


@contextmanager
def settings(spark: SparkSession, given: Mapping[str, str]) -> Iterator[None]:
    """The session with some settings changed within the block."""
    before = {name: spark.conf.get(name, None) for name in given}
    for name, value in given.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def _takes(frame: DataFrame, aggregate: str) -> bool:
    try:
        frame.agg(F.expr(aggregate))
    except AnalysisException:
        return False
    return True


@dataclass
class Matrix:
    """Aggregates by column, as far as Spark accepts them; Spark runs once for each column."""

    rows: Rows
    known: dict[str, dict[str, dict[str, object]]] = field(default_factory=dict)

    @cached_property
    def asked(self) -> dict[Values, list[Asked]]:
        """For each column, the aggregates that Spark's analysis accepts.

        They are analysed one by one, because a failed analysis is slow in proportion to its plan.
        """
        frame = self.rows.batch()
        return {
            values: [
                a
                for a in ASKED
                if not (values.words and a.name in OF_NUMBERS)
                and values.name in (a.only or (values.name,))
                and _takes(frame, a.plain(values.name))
            ]
            for values in VALUES
        }

    def queries(
        self, columns: Sequence[str], without: Callable[[str, str], bool], having: str | None = None
    ) -> list[Query]:
        """For each column two queries with bounded aggregates; one more with lists of all columns.

        Queries that keep lists share a tree only with queries that keep the same lists.
        """
        made = [Query("n", aggs={"n": "count(*)"}, window=OTHER, by=["k"])]
        lists: dict[str, dict[str, str]] = {}
        for values, asked in self.asked.items():
            run = [a for a in asked if not without(values.name, a.name)]
            if values.name not in columns or not run:
                continue
            # Aggregates that may make a query run as plain Spark get a separate query.
            apart = {" sketches": OF_SKETCHES, " means": OF_MEANS}
            listed = [a for a in run if a.name in OF_LISTS]
            chosen = {name: [a for a in run if a.name in kind] for name, kind in apart.items()}
            chosen[""] = [a for a in run if a.name not in OF_LISTS.union(*apart.values())]
            for name, some in chosen.items():
                aggs = {f"{values.name}.{a.name}": a.of(values.name) for a in some}
                if aggs:
                    name = values.name + name
                    made.append(Query(name, aggs=aggs, window=WINDOW, by=["k"], having=having))
            name = LISTS + (" as they are" if values.name in AS_THEY_ARE else "")
            aggs = {f"{values.name}.{a.name}": a.of(values.name) for a in listed}
            lists[name] = lists.get(name, {}) | aggs
        for name, aggs in lists.items():
            if aggs:
                made.append(Query(name, aggs=aggs, window=WINDOW, by=["k"], having=having))
                made.append(Query(name + BESIDE, aggs=aggs, window=OTHER, by=["k"]))
        return made

    def expected(self, column: str, names: Sequence[str]) -> dict[str, dict[str, object]]:
        """For each output, Spark's answer by window and key."""
        if not set(names) <= set(self.known.get(column, ())):
            plain = {one.name: one.plain(column) for one in ASKED}
            # One partition: without an exchange it is asked in half the time.
            grouped = (
                self.rows.batch()
                .coalesce(1)
                .groupBy(F.window("ts", "30 seconds", "10 seconds").alias("window"), "k")
            )
            ordered = [name for name in names if "ORDER BY" in plain[name]]
            # Apart: Spark 4.3 fails where an ordered listagg stands beside DISTINCT.
            distinct = [name for name in ordered if "DISTINCT" in plain[name]]
            plainly = [name for name in ordered if name not in distinct]
            for some in (distinct, plainly, [name for name in names if name not in ordered]):
                if some:
                    found = grouped.agg(*(F.expr(plain[name]).alias(name) for name in some))
                    known = by_output(found.collect(), some)
                    self.known[column] = self.known.get(column, {}) | known
        return self.known[column]

    def differences(self, queries: Sequence[Query], rows: Mapping[str, list]) -> dict[str, str]:
        """For each column and aggregate, the first answer that differs from Spark's."""
        found: dict[str, dict[str, dict[str, object]]] = {}
        for query in queries:
            assert rows[query.name], f"{query.name} has no answers, so that nothing was compared"
            if query.window == WINDOW:
                for name, answers in by_output(rows[query.name], list(query.aggs)).items():
                    column, aggregate = name.split(".")
                    found.setdefault(column, {})[aggregate] = answers
        told: dict[str, str] = {}
        for column, outputs in found.items():
            wanted = self.expected(column, list(outputs))
            for name, got in outputs.items():
                for place in {**wanted[name], **got}:
                    pair = got.get(place, "none"), wanted[name].get(place, "none")
                    if not near(*pair):
                        told[f"{column}.{name}"] = f"{pair[0]!r}, and Spark {pair[1]!r} at {place}"
                        break
        return told


def near(found: object, wanted: object) -> bool:
    """Whether two answers are equal, except for the last digits of floating-point numbers."""
    if isinstance(found, float) and isinstance(wanted, float):
        return math.isclose(found, wanted, rel_tol=1e-8, abs_tol=1e-12)
    if isinstance(found, tuple) and isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(near, found, wanted))
    return found == wanted


def by_output(found: Sequence[tuple], names: Sequence[str]) -> dict[str, dict[str, object]]:
    """Answers by output, and then by window and key, which are the first columns."""
    rows = [comparable(row) for row in found]
    return {name: {repr(row[:2]): row[2 + at] for row in rows} for at, name in enumerate(names)}
