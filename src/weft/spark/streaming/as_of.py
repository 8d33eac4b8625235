"""As-of answers: reads the state of a committed micro-batch with Spark's state reader.

    checkpoint --state reader--> pieces by bucket --AnswerFromState--> answers --lowered--> AsOf

The state of a committed micro-batch never changes, so readers neither wait for the stream nor
disturb it. The pieces are read, combined and lowered by the same code that answers micro-batches.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.algebra.ops.order import typed
from weft.engine.query_windows import QueryWindows
from weft.engine.state.as_of import Moment, WindowAt, pieces_of, reading_program
from weft.errors import EngineError
from weft.plan.time_axis import TimeAxis
from weft.query.duration import Duration, parse_duration
from weft.query.query import Query
from weft.query.window import Session
from weft.sinks.contract import SinkQuery
from weft.sinks.files import Folder
from weft.sinks.parquet import read_results
from weft.sinks.wire import COLUMNS, FIGURES, from_wire
from weft.spark.as_written import as_written
from weft.spark.instants import At, units_at
from weft.spark.streaming.compile import Compiled
from weft.spark.streaming.lower_in_sql import lowered_frame
from weft.spark.streaming.projection import normal_key
from weft.stream.as_of import AnswerFromState, AsOf, Question, agreed, only_groups
from weft.stream.catalogue import Catalogue, Entry
from weft.stream.instants import shown_instant

PATIENCE = 30.0
"""Seconds to wait for Spark's commit of a micro-batch that was just delivered."""
_REMEMBERED, _LARGEST = 16, 64 * 1024 * 1024
"""The size of the cache of answers of the last micro-batch, and the limit of each in bytes."""
_AS_THEY_ARE = {(str, T.StringType), (int, T.IntegerType), (int, T.LongType), (bool, T.BooleanType)}
"""The Python types of values that need no cast to be keys of a Spark type."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A stream, as readers need it: its queries, their compiled form, and where answers go."""

    catalogue: Catalogue
    compiled: Compiled
    sink: Mapping[str, Any] | None
    """The `kind` and `path` of the sink, from which answers of closed windows are read."""


