"""Delivers the rows that a micro-batch lost to a separate folder, with the reason.

    metrics of the buckets --anything lost?--> no: nothing is done
        yes --> the micro-batch is read again, natively filtered by the windows that had been
        answered, the queries' predicates and the guard --> Parquet --> manifest
    a query failed on it --> it is read again, and searched for rows on which the query fails

This is done before the micro-batch counts as delivered, so that a crash leaves both or neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    LongType,
    NullType,
    StringType,
    StructType,
)

from weft.errors import EngineError
from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.sinks.apart import check_apart
from weft.sinks.late_files import BATCH, QUERIES, REASON, LateFiles
from weft.spark.as_written import as_written
from weft.spark.failures import spark_message
from weft.spark.streaming.failed_rows import failed_rows
from weft.spark.streaming.launch import settings
from weft.spark.streaming.read_again import read_again
from weft.spark.streaming.versions import Version
from weft.stream.catalogue import Catalogue
from weft.stream.future_rows import Guard
from weft.stream.late_rows import losers
from weft.stream.losses import Lost

_WRITING = {
    # Lost rows may have any time, including dates that differ between calendars.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}
LATE = ("count", "deliver")
"""What happens to lost rows: they are counted, or also delivered to a folder."""
_ONLY_COUNT = "late='count' only counts late rows"
_STATEFUL = (
    "Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "FlatMapGroupsWithState",
    "FlatMapGroupsInPandasWithState", "TransformWithState", "TransformWithStateInPySpark",
    "GlobalLimit",
)  # fmt: skip
"""Spark's plan nodes that keep state across the micro-batches of a stream, by name."""


def check_late(late: str, late_to: str | None, place: object, checkpoint: str) -> None:
    """Refuse options about lost rows that contradict each other."""
    if late not in LATE:
        raise EngineError(f"late={late!r}: accepted are {', '.join(LATE)}")
    if late == "deliver" and late_to is None:
        raise EngineError("late='deliver': say where to, with late_to= and a directory")
    if late == "count" and late_to is not None:
        raise EngineError(f"late_to={late_to!r}: goes with late='deliver', and late is 'count'")
    if late_to is not None:
        check_apart(late_to, checkpoint, "late_to")
        if isinstance(place, str):
            check_apart(late_to, place, "late_to", "the sink's path")


def check_delivers_late(catalogue: Catalogue) -> None:
    """Refuse a stream whose lost rows cannot be determined."""
    if catalogue.settings.engine == "rewrite":
        raise EngineError(
            "late='deliver': engine='rewrite' leaves late rows to Spark, which does not say which "
            "they are: use engine='operator'"
        )


class LostRows:
    """Delivers the rows that the micro-batches of a stream lose."""

    def __init__(
        self, df: DataFrame, axis: TimeAxis, guard: Guard, checkpoint: str, path: str
    ) -> None:
        """Refuses rows that cannot be read again or written, and writes nothing yet."""
        refuse_stateful(df)
        self._schema = lost_schema(df)
        self._df, self._axis, self._checkpoint = df, axis, checkpoint
        self.guard = guard
        """The guard of the running Spark query; set by the code that starts it."""
        self.ticks: DataFrame | None = None
        """The stream's source of ticks, if it has one."""
        self._files = LateFiles(path)
        self._again = True
        """Whether the next micro-batch may have been delivered before."""

    def open(self) -> None:
        """Prepare the folder."""
        self._files.open(self._schema.jsonValue())

    def deliver(
        self,
        number: int,
        version: Version,
        figures: Iterable[Mapping[str, Any]],
        is_halting: Callable[[], bool],
    ) -> None:
        """Deliver the rows that a micro-batch lost, if any: all of them, exactly once."""
        lost, again, self._again = Lost.of(figures), self._again, False
        failed = [one.query for one in version.catalogue.failed if one.batch == number]
        if lost is None and not failed:
            if again and self._files.has(number):  # delivered then, by an earlier clock
                self._files.begin(number)
                self._files.commit(number)
            return
        self._files.begin(number)
        try:
            with as_written(self._df.sparkSession):
                if lost is not None:
                    frame = lost_frame(self._df, self._axis, self.guard, version, lost, number)
                    self._read(frame, partial(self._write_lost, number, lost), is_halting)
                if failed:
                    write = partial(self._write_failed, number, failed, is_halting)
                    self._read(self._df, write, is_halting)
        except EngineError:
            raise
        except Exception as error:
            raise EngineError(
                f"late='deliver': micro-batch {number} could not be read again for the rows that "
                f"it lost: {spark_message(error) or error}; {_ONLY_COUNT}"
            ) from error
        self._files.commit(number)

    def _read(
        self, frame: DataFrame, use: Callable[[DataFrame], None], is_halting: Callable[[], bool]
    ) -> None:
        if not read_again(
            frame, self._checkpoint, "late", use, ticks=self.ticks, is_over=is_halting
        ):
            raise EngineError("the stream is halted")

    def _write(self, number: int, rows: DataFrame) -> None:
        with settings(rows.sparkSession, _WRITING):
            rows.write.mode("append").parquet(self._files.writing(number))

    def _write_failed(
        self,
        number: int,
        queries: Sequence[Query],
        is_halting: Callable[[], bool],
        rows: DataFrame,
    ) -> None:
        def described(some: DataFrame, names: Sequence[str]) -> DataFrame:
            return some.select("*", *_described(F.lit("failed"), _texts(names), number))

        with as_written(rows.sparkSession):
            failed_rows(rows, queries, described, partial(self._write, number), is_halting)

    def _write_lost(self, number: int, lost: Lost, rows: DataFrame) -> None:
        seen = Observation()
        is_late = F.col(REASON) == "late"
        late = F.coalesce(F.sum(F.when(is_late, F.size(QUERIES))), F.lit(0)).alias("late")
        watched = rows.observe(seen, late, F.count_if(~is_late).alias("ahead"))
        self._write(number, watched)
        counted = sum(lost.late.values()), lost.ahead
        found = seen.get["late"], seen.get["ahead"]
        if counted != found:
            raise EngineError(
                f"late='deliver': micro-batch {number} lost {counted[0]} late rows, counted by "
                f"query, and {counted[1]} far ahead of the clock; read again it has {found[0]} and "
                f"{found[1]}, so the source does not give the same rows again: {_ONLY_COUNT}"
            )


