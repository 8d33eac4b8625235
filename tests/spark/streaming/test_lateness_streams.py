"""Lateness on streams with changes, as-of answers and eager answers; and where it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_running import wait_for

import weft
from conftest import MINUTE, START, Feed
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.sinks import MemorySink
from weft.spark.streaming.verify import verify_answers

COUNT = {"n": "count(*)"}
TENS = Window(range="10 minutes")
OVER = """SELECT max(n) AS most FROM (
  SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '10 minutes'), k) GROUP BY window"""


def times(*minutes: float) -> np.ndarray:
    return np.array([START + int(minute * MINUTE) for minute in minutes])


def test_an_eager_stream_of_numbers(spark: object, feed: Feed, tmp_path: Path) -> None:
    """By definition, a window accepts the rows of a file if it was open before the file."""
    for first, late in ((0, 0.0), (10, 15.0), (30, 40.0), (45, 40.0), (60, 60.0)):
        feed.minutes(first, first + 10, rows=60, late=late)
    numbered = "unix_seconds(ts) - 1700000000"
    loom = weft.Loom(
        feed.stream(spark).selectExpr("*", f"{numbered} AS i"), time="i", watermark="60"
    )
    latenesses = {"at_once": 0, "later": 300, "last": 1500}
    for name, lateness in latenesses.items():
        window = Window(range=600, slide=300)
        loom.add(Query(name, aggs=COUNT, window=window, lateness=lateness))
    sink = MemorySink()
    running = loom.start(
        sink, checkpoint=str(tmp_path / "ck"), trigger="available_now", emit="eager"
    )
    running.await_termination()
    files = [
        [row[0] for row in spark.read.parquet(str(file)).selectExpr(numbered).collect()]
        for file in sorted(feed.folder.iterdir())
    ]
    lost = []
    for name, lateness in latenesses.items():
        taken: dict[int, int] = {}
        frontier = late = 0
        for read in files:
            for time in read:
                starts = [time - time % 300, time - time % 300 - 300]
                open_ = [start for start in starts if start + 600 > frontier]
                late += not open_
                for start in open_:
                    taken[start] = taken.get(start, 0) + 1
            frontier = max(frontier, max(read) - 60 - lateness)
        closed = {start: count for start, count in taken.items() if start + 600 <= frontier}
        assert {row.window.start: row.n for row in sink.rows[name]} == closed
        assert running.status().query(name).late_rows == late
        lost.append(late)
    assert lost[0] > lost[1] > lost[2] > 0


def test_added_with_backfill_asked_and_verified(spark: object, feed: Feed, tmp_path: Path) -> None:
    feed.minutes(0, 10, rows=80)
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="2 minutes")
    loom.add(Query("hour", aggs=COUNT, window=Window(range="1 hour", slide="5 minutes"), by="k"))
    running = loom.start(
        str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), trigger="100 milliseconds"
    )
    wait_for(lambda: running.progress.batch >= 0)
    feed.minutes(20, 30, rows=80)
    wait_for(lambda: (running.progress.frontier or 0) >= START + 27 * MINUTE)
    # Twenty to thirty minutes old, but not late for it: its slices are kept for the hour.
    patient = Query("patient", aggs=COUNT, window=TENS, by="k", lateness="30 minutes")
    running.add(patient, backfill=True)
    entry = running.catalogue.entry("patient")
    assert entry.complete_from <= START - 3 * MINUTE  # ended ten minutes ago and more
    feed.put(times(5, 6, 7, 25, 45))
    wait_for(lambda: (running.progress.frontier or 0) >= START + 42 * MINUTE)
    # Closed by the watermark, but open for the query.
    at = (START + 20 * MINUTE) // 1_000_000
    moment = np.datetime64(at, "s").astype("datetime64[us]").item()
    asked = running.answer("patient", at=moment)
    assert asked.open
    assert asked.window[1] <= START + 20 * MINUTE < running.progress.frontier
    assert asked.watermark <= running.progress.frontier - 30 * MINUTE
    assert running.status().query("patient").late_rows == 0
    found = verify_answers(
        feed.batch(spark),
        running.axis,
        running.catalogue,
        running.progress.frontier,
        lambda name: weft.read_results(spark, str(tmp_path / "out"), name),
    )
    mine = next(one for one in found if one.name == "patient")  # some rows are late for the other
    assert mine.ok, mine
    assert mine.rows > 5
    running.stop()


@pytest.mark.parametrize(
    ("asked", "options", "said"),
    [
        (Query("s", aggs=COUNT, window=Session(gap="1 minute"), lateness="1 hour"), {},
         "query 's': lateness='1 hour': sessions close by the stream's watermark only: leave"),
        (Query("q", aggs=COUNT, window=TENS, lateness="1 hour"), {"engine": "rewrite"},
         "query 'q': lateness='1 hour': engine='rewrite' .* use engine='operator'"),
        (f"-- name: most\n-- lateness: 1 hour\n{OVER}", {},
         "query 'most': lateness='1 hour': 'most' is SQL over the answers of windows .* leave"),
    ],
)  # fmt: skip
def test_what_is_refused(
    spark: object, feed: Feed, tmp_path: Path, asked: Query | str, options: dict, said: str
) -> None:
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    loom.add(asked) if isinstance(asked, Query) else loom.add(asked, name="most")
    with pytest.raises(EngineError, match=said):
        loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), **options)
    assert not (tmp_path / "ck").exists()


def test_a_batch_has_no_use_for_it(spark: object, feed: Feed) -> None:
    feed.minutes(0, 30)
    loom = weft.Loom(feed.batch(spark), time="ts")
    loom.add(Query("plain", aggs=COUNT, window=TENS, by="k"))
    loom.add(Query("late", aggs=COUNT, window=TENS, by="k", lateness="1 hour"))
    loom.add(Query("visits", aggs=COUNT, window=Session(gap="1 minute"), lateness="1 hour"))
    results = loom.run()
    assert results["late"].exceptAll(results["plain"]).count() == 0
    assert results["late"].count() == results["plain"].count() > 0
    assert results["visits"].count() > 0
