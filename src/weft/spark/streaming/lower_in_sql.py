"""Answers that Spark SQL makes on their way: expressions over aggregates, and SQL over answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from weft.algebra.ops.order import typed
from weft.engine.overload import blamed
from weft.errors import EngineError, WeftError
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.sinks.wire import COLUMNS, Decode, to_wire
from weft.spark.finishing import finished
from weft.spark.streaming.compile import Compiled
from weft.spark.streaming.trial import failing
from weft.stream.catalogue import Catalogue, Entry, complete_by
from weft.stream.places import place_of


class Encode:
    """For `mapInArrow`: a query's typed answers as rows of the operator's output."""

    def __init__(self, query: int, schema: pa.Schema) -> None:
        self.query, self.schema = query, schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
        if tables:
            columns = pa.concat_tables(tables).combine_chunks().columns
            arrays = [
                typed(column.combine_chunks(), field.type)
                for column, field in zip(columns, self.schema, strict=True)
            ]
            table = pa.table(arrays, schema=self.schema)
            context = TaskContext.get()
            partition = 0 if context is None else context.partitionId()  # files are named by it
            yield pa.RecordBatch.from_pydict(
                {
                    "query": pa.array([self.query], pa.int32()),
                    "bucket": pa.array([partition], pa.int32()),
                    "rows": pa.array([table.num_rows], pa.int64()),
                    "payload": pa.array([to_wire(table)], pa.binary()),
                }
            )


@contextmanager
def lowered_frame(
    frame: DataFrame,
    axis: TimeAxis,
    compiled: Compiled,
    catalogue: Catalogue,
    is_halting: Callable[[], bool] = lambda: False,
) -> Iterator[DataFrame]:
    """The operator's output with every query's answers as they should be.

    Without expressions over aggregates and SQL over answers (or under the rewrite engine, which
    lowers them itself) that is the output as it is. With some, it is kept for the time of the
    micro-batch, because it may be computed only once.
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
        apart = _made(kept, axis, compiled, catalogue, {row[0] for row in ours})
        frames = [kept.where(f"query NOT IN ({listed})")]
        for number, made in apart.items():
            # By place: mapInArrow takes a dot in a name for the way to a field.
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


def _made(
    kept: DataFrame,
    axis: TimeAxis,
    compiled: Compiled,
    catalogue: Catalogue,
    present: set[int],
) -> dict[int, DataFrame]:
    """The answers that are made in SQL, of the queries that have any in this micro-batch."""
    places = {number: place for place, number in enumerate(sorted(compiled.lowered_in_sql))}
    entries = {entry.number: entry for entry in catalogue.entries}
    queries = {number: entry.query for number, entry in entries.items()}

    def answers(number: int) -> DataFrame:
        """A query's answers, before SQL over them."""
        arrow = compiled.lowerings[number].schema
        rows = kept.where(f"query = {number}").select("payload").coalesce(1)
        sql = compiled.lowered_in_sql.get(number)
        if sql is None:
            return rows.mapInArrow(Decode(arrow), compiled.menu.answers(queries[number])[0])
        partials = rows.mapInArrow(Decode(arrow), from_arrow_schema(arrow))
        return sql.applied(partials, axis, queries[number], places[number])

    made = {}
    for number in compiled.answered:
        finishing = compiled.finishes.get(number)
        if finishing is None:
            if number in compiled.lowered_in_sql and number in present:
                made[number] = answers(number)
        elif present.intersection(finishing.numbers):
            finish = queries[number].finish
            assert finish is not None
            parts = [(queries[n], answers(n)) for n in finishing.numbers]
            parts = complete(parts, axis, [entries[n] for n in finishing.numbers])
            try:
                made[number] = finished(finish, parts)
            except (WeftError, PySparkException) as error:
                said = " ".join(str(error).split())
                raise EngineError(f"[weft query {number}] {said}") from error
    return made


def complete(
    answers: Sequence[tuple[Query, DataFrame]], axis: TimeAxis, entries: Sequence[Entry]
) -> list[tuple[Query, DataFrame]]:
    """Answers of a statement's queries, of those windows that all of them have answers of.

    One that came while the stream ran may have to wait longer for its first whole window.
    """
    since = complete_by(entries) if len(entries) > 1 else None
    if since is None:
        return list(answers)
    whole = f"{axis.edge_units('window.`end`')} >= {since}"
    return [(query, frame.where(whole)) for query, frame in answers]


def _tell_apart(
    error: Exception, frames: Mapping[int, DataFrame], is_halting: Callable[[], bool]
) -> None:
    """Say whose answers cannot be made, if that can be told, and an error does not say it."""
    if blamed(str(error)) or place_of(str(error)) is not None:
        return
    guilty = failing({str(number): frame for number, frame in frames.items()}, is_halting)
    if guilty:
        lines = (
            f"[weft query {number}] {' '.join(said.split())}" for number, said in guilty.items()
        )
        raise EngineError("\n".join(lines)) from error