def lost_frame(
    df: DataFrame, axis: TimeAxis, guard: Guard, version: Version, lost: Lost, number: int
) -> DataFrame:
    """The rows of a stream that a micro-batch lost, with the reason and the queries.

    Must be read in a micro-batch with the same clock, because the guard depends on it.
    """
    catalogue, units = version.catalogue, axis.units()
    is_ahead = F.expr(guard.condition(units)) if lost.ahead else F.lit(False)
    late = [
        F.when(_takes(one.where) & F.expr(one.condition), _texts(one.names)).otherwise(_texts(()))
        for one in losers(catalogue, version.compiled.program, lost, units)
    ]
    losing = F.array_sort(F.flatten(F.array(*late))) if late else _texts(())
    everyone = _texts([query.name for query in catalogue.queries])
    rows = df.where(is_ahead | (F.expr(units) < lost.frontier))
    reason = F.when(is_ahead, "ahead").otherwise("late")
    queries = F.when(is_ahead, everyone).otherwise(losing)
    return rows.select("*", *_described(reason, queries, number)).where(F.size(QUERIES) > 0)


def _described(reason: Column, queries: Column, number: int) -> list[Column]:
    batch = F.lit(number).cast("long")
    return [reason.alias(REASON), queries.alias(QUERIES), batch.alias(BATCH)]


def _takes(where: str | None) -> Column:
    return F.lit(True) if where is None else F.expr(where)


def _texts(values: Iterable[str]) -> Column:
    return F.array(*(F.lit(value) for value in values)).cast("array<string>")


def lost_schema(df: DataFrame) -> StructType:
    """The schema of lost rows; an error if Parquet cannot store it."""
    schema = StructType(list(df.schema.fields))
    schema.add(REASON, StringType()).add(QUERIES, ArrayType(StringType())).add(BATCH, LongType())
    known: set[str] = set()
    for field in schema.fields[::-1]:  # weft's own columns come first
        name = field.name.lower()
        if name in known:
            raise EngineError(
                f"late='deliver': the rows have a column {field.name!r}, and lost rows would have "
                f"two of that name: rename one with withColumnRenamed, or use late='count'"
            )
        known.add(name)
        if isinstance(field.dataType, (NullType, CalendarIntervalType)):
            raise EngineError(
                f"late='deliver': column {field.name!r} is of type {field.dataType.simpleString()},"
                f" which Parquet has not: cast it, drop it, or use late='count'"
            )
    return schema


def refuse_stateful(df: DataFrame) -> None:
    """Refuse a stateful DataFrame, which would not give the same rows if it is read again."""
    if not hasattr(df, "_jdf"):  # unknown on Spark Connect, where reading again fails
        return
    todo = [df._jdf.queryExecution().analyzed()]
    while todo:
        node = todo.pop()
        children = node.children()
        inner = [children.apply(at) for at in range(children.size())]
        streaming = [one for one in inner if one.isStreaming()]
        name = str(node.nodeName())
        if (streaming and name in _STATEFUL) or (name == "Join" and len(streaming) > 1):
            raise EngineError(
                f"late='deliver': the DataFrame has a streaming {name}, which keeps state, so that "
                f"a micro-batch cannot be read again apart from it: {_ONLY_COUNT}"
            )
        todo += streaming
