"""Small steady micro-batches: what a day by the minute reads, writes and takes, by structure.

Windows of 24 h and of 1 h slide by 1 minute over the same keys, with one minute of rows per
micro-batch, in one of two buckets and without Spark. The history is loaded hour by hour; then each
structure in turn starts from the same state. `blocks` gathers slices and totals, as streams did
before they used structures. Every micro-batch's answers are compared with those of `blocks`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.support.harness import Claim, Row, Rows, check, noted
from weft.algebra.part import Part
from weft.engine.parcel import Parcel
from weft.engine.preaggregate import Preaggregate
from weft.engine.program import Program, RowColumns, TreeProgram
from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema
from weft.engine.state.bucket import Bucket
from weft.engine.state.due import closing_answers

PICTURE = None
STRUCTURES = (
    "blocks", "auto", "subtract", "flatfit", "two_stacks", "daba", "flatfat", "bint", "naive",
)  # fmt: skip
"""All but `shift`, which updates every suffix at every slide: a million combines at the start."""
STEADY = 12
MINUTE = 60_000_000
START = 1_700_006_400_000_000  # midnight
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
    """The program of one tree: windows of some lengths in minutes, every minute."""
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
    """A bucket's state, and the position of its stream."""

    keys: int
    rows_per_minute: int
    ranges: tuple[int, ...]
    parts: str
    state: Memory
    minute: int = 0
    totals: tuple[float, ...] = ()
    seed: int = 0

    def copy(self) -> Stream:
        """An independent copy."""
        return replace(self, state=Memory(self.state))

    def rows(self, minutes: int) -> pa.RecordBatch:
        """The rows of the next minutes, which are the same for every structure."""
        random = np.random.default_rng((self.seed, self.minute))
        count = self.rows_per_minute * minutes
        at = np.sort(random.integers(0, minutes * MINUTE, count)) + START + self.minute * MINUTE
        return pa.RecordBatch.from_pydict(
            {
                "t": pa.array(at),
                "k": pa.array([f"key{n:05d}" for n in random.integers(0, self.keys, count)]),
                "x": pa.array(random.integers(0, 100, count)),
                "y": pa.array(random.random(count)),
            }
        )

    def run(self, finals: str, minutes: int = 1) -> dict[str, Any]:
        """Run a micro-batch; return its traffic, its seconds and a digest of its answers."""
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
    """A stream that has run for some hours of event time, an hour per micro-batch."""
    stream = Stream(keys, keys, ranges, parts, Memory())
    for _ in range(hours):
        stream.run("blocks", minutes=60)
    return stream


def run(full: bool) -> Rows:
    """Measure, and check every answer."""
    return noted(_rows(full))


def _rows(full: bool) -> Iterator[Row]:
    keys = 10_000 if full else 1_000
    for parts in PARTS:
        base = with_history(parts, keys=keys // 2, hours=25, ranges=(1440, 60))
        expected: list[Row] = []
        for finals in STRUCTURES:
            if finals == "subtract" and parts != "exact":
                continue
            yield from _structure(base.copy(), parts, keys, finals, expected)


def _structure(
    stream: Stream, parts: str, keys: int, finals: str, expected: list[Row]
) -> Iterator[Row]:
    first = stream.run(finals)  # builds the structure from the slices
    stream.run(finals)
    stream.run(finals)
    found = [stream.run(finals) for _ in range(2 if finals == "naive" else STEADY)]
    if finals == "blocks":
        expected += found
    for got, want in zip(found, expected, strict=False):
        same = np.allclose(got["digest"], want["digest"], rtol=1e-9)
        check(got["answers"] == want["answers"] and same, f"{parts} by {finals}: other answers")

    def middle(name: str) -> float:
        return float(statistics.median(one[name] for one in found))

    yield {
        "parts": parts,
        "keys": keys,
        "finals": finals,
        "pieces read": middle("reads"),
        "kB read": middle("read") / 1e3,
        "pieces written": middle("writes"),
        "kB written": middle("written") / 1e3,
        "ms": 1e3 * middle("seconds"),
        "ms to begin": 1e3 * first["seconds"],
    }


def claim(rows: Rows) -> Claim:
    """`auto` compared with `blocks`, and with the best structure."""
    lines, shares, ratios = [], [], []
    for parts in PARTS:
        own = {row["finals"]: row for row in rows if row["parts"] == parts}
        auto, before = own["auto"], own["blocks"]
        best = min(own.values(), key=lambda row: row["ms"])
        shares.append(auto["kB read"] / before["kB read"])
        ratios.append(auto["ms"] / best["ms"])
        lines.append(
            f"{parts}: auto reads {auto['kB read']:,.0f} kB of {before['kB read']:,.0f} before "
            f"({shares[-1]:.1%}), {auto['ms']:.1f} ms of {before['ms']:.1f}; the best, "
            f"{best['finals']}, {best['ms']:.1f} ms"
        )
    return Claim(
        "none: a tenth of the bytes read, within 10% of the best structure's time",
        f"{max(shares):.1%} of the bytes at most; {max(ratios):.2f}x of the best time at most",
        max(shares) <= 0.1 and max(ratios) <= 1.1,
        also=tuple(lines),
    )
