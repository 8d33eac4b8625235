"""A bucket of a stream in steady state, without Spark: what a micro-batch reads, writes and takes.

24 h by 1 minute and 1 h by 1 minute over the same keys, one minute of rows to a micro-batch. The
history is brought in by the hour; then each structure in turn takes the same state over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from weft.algebra.part import Part
from weft.engine.parcel import Parcel
from weft.engine.preaggregate import Preaggregate
from weft.engine.program import FAR, Program, QueryWindows, RowColumns, TreeProgram
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.engine.state.bucket import Bucket
from weft.engine.state.due import closing_answers

MINUTE = 60_000_000
START = 1_700_006_400_000_000  # a full day
PARTS = {
    "exact": (Part("count"), Part("sum", ("x",))),
    "mixed": (Part("count"), Part("sum", ("y",)), Part("max", ("y",))),
}
TYPES = {"count": pa.int64(), "x": pa.int64(), "y": pa.float64()}


class Memory(dict[str, bytes]):
    """A state store."""

    def put(self, name: str, value: bytes) -> None:
        self[name] = value

    def remove(self, name: str) -> None:
        self.pop(name, None)


def program(parts: str, ranges: tuple[int, ...], finals: str) -> Program:
    """One tree: windows of some minutes, every minute."""
    numbered = tuple(
        NumberedPart(at, part, (TYPES[part.args[0] if part.args else "count"],))
        for at, part in enumerate(PARTS[parts])
    )
    places = tuple(range(len(numbered)))
    windows = tuple(
        QueryWindows(number, r * MINUTE, MINUTE, 0, -FAR, FAR, (0,), None, places)
        for number, r in enumerate(ranges)
    )
    columns = RowColumns((), None, ("k",), tuple((part.part.args, None) for part in numbered))
    tree = TreeProgram(
        1, ShardSchema((NumberedKey(0, pa.string()),), numbered), ((0, MINUTE),), (), None, windows,
        columns,
    )  # fmt: skip
    return Program(1, (tree,), 1, 1000, "append", finals=finals)


@dataclass
class Stream:
    """A bucket's state, and how far its stream has come."""

    keys: int
    rows_per_minute: int
    ranges: tuple[int, ...]
    parts: str
    state: Memory
    minute: int = 0
    totals: tuple[float, ...] = ()
    seed: int = 0

    def copy(self) -> Stream:
        """The same again."""
        return replace(self, state=Memory(self.state))

    def rows(self, minutes: int) -> pa.RecordBatch:
        """Rows of the next minutes: the same for every structure."""
        random = np.random.default_rng((self.seed, self.minute))
        count = self.rows_per_minute * minutes
        at = np.sort(random.integers(0, minutes * MINUTE, count)) + START + self.minute * MINUTE
        return pa.RecordBatch.from_pydict(
            {
                "t": pa.array(at),
                "ahead": pa.array(np.zeros(count, dtype=bool)),
                "k": pa.array([f"key{n:05d}" for n in random.integers(0, self.keys, count)]),
                "x": pa.array(random.integers(0, 100, count)),
                "y": pa.array(random.random(count)),
            }
        )

    def run(self, finals: str, minutes: int = 1) -> dict[str, Any]:
        """One micro-batch; its traffic, seconds and a digest of its answers."""
        plan = program(self.parts, self.ranges, finals)
        (tree,) = plan.stores
        (parcels,) = Preaggregate(plan)(iter([self.rows(minutes)]))
        parcel = Parcel.from_bytes(parcels.column("parcel")[0].as_py())
        began = time.process_time()
        bucket = Bucket(plan, self.state)
        bucket.index.max_event_time = parcel.max_event_time
        for shipment in parcel.shipments:
            shards, counts = shipment.split()
            bucket.index.fragment(0)
            bucket.absorb(tree, tree.schema.conform(shards), counts)
        self.minute += minutes
        watermark = START + (self.minute - 1) * MINUTE
        answers, digest = 0, np.zeros(len(PARTS[self.parts]))
        for found in closing_answers(bucket, tree, watermark):
            answers += len(found.start)
            digest += [float(np.nansum(part[0].to_numpy())) for part in found.parts]
        bucket.index.frontier = watermark
        bucket.evict(tree)
        bucket.save()
        return {
            "seconds": time.process_time() - began,
            "reads": bucket.traffic.reads,
            "read": bucket.traffic.read_bytes,
            "writes": bucket.traffic.writes,
            "written": bucket.traffic.written_bytes,
            "answers": answers,
            "digest": tuple(digest.tolist()),
        }


def with_history(parts: str, *, keys: int, hours: int, ranges: tuple[int, ...]) -> Stream:
    """A stream that has gone on for some hours, brought in by the hour."""
    stream = Stream(keys, keys, ranges, parts, Memory())
    for _ in range(hours):
        stream.run("blocks", minutes=60)
    return stream
