"""Poison rows, a sink that fails half-way, and a sudden explosion of keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from pyspark.sql import DataFrame

from tests.faults.chaos import MINUTE, START
from tests.faults.outcome import RIGHT, STOPPED, Outcome, Wrong, stopped_by
from tests.faults.rig import AXIS, Case, Rig
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import MicroBatch, ParquetSink
from weft.sinks.contract import Figures
from weft.sinks.manifests import Manifests
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native

_JSON = "ts timestamp, k string, x long, y double"


def poison(rig: Rig) -> Iterator[Outcome]:
    """Messages that are not JSON or have no time, and values that are infinite or NaN."""
    case = rig.case("poison")
    lines = [
        f'{{"ts": "2023-11-14 22:{minute:02d}:30Z", "k": "k{minute % 3}", "x": {minute}, "y": 1.5}}'
        for minute in range(30)
    ]
    poisoned = [
        "not JSON at all",
        '{"ts": "2023-11-14 22:01:00Z", "k": "k1", "x": ',
        '{"ts": "yesterday", "k": "k1", "x": 1, "y": 1}',
        '{"k": "k1", "x": 1, "y": 1}',
        '{"ts": "2023-11-14 22:05:00Z", "k": "k1", "x": "many", "y": 2}',
        '{"ts": "2023-11-14 22:06:00Z", "k": "k1", "x": 1, "y": "Infinity"}',
        '{"ts": "2023-11-14 22:07:00Z", "k": "k2", "x": 1, "y": "-Infinity"}',
        '{"ts": "2023-11-14 22:08:00Z", "k": "k0", "x": 1, "y": "NaN"}',
        '{"ts": "9999-12-31 23:59:59Z", "k": "k1", "x": 1, "y": 1}',
        '{"ts": "0001-01-01 00:00:00Z", "k": "k1", "x": 1, "y": 1}',
        '{"ts": "2023-11-14 22:09:00Z", "k": null, "x": 9223372036854775807, "y": 1e308}',
        "[]",
        '"x"',
        "\\u0000",
    ]
    lines[3:3] = poisoned
    folder = case.folder / "json"
    folder.mkdir()
    (folder / "0.json").write_text("\n".join(lines) + "\n")
    (folder / "1.json").write_text('{"ts": "2024-11-14 22:00:00Z", "k": "end", "x": 0, "y": 0}\n')
    aggs = {"n": "count(*)", "s": "sum(y)", "hi": "max(y)", "lo": "min(x)"}
    query = Query("q", aggs=aggs, window=Window(range="5 minutes"), by=["k"])
    reader = rig.spark.readStream.schema(_JSON).option("maxFilesPerTrigger", 1)
    out = str(case.folder / "out")
    running = start(
        reader.json(str(folder)), AXIS, out, checkpoint=str(case.checkpoint),
        watermark="5 minutes", queries=[query], trigger="available_now",
    )  # fmt: skip
    running.await_termination()
    if running.status().ahead_rows != 1:
        raise Wrong(f"poison: {running.status().ahead_rows} rows set aside instead of 1")
    rows = _compared(case, query, rig.spark.read.schema(_JSON).json(str(folder)))
    yield Outcome(
        f"{len(poisoned)} poison messages among {len(lines)}: no JSON, no time, years 1 and 9999, "
        f"infinite, NaN",
        "those without a time dropped and values kept, as Spark does; 1 set aside, 1 late",
        RIGHT,
        rows,
    )


def _compared(case: Case, query: Query, rows: DataFrame) -> int:
    """Compare answers with the plain query's, as text, because NaN is not equal to itself."""
    from weft.sinks import read_results

    right = native(rows.where("year(ts) = 2023"), AXIS, query)
    found = read_results(case.rig.spark, str(case.folder / "out"), query.name)
    texts = [sorted(map(repr, frame.collect())) for frame in (right, found)]
    if texts[0] != texts[1]:
        raise Wrong(f"{case.folder.name}: {texts[1]} instead of {texts[0]}")
    return len(texts[0])


class HalfWay(ParquetSink):
    """Writes the files of a micro-batch and fails before its manifest, once."""

    def __init__(self, path: str, at: int) -> None:
        super().__init__(path)
        self.at, self.failed = at, False

    def deliver(self, batch: MicroBatch) -> Figures:
        if batch.number == self.at and not self.failed:
            self.failed = True
            manifests, self.manifests = self.manifests, _Failing(self.folder)
            try:
                return super().deliver(batch)
            finally:
                self.manifests = manifests
        return super().deliver(batch)


class _Failing(Manifests):
    """Manifests that cannot be written."""

    def write(self, batch: int, files: Mapping[str, Sequence[str]]) -> None:
        raise OSError(5, "the sink lost its connection half-way (a fault)")


def failing_sink(rig: Rig) -> Iterator[Outcome]:
    """A failure when answers are in the sink, but the micro-batch is not committed."""
    case = rig.case("sink")
    for minute in (0, 2, 4):
        case.minutes(minute, minute + 2)
    case.end()
    out = str(case.folder / "out")
    said = stopped_by(case.stop_of(sink=HalfWay(out, at=3)), "half-way")
    case.run()
    yield Outcome(
        "the sink fails when half of a micro-batch is written", said, STOPPED, case.compare()
    )


def key_explosion(rig: Rig) -> Iterator[Outcome]:
    """A micro-batch in which every row has a different key."""
    case = rig.case("keys")
    case.queries = case.queries[:1]
    count = 4_000 if rig.short else 100_000
    case.minutes(0, 2)
    case.put(
        START + np.arange(count) * (2 * MINUTE // count) + 2 * MINUTE,
        keys=[f"u{number}" for number in range(count)],
    )
    case.minutes(4, 6)
    case.end()
    held: list[int] = []
    running = case.start()
    while not running.await_termination(0.3):
        held.append(running.status().state_bytes)
    after = running.status().state_bytes
    if after > max(held) // 4:
        raise Wrong(f"keys: {after} bytes of state are held after {max(held)} at most")
    yield Outcome(
        f"{count:,} new keys in one micro-batch",
        f"state grew to {max(held) / 1e6:.1f} MB, fell to {after / 1e6:.2f} MB as windows closed",
        RIGHT,
        case.compare(),
    )