class StateReader:
    """Answers from the state of a checkpoint, as of its last micro-batch."""

    def __init__(self, spark: SparkSession, checkpoint: str, axis: TimeAxis) -> None:
        self.spark, self.checkpoint, self.axis = spark, checkpoint, axis
        self._commits = Folder(checkpoint).sub("commits")
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[Any, ...], tuple[float, AsOf]] = OrderedDict()
        """Answers, and when reading them began."""

    def answer(
        self,
        asked: Asked,
        name: str,
        at: At | None = None,
        keys: Mapping[str, Any] | None = None,
        *,
        batch: int | None = None,
        max_age: str | timedelta | None = None,
    ) -> AsOf:
        """The answers of a query's window for groups with these keys; see `Running.answer`."""
        age = None if max_age is None else _seconds(max_age)
        with as_written(self.spark):
            entry = _entry(asked.catalogue, name)
            question = _question(asked, entry, self._units(entry.query, at))
            wanted = self._keys(asked.compiled.answered[entry.number], keys or {})
            found = self._recent(asked, entry, question, age)
            if found is None:
                found = self._newest(asked, entry, question, batch)
        return found if wanted is None else replace(found, table=only_groups(found.table, wanted))

    # The request.

    def _units(self, query: Query, at: At | None) -> int | None:
        """A time in units of the axis."""
        if at is None:
            return None
        if isinstance(query.window, Session):
            raise EngineError(
                f"query {query.name!r} asks for sessions, which end where their rows end: leave "
                f"at={at!r} out, and every open session is answered"
            )
        return units_at(self.spark, self.axis, at)

    def _one_row(self) -> DataFrame:
        """A frame of one row for computing values; Spark does that without a job."""
        return self.spark.sql("SELECT 1")

    def _keys(self, asked: SinkQuery, keys: Mapping[str, Any]) -> pa.Table | None:
        """A row with the requested keys, in the form in which groups have them."""
        if not keys:
            return None
        names = asked.keys or [field.name for field in asked.schema if field.name != "window"]
        fields = {f.name.lower(): f for f in asked.schema.fields if f.name in names}
        found = {}
        for name, value in keys.items():
            if name.lower() not in fields:
                known = ", ".join(map(repr, names)) or "none"
                raise EngineError(f"query {asked.name!r} has no key {name!r}; its keys are {known}")
            field = fields[name.lower()]
            found[field.name] = self._key(field.name, value, field.dataType, asked.arrow)
        return pa.table(found)

    def _key(self, name: str, value: Any, kind: T.DataType, arrow: pa.Schema) -> pa.Array:
        """A key's value; strings are parsed as by Spark's CAST."""
        type_ = arrow.field(name).type
        if value is None or (type(value), type(kind)) in _AS_THEY_ARE:
            return pa.array([value], type_)
        cast = F.lit(value).try_cast(kind).alias("key")
        try:
            row = self._one_row().select(cast).selectExpr(normal_key("key", kind)).toArrow()
        except (PySparkException, TypeError, ValueError) as error:
            raise EngineError(
                f"keys: {name}={value!r} is no {kind.simpleString()}: {error}"
            ) from None
        if row.column(0).null_count:
            raise EngineError(f"keys: {name}={value!r} is no {kind.simpleString()}")
        return typed(row.column(0).combine_chunks(), type_)

    def _last_batch(self, least: int) -> int:
        """The last micro-batch that Spark has committed, which must be at least `least`."""
        ends = time.monotonic() + PATIENCE
        while True:
            done = max((int(n) for n in self._commits.names() if n.isdigit()), default=-1)
            if done >= least or time.monotonic() > ends:
                break
            time.sleep(0.02)
        if done < 0:
            raise EngineError(
                f"{self.checkpoint}: no micro-batch is done yet, so there is nothing to answer from"
            )
        if done < least:
            raise EngineError(f"micro-batch {least} is not done yet: ask again in a moment")
        return done

    # The answer.

    def _recent(
        self, asked: Asked, entry: Entry, question: Question, age: float | None
    ) -> AsOf | None:
        """The last answer to the same question, if it is not older than `age`."""
        if age is None:
            return None
        same = asked.catalogue.number, entry.number, question.at
        with self._lock:
            for (change, _, number, at), (read, found) in reversed(self._known.items()):
                if (change, number, at) == same and time.monotonic() - read <= age:
                    return found
        return None

    def _newest(self, asked: Asked, entry: Entry, question: Question, batch: int | None) -> AsOf:
        """The answer as of a micro-batch, by default the last one."""
        began = time.monotonic()
        if batch is None:
            batch = self._last_batch(asked.catalogue.batch - 1)
        since = _history_batch(asked.catalogue, entry)
        if batch < since:
            raise EngineError(
                f"query {entry.query.name!r}: its history is in the state from micro-batch "
                f"{since} on, and the last one was {batch}: ask when rows have come"
            )
        place = asked.catalogue.number, batch, entry.number, question.at
        with self._lock:  # concurrent callers with the same question wait, and find the answer
            if place in self._known:
                found = self._known.pop(place)[1]
            else:
                found = self._read(asked, entry, question, batch)
            if found.table.nbytes <= _LARGEST:
                self._known[place] = began, found
                while len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
            return found

    def _read(self, asked: Asked, entry: Entry, question: Question, batch: int) -> AsOf:
        query, compiled = entry.query, asked.compiled
        program = reading_program(compiled.program, question.numbers)
        lowerings = compiled.lowerings.only(question.numbers)
        pieces = self._pieces(pieces_of(program), batch)
        frame = pieces.mapInArrow(AnswerFromState(program, lowerings, question), COLUMNS)
        with lowered_frame(frame, self.axis, _only(compiled, entry), asked.catalogue) as lowered:
            rows = lowered.select("query", "payload").collect()
        moment = agreed([json.loads(bytes(row[1])) for row in rows if row[0] == FIGURES])
        if moment is None:
            raise EngineError(
                f"query {query.name!r}: micro-batch {batch} has left no state, because no row has "
                f"come yet: ask again when some have"
            )
        window = question.window(moment)
        self._check(query, question, window, moment)
        arrow = compiled.answered[entry.number].arrow
        is_open = window is None or window.is_open(question.windows, moment)
        frontier = question.windows.own_frontier(moment.frontier)
        if window is not None and not is_open:
            table = self._final(asked, entry, window, frontier)
        else:
            tables = [from_wire(bytes(row[1])) for row in rows if row[0] == entry.number]
            table = pa.concat_tables([arrow.empty_table(), *(t.cast(arrow) for t in tables)])
        bounds = None if window is None else (window.start, window.end)
        return AsOf(query.name, batch, is_open, bounds, frontier, table.combine_chunks())

    def _pieces(self, prefixes: Sequence[str], batch: int) -> DataFrame:
        state = (
            self.spark.read.format("statestore")
            .option("path", self.checkpoint)
            .option("batchId", batch)
            .option("stateVarName", "pieces")
            .load()
        )
        ours = " OR ".join(f"startswith(user_map_key.name, '{prefix}')" for prefix in prefixes)
        return state.where(ours).selectExpr(
            "key.bucket AS bucket", "user_map_key.name AS name", "user_map_value.data AS data"
        )

    def _check(
        self, query: Query, question: Question, window: WindowAt | None, moment: Moment
    ) -> None:
        """Refuse windows that are neither in the state nor in the sink."""
        if question.windows.session:
            return
        if window is None or moment.max_event_time is None:
            raise EngineError(f"query {query.name!r}: no row has come yet, so no window has begun")
        bounds = f"[{self._shown(window.start)}, {self._shown(window.end)})"
        since = question.complete_from
        if since is not None and window.start < since:
            raise EngineError(
                f"query {query.name!r}: its window {bounds} began before the query had all rows; "
                f"it is complete from {self._shown(since)} on: ask for a window that starts later"
            )
        if question.at is not None and window.start > moment.max_event_time:
            raise EngineError(
                f"query {query.name!r}: no row of its window {bounds} has come; the latest row is "
                f"at {self._shown(moment.max_event_time)}: leave at= out for the window under way"
            )

    def _final(self, asked: Asked, entry: Entry, window: WindowAt, frontier: int) -> pa.Table:
        """The answers of a closed window, read from the sink."""
        sink, name = asked.sink or {}, entry.query.name
        answered = asked.compiled.answered[entry.number]
        has_window = "window" in answered.arrow.names
        if sink.get("kind") != "ParquetSink" or not sink.get("path") or not has_window:
            raise EngineError(
                f"query {name!r}: its window [{self._shown(window.start)}, "
                f"{self._shown(window.end)}) is closed, and its answers went to "
                f"{sink.get('kind', 'the sink')}: look there. The state has windows that end after "
                f"the watermark, {self._shown(frontier)}; leave at= out for the one under way"
            )
        found = read_results(self.spark, str(sink["path"]), name)
        edges = (self.axis.edge_units(f"window.`{edge}`") for edge in ("start", "end"))
        start, end = edges
        table = found.where(f"{start} = {window.start}L AND {end} = {window.end}L").toArrow()
        arrays = [
            typed(table.column(field.name).combine_chunks(), field.type) for field in answered.arrow
        ]
        return pa.table(arrays, schema=answered.arrow)

    def _shown(self, units: int) -> str:
        return shown_instant(units, self.axis.kind)


