"""Queries whose answers are expressions over aggregates: lowered by Spark SQL on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from weft.errors import EngineError
from weft.plan.time_axis import TimeAxis
from weft.sinks.wire import COLUMNS, Decode, to_wire
from weft.spark.streaming.compile import Compiled
from weft.spark.streaming.trial import failing
from weft.stream.catalogue import Catalogue
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

    Without expressions over aggregates (or under the rewrite engine, which lowers them itself)
    that is the output as it is. With some, it is kept for the
    time of the micro-batch, because it may be computed only once.
    """
    if not compiled.lowered_in_sql or catalogue.settings.engine != "operator":
        yield frame
        return
    kept = frame.persist()
    try:
        numbers = sorted(compiled.lowered_in_sql)
        listed = ", ".join(map(str, numbers))
        frames = [kept.where(f"query NOT IN ({listed})")]
        apart: dict[int, DataFrame] = {}
        present = {
            row[0]
            for row in kept.where(f"query IN ({listed})").select("query").distinct().collect()
        }
        for entry in catalogue.entries:
            if entry.number in present:
                arrow = compiled.lowerings[entry.number].schema
                rows = kept.where(f"query = {entry.number}").select("payload").coalesce(1)
                partials = rows.mapInArrow(Decode(arrow), from_arrow_schema(arrow))
                sql, place = compiled.lowered_in_sql[entry.number], numbers.index(entry.number)
                typed = sql.applied(partials, axis, entry.query, place)
                encode = Encode(entry.number, compiled.answered[entry.number].arrow)
                # By place: mapInArrow takes a dot in a name for the way to a field.
                placed = typed.toDF(*(f"c{at}" for at in range(len(typed.columns))))
                frames.append(placed.mapInArrow(encode, COLUMNS))
                apart[entry.number] = placed
        try:
            yield reduce(DataFrame.unionAll, frames)
        except (PySparkException, Py4JJavaError) as error:
            if not is_halting():
                _tell_apart(error, apart, is_halting)
            raise
    finally:
        kept.unpersist()


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
