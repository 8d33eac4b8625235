"""As-of answers, compared with plain Spark over the rows of the micro-batches so far."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from engines import comparable
from pyspark.sql import functions as F
from same import AXIS, assert_same

from conftest import MINUTE, START
from weft.query.calendar import Calendar
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.sinks import read_results
from weft.spark.streaming.as_of import Asked, StateReader
from weft.spark.streaming.compile import compile_catalogue
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native
from weft.stream.catalogue_files import CatalogueFiles

MANY = {
    "n": "count(*)",
    "total": "sum(x)",
    "some": "sum(x) FILTER (WHERE g = 1)",
    "mean": "avg(y)",
    "lo": "min(y)",
    "spread": "stddev(x)",
    "decs": "avg(d)",
    "yes": "bool_or(b)",
    "who": "max_by(k, x)",
    "middle": "median(x)",
    "all_x": "collect_list(x)",
    "distinct": "count(DISTINCT x)",
}
"""One aggregate of each family, each with a different kind of state."""
QUERIES = [
    Query("many", aggs=MANY, window=Window(range="12 minutes", slide="5 minutes"), by=["k"]),
    Query(
        "filtered",
        aggs={"n": "count(*)", "ratio": "sum(y) / count(y)"},
        window=Window(range="10 minutes", slide="2 minutes", offset="1 minute"),
        by=["g", "upper(k) AS up"],
        where="x > 5",
        having="count(*) > 1",
    ),
    Query(
        "long",  # many slices a window, so that totals and structures are at work
        aggs={"n": "count(*)", "hi": "max(x)"},
        window=Window(range="2 hours", slide="30 seconds"),
    ),
    Query(
        "gaps",
        aggs={"n": "count(*)"},
        window=Window(range="7 minutes", slide="8 minutes"),
        by=["g"],
        where="b",
    ),
    Query("days", aggs={"s": "sum(x)"}, window=Calendar(range="1 day", zone="Asia/Kolkata")),
    Query("visits", aggs={"n": "count(*)"}, window=Session(gap="40 seconds"), by=["k"]),
]


@pytest.fixture
def streamed(spark, feed, tmp_path):
    """A stream with late rows over some micro-batches, stopped and started in the middle."""
    random = np.random.default_rng(20261117)

    def put(count: int) -> None:
        for _ in range(count):
            first = feed.count * 9
            late = float(random.choice([0, 4, 60]))
            feed.minutes(first, first + int(random.integers(4, 16)), rows=70, late=late)

    for finals in ("auto", "flatfit"):
        put(2)
        running = start(
            feed.stream(spark),
            AXIS,
            str(tmp_path / "out"),
            checkpoint=str(tmp_path / "ck"),
            watermark="5 minutes",
            queries=QUERIES,
            trigger="available_now",
            finals="auto" if finals == "auto" else None,
        )
        running.await_termination()
    return running


def log_of(checkpoint: Path) -> dict[int, tuple[int, int]]:
    """For every micro-batch, its watermark in milliseconds and the number of files read by then."""
    found = {}
    for number in sorted(
        int(p.name) for p in (checkpoint / "commits").iterdir() if p.name.isdigit()
    ):
        _, head, source = (checkpoint / "offsets" / str(number)).read_text().splitlines()
        found[number] = json.loads(head)["batchWatermarkMs"], json.loads(source)["logOffset"] + 1
    return found


def rows_up_to(spark, feed, log: dict[int, tuple[int, int]], batches: list[int]):
    """For each micro-batch `upto`, the rows that it has seen, with the watermark of each row."""
    frames, done = [], 0
    for number, (_, files) in log.items():
        for at in range(done, files):
            frame = spark.read.schema(feed.stream(spark).schema).parquet(
                str(feed.folder / f"{at:04d}.parquet")
            )
            before = log[number - 1][0] if number else 0
            upto = [batch for batch in batches if batch >= number]
            if upto:
                marked = frame.withColumn("wm", F.lit(before))
                frames.append(marked.withColumn("upto", F.explode(F.lit(upto))))
        done = files
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionAll(frame)
    return whole.cache()


def expected_rows(rows, query: Query) -> list:
    """Plain Spark's answers for all micro-batches at once, with `upto` as an additional key."""
    where = query.where
    if isinstance(query.window, Session):
        # Rows whose own session would already be closed are in no session.
        where = f"unix_micros(ts) + {query.window.range} > wm * 1000"
    asked = Query(
        query.name, aggs=query.aggs, window=query.window, by=[*query.by, "upto"], where=where,
        having=query.having,
    )  # fmt: skip
    return native(rows, AXIS, asked).collect()


def units(moment) -> int:
    return round(moment.timestamp() * 1_000_000)


def bounds_of(window) -> tuple[int, int]:
    return units(window["start"]), units(window["end"])


def test_equals_plain_spark_over_the_rows_up_to_the_micro_batch(spark, feed, tmp_path, streamed):
    checkpoint = tmp_path / "ck"
    log = log_of(checkpoint)
    random = np.random.default_rng(4)
    batches = sorted(random.choice(list(log)[1:], 2, replace=False).tolist())
    rows = rows_up_to(spark, feed, log, batches)
    catalogue = CatalogueFiles(str(checkpoint)).latest()
    compiled = compile_catalogue(catalogue, feed.stream(spark), AXIS)
    asked = Asked(catalogue, compiled, None)
    reader = StateReader(spark, str(checkpoint), AXIS)
    compared = Counter()
    for query in QUERIES:
        plain = expected_rows(rows, query)
        for batch in batches:
            frontier = log[batch][0] * 1000
            at = None
            if batch == batches[1] and query.name in ("many", "filtered", "long"):
                at = f"{np.datetime64(frontier + 7 * MINUTE, 'us')}Z"
            found = reader.answer(asked, query.name, at, batch=batch)
            assert (found.batch, found.watermark, found.open) == (batch, frontier, True)
            wanted = [row for row in plain if row["upto"] == batch]
            if found.window is None:
                wanted = [row for row in wanted if units(row["window"]["end"]) > frontier]
            else:
                wanted = [row for row in wanted if bounds_of(row["window"]) == found.window]
            # By name, because a catalogue that was read back has the aggregates in another order.
            names = sorted({*found.table.column_names} - {"window"})
            got = [(bounds_of(row["window"]), *(row[n] for n in names)) for row in found.rows()]
            told = [(bounds_of(row["window"]), *(row[n] for n in names)) for row in wanted]
            assert_same(
                f"{query.name} at {batch}",
                Counter(map(comparable, got)),
                Counter(map(comparable, told)),
            )
            compared[query.name] += len(told)
    assert min(compared.values()) > 0, compared

    # A closed window is read from the sink, and marked as final.
    frontier = streamed.progress.frontier
    found = streamed.answer("many", at=f"{np.datetime64(frontier - 6 * MINUTE, 'us')}Z")
    assert not found.open
    assert START < found.window[0] < found.window[1] <= frontier - 6 * MINUTE
    delivered = read_results(spark, str(tmp_path / "out"), "many").collect()
    same = [row["n"] for row in delivered if bounds_of(row["window"]) == found.window]
    assert sorted(same) == sorted(found.table.column("n").to_pylist())
    assert same
