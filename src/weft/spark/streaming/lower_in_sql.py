"""Computes answers in Spark SQL at delivery: expressions over aggregates, and SQL over answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from weft.engine.overload import blamed
from weft.engine.parcel import greatest
from weft.errors import EngineError, WeftError
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.sinks.wire import COLUMNS, FIGURES, Decode
from weft.spark.finishing import finished
from weft.spark.streaming.compile import Compiled, Finishing
from weft.spark.streaming.encode import Encode
from weft.spark.streaming.held import HeldAnswers
from weft.spark.streaming.trial import failing
from weft.stream.catalogue import Catalogue, Entry, complete_by, whole_by
from weft.stream.outer_window import Outer
from weft.stream.places import place_of

Answers = list[tuple[Query, DataFrame]]


@contextmanager
def lowered_frame(
    frame: DataFrame,
    axis: TimeAxis,
    compiled: Compiled,
    catalogue: Catalogue,
    *,
    held: HeldAnswers | None = None,
    batch: int = -1,
    silent: frozenset[int] = frozenset(),
    is_halting: Callable[[], bool] = lambda: False,
) -> Iterator[DataFrame]:
    """The operator's output with every query's final answers.

    Without expressions over aggregates and SQL over answers (or with the rewrite engine, which
    lowers them itself) that is the unchanged output. Otherwise the output is persisted during the
    micro-batch, because it may be computed only once. Without `held` and a `batch`, queries with
    outer windows get no answers.
    """
    made_here = {*compiled.lowered_in_sql}
    made_here.update(number for one in compiled.finishes.values() for number in one.numbers)
    if not made_here or catalogue.settings.engine != "operator":
        yield frame
        return
    kept = frame.persist()
    try:
        listed = ", ".join(map(str, sorted(made_here)))
        ours = kept.where(f"query IN ({listed})").select("query").distinct().collect()
        if compiled.holding and held is not None:
            held.begin(batch, _frontier(kept), compiled.holding)
        making = _Making(kept, axis, compiled, catalogue, held, is_halting)
        apart = making.answered({row[0] for row in ours}, silent)
        frames = [kept.where(f"query NOT IN ({listed})")]
        for number, made in apart.items():
            # Columns by position, because mapInArrow parses a dot in a name as a field access.
            apart[number] = made.toDF(*(f"c{at}" for at in range(len(made.columns))))
            encode = Encode(number, compiled.answered[number].arrow)
            frames.append(apart[number].mapInArrow(encode, COLUMNS))
        try:
            yield reduce(DataFrame.unionAll, frames)
        except (PySparkException, Py4JJavaError) as error:
            if not is_halting():
                _tell_apart(error, apart, is_halting)
            raise
    finally:
        kept.unpersist()


def _frontier(kept: DataFrame) -> int | None:
    """The watermark by which a micro-batch closed windows, from its buckets' reports."""
    rows = kept.where(f"query = {FIGURES}").select("payload").collect()
    return greatest(json.loads(row["payload"])["watermark"] for row in rows)


@dataclass(frozen=True, eq=False)
class _Making:
    """The answers of one micro-batch that are computed in SQL."""

    kept: DataFrame
    axis: TimeAxis
    compiled: Compiled
    catalogue: Catalogue
    held: HeldAnswers | None
    is_halting: Callable[[], bool]

    def answered(self, present: set[int], silent: frozenset[int]) -> dict[int, DataFrame]:
        """By number, the answers of the queries that have any in this micro-batch."""
        made = {}
        for number in self.compiled.answered:
            finishing = self.compiled.finishes.get(number)
            if finishing is None:
                if number in self.compiled.lowered_in_sql and number in present:
                    made[number] = self._answers(number)
                continue
            if finishing.form.outer is None:
                is_there = bool(present.intersection(finishing.numbers))
                parts = self._parts(finishing) if is_there else None
            else:
                parts = self._due(finishing, finishing.form.outer, present)
            if parts is not None and number not in silent:
                made[number] = self._finished(number, parts)
        return made

    def _answers(self, number: int) -> DataFrame:
        """A query's answers, without SQL over them."""
        compiled, query = self.compiled, self._entry(number).query
        arrow = compiled.lowerings.by_query[number].schema
        rows = self.kept.where(f"query = {number}").select("payload").coalesce(1)
        sql = compiled.lowered_in_sql.get(number)
        if sql is None:
            return rows.mapInArrow(Decode(arrow), compiled.menu.answers(query)[0])
        partials = rows.mapInArrow(Decode(arrow), from_arrow_schema(arrow))
        place = sorted(compiled.lowered_in_sql).index(number)
        return sql.applied(partials, self.axis, query, place)

    def _parts(self, finishing: Finishing) -> Answers:
        """The answers of a statement's queries."""
        entries = [self._entry(number) for number in finishing.numbers]
        parts = [(entry.query, self._answers(entry.number)) for entry in entries]
        return complete(parts, self.axis, entries)

    def _due(self, finishing: Finishing, outer: Outer, present: set[int]) -> Answers | None:
        """The answers of a statement's queries whose outer windows are complete; None if none."""
        if self.held is None:
            return None
        entries = [self._entry(number) for number in finishing.numbers]
        edge = outer.edge_sql(self.axis.edge_units("window.`end`"))
        due = []
        for entry in entries:
            number, answers = entry.number, self._answers(entry.number)
            try:
                found = self.held.exchange(number, answers, edge, has_any=number in present)
            except (PySparkException, Py4JJavaError) as error:
                if not self.is_halting():
                    _tell_apart(error, {finishing.numbers[0]: answers}, self.is_halting)
                raise
            due.append((entry.query, found, answers))
        if all(found is None for _, found, _ in due):
            return None
        parts = [(q, new.limit(0) if found is None else found) for q, found, new in due]
        return whole(parts, self.axis, entries, outer)

    def _finished(self, number: int, parts: Answers) -> DataFrame:
        finish = self._entry(number).query.finish
        assert finish is not None
        try:
            return finished(finish, parts)
        except (WeftError, PySparkException) as error:
            said = " ".join(str(error).split())
            raise EngineError(f"[weft query {number}] {said}") from error

    def _entry(self, number: int) -> Entry:
        return next(entry for entry in self.catalogue.entries if entry.number == number)


def whole(answers: Answers, axis: TimeAxis, entries: Sequence[Entry], outer: Outer) -> Answers:
    """The answers of a statement's queries in outer windows that are complete for all of them."""
    since = whole_by(entries)
    if since is None:
        return answers
    edge = outer.edge_sql(axis.edge_units("window.`end`"))
    return [(query, frame.where(f"{edge} - {outer.size}L >= {since}")) for query, frame in answers]


def complete(answers: Answers, axis: TimeAxis, entries: Sequence[Entry]) -> Answers:
    """The answers of a statement's queries in windows that are complete for all of them.

    Queries that were added to the running stream differ in their first complete window.
    """
    since = complete_by(entries) if len(entries) > 1 else None
    if since is None:
        return answers
    ended = f"{axis.edge_units('window.`end`')} >= {since}"
    return [(query, frame.where(ended)) for query, frame in answers]


def _tell_apart(
    error: Exception, frames: Mapping[int, DataFrame], is_halting: Callable[[], bool]
) -> None:
    """If an error names no query, find those whose answers cannot be computed, and raise that."""
    if blamed(str(error)) or place_of(str(error)) is not None:
        return
    guilty = failing({str(number): frame for number, frame in frames.items()}, is_halting)
    if guilty:
        lines = (
            f"[weft query {number}] {' '.join(said.split())}" for number, said in guilty.items()
        )
        raise EngineError("\n".join(lines)) from error
