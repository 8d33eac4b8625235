"""emit="eager": windows are answered by the micro-batch whose rows close them."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from conftest import MINUTE, Feed
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Session, Window

QUERIES = [
    Query("tens", aggs={"n": "count(*)", "s": "sum(x)"}, window=Window(range="10 minutes"), by="k"),
    Query("slides", aggs={"hi": "max(x)", "n": "count(*)"},
          window=Window(range="20 minutes", slide="5 minutes"), where="b"),
    Query("visits", aggs={"n": "count(*)"}, window=Session(gap="40 seconds"), by="k"),
]  # fmt: skip
HOURS = """SELECT window(window, '1 hour').end AS until, max(n) AS m FROM (
    SELECT window, count(*) AS n FROM t GROUP BY window(ts, '10 minutes'))
    GROUP BY window(window, '1 hour')"""
DELAY = 5


def loom(spark: object, feed: Feed) -> weft.Loom:
    made = weft.Loom(feed.stream(spark), time="ts", watermark=f"{DELAY} minutes")
    for query in QUERIES:
        made.add(query)
    made.add(HOURS, name="hours")
    return made


def rows(frame: object) -> list[str]:
    return sorted(str(tuple(row)) for row in frame.collect())


def assert_closed(spark: object, feed: Feed, out: str, frontier: int) -> None:
    """Check that all windows that the rows close are answered as Spark answers over all rows."""
    feed.batch(spark).createOrReplaceTempView("t")
    plain = weft.Loom(feed.batch(spark), time="ts")
    for query in QUERIES:
        plain.add(query)
    expected = plain.run()
    for query in QUERIES:
        # Spark pushes a condition on sessions down to rows, unless it is nondeterministic.
        closed = f"unix_micros(window.end) <= {frontier} + floor(rand())"
        due = expected[query.name].where(closed)
        assert rows(weft.read_results(spark, out, query.name)) == rows(due), query.name
    due = spark.sql(HOURS).where(f"unix_micros(until) <= {frontier}")
    assert rows(weft.read_results(spark, out, "hours")) == rows(due)


def test_windows_are_answered_at_once_and_the_choice_may_change(
    spark: object, feed: Feed, tmp_path: Path
) -> None:
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")

    def go_on(first: int, last: int, emit: str | None) -> int:
        """Run over some more minutes; the windows that their last rows close are answered."""
        for minute in range(first, last, 11):
            feed.minutes(minute, minute + 11, rows=60, late=2.0)
        begun = loom(spark, feed).start(
            out, checkpoint=checkpoint, trigger="available_now", emit=emit
        )
        begun.await_termination()
        seen = feed.batch(spark).selectExpr("max(unix_micros(ts)) AS t").first()["t"]
        assert_closed(spark, feed, out, seen // 1000 * 1000 - DELAY * MINUTE)
        return begun.progress.batch

    assert go_on(0, 33, "eager") == feed.count - 1  # no micro-batch without rows
    assert weft.read_results(spark, out, "tens").count() > 0
    assert go_on(33, 66, None) == feed.count - 1  # as it was
    assert weft.read_results(spark, out, "hours").count() > 0
    assert go_on(66, 88, "watermark") > feed.count - 1
    go_on(88, 110, "eager")


def test_rows_later_than_the_delay_are_dropped_by_the_next_micro_batch(
    spark: object, feed: Feed, tmp_path: Path
) -> None:
    out = str(tmp_path / "out")
    for minute in range(0, 60, 6):
        feed.minutes(minute, minute + 6, rows=80, late=30.0)
    begun = loom(spark, feed).start(
        out, checkpoint=str(tmp_path / "ck"), trigger="available_now", emit="eager"
    )
    begun.await_termination()
    expected: dict[tuple[int, object], int] = {}
    seen = 0
    for file in sorted(feed.folder.iterdir()):
        times = spark.read.parquet(str(file)).selectExpr("unix_micros(ts) AS t", "k").collect()
        closed = max(0, seen // 1000 * 1000 - DELAY * MINUTE)
        for row in times:
            end = row["t"] // (10 * MINUTE) * 10 * MINUTE + 10 * MINUTE
            if end > closed:
                expected[end, row["k"]] = expected.get((end, row["k"]), 0) + 1
        seen = max(seen, *(row["t"] for row in times))
    frontier = seen // 1000 * 1000 - DELAY * MINUTE
    due = {key: n for key, n in expected.items() if key[0] <= frontier}
    found = weft.read_results(spark, out, "tens").selectExpr(
        "unix_micros(window.end) AS end", "k", "n"
    )
    assert {(row["end"], row["k"]): row["n"] for row in found.collect()} == due
    whole = feed.batch(spark).count()
    assert sum(expected.values()) < whole  # some were late


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"emit": "soon"}, "emit='soon': accepted are watermark, eager"),
        ({"emit": "eager", "output_mode": "update"}, "output_mode='update' does not"),
        ({"emit": "eager", "engine": "rewrite"}, "engine='rewrite' does not"),
    ],
)
def test_what_cannot_be_eager_is_refused(
    spark: object, feed: Feed, tmp_path: Path, options: dict[str, str], reason: str
) -> None:
    feed.minutes(0, 1, rows=5)
    plain = weft.Loom(feed.stream(spark), time="ts", watermark="5 minutes")
    plain.add(QUERIES[0])
    with pytest.raises(EngineError, match=reason):
        plain.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), **options)
