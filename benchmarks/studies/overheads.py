"""Overheads: the first micro-batch, small ones, many queries, and a batch's first answer.

Each point runs in a process of its own on an embedded Spark that has started and done nothing yet;
weft and plain Spark in turns, the better of a few runs each. The answers of two queries are
compared with plain Spark's.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.studies.micro_batches import SECOND, SPAN
from benchmarks.studies.scale import trial_of
from benchmarks.studies.stream import write_feed
from benchmarks.support.harness import Claim, Row, Rows, noted, pick

PICTURE = None
TRIAL = "benchmarks.studies.overheads_trial"
FIRST, SMALL, ANSWER = 5.0, 0.4, 3.0
"""Our targets, in seconds: a stream's first micro-batch, a small one, a batch's first answer."""
MANY, LARGE = 1.5, 1.3
"""Our targets, relative to plain Spark: 256 queries on 400,000 rows, and on a million."""
FEW = 16
MOST = 256


def run(full: bool) -> Rows:
    """The quick form runs every point once, and leaves out the micro-batches of a million rows."""
    return noted(_rows(full))


def _rows(full: bool) -> Iterator[Row]:
    rounds = 3 if full else 1
    for name, rows, batches, span, weft, plain in _points(full):
        with tempfile.TemporaryDirectory(prefix="weft-", ignore_cleanup_errors=True) as folder:
            feed = Path(folder) / "in"
            write_feed(feed, batches, rows, span=span)
            for number in range(rounds):
                for way, asked in (("weft", weft), ("plain", plain)):
                    told, _ = trial_of(TRIAL, what=asked[0], folder=str(feed), count=asked[1])
                    yield {"point": name, "way": way, "round": number, "rows": rows, **told}
                    _forget(feed)


def _points(
    full: bool,
) -> Iterator[tuple[str, int, int, int, tuple[str, int], tuple[str, int]]]:
    """Name, rows and number of micro-batches, event time of one, and what weft and plain run."""
    minute = 60 * SECOND
    yield "small", 10_000, 24, minute, ("stream", FEW), ("plain", 1)
    yield "batch", 1_000_000, 1, SPAN, ("batch", FEW), ("batch", 0)
    yield "many", 400_000, 12 if full else 8, SPAN, ("stream", MOST), ("plain", 1)
    if full:
        yield "large", 1_000_000, 12, SPAN, ("stream", MOST), ("plain", 0)


def _forget(feed: Path) -> None:
    """Remove answers and checkpoints, so that the next run begins anew."""
    for path in feed.parent.glob(f"{feed.name}-*"):
        shutil.rmtree(path, ignore_errors=True)


def _best(rows: Rows, point: str, way: str, column: str) -> float:
    return float(min(row[column] for row in pick(rows, point=point, way=way)))


def claim(rows: Rows) -> Claim:
    """Which of our own targets are met."""

    def pair(point: str, column: str) -> tuple[float, float]:
        weft, plain = (_best(rows, point, way, column) for way in ("weft", "plain"))
        return weft, plain

    said: list[str] = []
    held: list[bool] = []

    def seconds(what: str, point: str, column: str, target: float) -> None:
        weft, plain = pair(point, column)
        said.append(f"{what} {weft:.2f} s (one plain query {plain:.2f} s; target {target:g} s)")
        held.append(weft <= target)

    seconds(f"first micro-batch, {FEW} queries", "small", "first_s", FIRST)
    seconds(f"small micro-batch, {FEW} queries", "small", "batch_s", SMALL)
    seconds(f"first answers of a batch, {FEW} queries", "batch", "first_s", ANSWER)
    for point, what, target in (
        ("many", f"{MOST} queries on 400,000 rows, of one plain tumbling query", MANY),
        ("large", f"{MOST} queries on 1,000,000 rows, of one plain groupBy by key", LARGE),
    ):
        if pick(rows, point=point):
            weft, plain = pair(point, "batch_s")
            said.append(f"{what}: {weft / plain:.2f}x (target {target:g}x)")
            held.append(weft / plain <= target)
    return Claim(
        paper="none (our targets)", ours="; ".join(said), holds=all(held), also=tuple(said)
    )