def _seconds(max_age: Duration) -> float:
    """The maximum age of an answer, in seconds."""
    if isinstance(max_age, int) or (age := parse_duration(max_age, "max_age")) < 0:
        raise EngineError(f"max_age={max_age!r}: accepted are '5 seconds' and a timedelta")
    return age / 1e6


def _entry(catalogue: Catalogue, name: str) -> Entry:
    """The entry of the requested query; an error if the state cannot answer it."""
    if catalogue.settings.engine != "operator":
        raise EngineError(
            "engine='rewrite' keeps its state in Spark's own operators, which as-of answers cannot "
            "read: start the stream with engine='operator'"
        )
    for failure in catalogue.failed:
        if failure.query.name.lower() == name.lower():
            raise EngineError(failure.said)
    entry = catalogue.entry(name)
    if entry.waiting:
        raise EngineError(f"query {entry.query.name!r} waits for its history: ask when it is there")
    return entry


def _history_batch(catalogue: Catalogue, entry: Entry) -> int:
    """The first micro-batch whose state has the query's history; 0 if it has none."""
    stores = {assignment.store for assignment in entry.assignments}
    taken = [s.history[1] for s in catalogue.stores if s.number in stores and s.history is not None]
    return max(taken, default=0)


def _question(asked: Asked, entry: Entry, at: int | None) -> Question:
    compiled, name = asked.compiled, entry.query.name
    entries = {one.number: one for one in asked.catalogue.entries}
    numbers: tuple[int, ...] = (entry.number,)
    if entry.number in compiled.finishes:
        numbers = compiled.finishes[entry.number].numbers
    elif entry.number not in compiled.answered:
        whole = next(
            entries[number].query.name
            for number, one in compiled.finishes.items()
            if entry.number in one.numbers
        )
        raise EngineError(f"{name!r} is a part of the statement {whole!r}: ask for {whole!r}")
    parts = [entries[number] for number in numbers]
    different = next((p.query for p in parts if p.query.window != entry.query.window), None)
    if different is not None:
        raise EngineError(
            f"query {name!r} is SQL over windows of several sizes, which do not end together "
            f"({different.name!r} has others): add the SELECTs as queries of their own, and ask "
            f"for those"
        )
    if entry.number in asked.compiled.holding:
        raise EngineError(
            f"query {name!r} puts answers into outer windows, and those under way are not whole: "
            f"add the SELECT inside as a query of its own, and ask for that"
        )
    starts = [part.complete_from for part in parts if part.complete_from is not None]
    windows = QueryWindows.of(entry.query.window, lateness=entry.query.lateness)
    return Question(numbers, windows, at, max(starts, default=None))


def _only(compiled: Compiled, entry: Entry) -> Compiled:
    """The compiled form without the other queries, so that nothing is computed for them."""
    mine = {entry.number, *_numbers(compiled, entry.number)}
    return replace(
        compiled,
        answered={n: one for n, one in compiled.answered.items() if n == entry.number},
        lowered_in_sql={n: one for n, one in compiled.lowered_in_sql.items() if n in mine},
        finishes={n: one for n, one in compiled.finishes.items() if n == entry.number},
    )


def _numbers(compiled: Compiled, number: int) -> tuple[int, ...]:
    finishing = compiled.finishes.get(number)
    return () if finishing is None else finishing.numbers
