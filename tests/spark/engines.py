"""All engines behind one interface: batch by operator and by rewriting, and three streams.

weft computes no expected answers: `expected` is the plain Spark query over the same rows.
"""

from __future__ import annotations

import math
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.types import VariantVal

from weft.plan.time_axis import TimeAxis
from weft.query.query import Query
from weft.sinks import MemorySink, read_results
from weft.spark.loom import Loom
from weft.spark.verify.native import native

BATCHES = ("batch", "rewrite")
STREAMS = ("append", "update", "restart")
"""The engines; `restart` restarts the stream for every micro-batch."""
ENGINES = BATCHES + STREAMS


class Rows:
    """Micro-batches, each in a file; the last only closes windows and is not compared."""

    def __init__(self, folder: Path, *frames: DataFrame, time: str = "ts", kind: str = "timestamp"):
        self.spark = frames[0].sparkSession
        self.schema = frames[0].schema
        self.axis = TimeAxis(time, kind)
        self.folder, self.files = folder, []
        self.answered: dict[Query, Counter] = {}
        folder.mkdir(parents=True)
        for number, frame in enumerate(frames):
            made = folder / f"_{number}"
            frame.coalesce(1).write.parquet(str(made))
            (part,) = made.glob("*.parquet")
            file = folder / f"{number:04d}.parquet"
            part.rename(file)
            shutil.rmtree(made)
            os.utime(file, (1_000_000 + number,) * 2)
            self.files.append(file)

    def batch(self) -> DataFrame:
        """All rows but those of the last micro-batch."""
        return self.spark.read.schema(self.schema).parquet(*map(str, self.files[:-1]))

    def stream(self) -> DataFrame:
        """All rows, a file for each micro-batch."""
        reader = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder))


def expected(rows: Rows, query: Query) -> Counter:
    """Spark's answers, computed once for all engines with the same rows."""
    if query not in rows.answered:
        rows.answered[query] = bag(native(rows.batch(), rows.axis, query).collect())
    return rows.answered[query]


def answers(
    engine: str, rows: Rows, queries: Sequence[Query], folder: Path, watermark: str = "1 second"
) -> dict[str, Counter]:
    """An engine's answers by query, for windows without any of the last rows."""
    found = answer_rows(engine, rows, queries, folder, watermark)
    return {name: bag(some) for name, some in found.items()}


def answer_rows(
    engine: str, rows: Rows, queries: Sequence[Query], folder: Path, watermark: str = "1 second"
) -> dict[str, list[tuple]]:
    """The rows of those answers."""
    streaming = engine in STREAMS
    frame = rows.stream() if streaming else rows.batch()
    loom = Loom(frame, time=rows.axis.column, watermark=watermark)
    for query in queries:
        loom.add(query)
    if not streaming:
        how = "operator" if engine == "batch" else "rewrite"
        with loom.run(rate=1.0, engine=how, strategy="share_all") as found:
            return {query.name: found[query.name].collect() for query in queries}
    given = {"checkpoint": str(folder / "ck"), "trigger": "available_now"}
    if engine == "update":
        sink = MemorySink()
        loom.start(sink, output_mode="update", strategy="share_all", **given).await_termination()
        found = {q.name: _latest(sink.rows.get(q.name, ()), q) for q in queries}
    else:
        out = str(folder / "out")
        for _ in _one_by_one(rows) if engine == "restart" else (None,):
            loom.start(out, strategy="share_all", **given).await_termination()
        found = {q.name: read_results(rows.spark, out, q.name).collect() for q in queries}
    last = rows.spark.read.schema(rows.schema).parquet(str(rows.files[-1]))
    low = last.selectExpr(f"min({rows.axis.quoted})").first()[0]
    return {name: [row for row in some if not row[0]["end"] > low] for name, some in found.items()}


def _one_by_one(rows: Rows):
    """Move the files away, and back one after the other."""
    away = rows.folder.with_name(f"{rows.folder.name}-away")
    away.mkdir()
    for file in rows.files:
        file.rename(away / file.name)
    for file in rows.files:
        (away / file.name).rename(file)
        yield
    away.rmdir()


def _latest(found: Sequence[tuple], query: Query) -> list[tuple]:
    """The last answer of every window and group."""
    keys = 1 + len(query.keys)
    return list({repr(comparable(row[:keys])): row for row in found}.values())


def plain(value: object) -> object:
    """A value in a form to compare: floats to nine digits, sets sorted."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value:.9g}") + 0.0
    if isinstance(value, (list, set)):
        return tuple(sorted((plain(item) for item in value), key=repr))
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return value


def comparable(row: Sequence[object]) -> object:
    """A row in the form in which answers are compared."""
    return plain(tuple(_deep(value) for value in row))


def bag(found: Sequence[tuple]) -> Counter:
    """Rows as a multiset."""
    return Counter(comparable(row) for row in found)


def _deep(value: object) -> object:
    if isinstance(value, list):
        return [_deep(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_deep(item) for item in value)
    if isinstance(value, (bytearray, bytes)):
        return bytes(value)
    if isinstance(value, dict):
        return tuple((_deep(key), _deep(item)) for key, item in sorted(value.items()))
    if isinstance(value, VariantVal):
        return repr(value)
    return value


def assert_answers(
    engine: str, rows: Rows, queries: Sequence[Query], folder: Path, watermark: str = "1 second"
) -> None:
    """Check that every query's answers are those of its plain Spark query."""
    found = answers(engine, rows, queries, folder, watermark)
    for query in queries:
        wanted = expected(rows, query)
        missing, extra = wanted - found[query.name], found[query.name] - wanted
        assert not missing, f"{query.name}: {sum(missing.values())} missing: {next(iter(missing))}"
        assert not extra, f"{query.name}: {sum(extra.values())} extra: {next(iter(extra))}"
        assert wanted, f"{query.name} has no answers, so that nothing was compared"
