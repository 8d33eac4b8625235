"""Windows of windows on streams: answers are held, released, run again, paused and dropped."""

from __future__ import annotations

from pathlib import Path

from same import AXIS
from test_running import wait_for

import weft
from conftest import MINUTE, START, Feed
from weft.spark.streaming.held import HeldAnswers
from weft.spark.streaming.verify import verify_answers

TENS = "SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '10 minutes'), k"
HALVES = f"""
    WITH c AS ({TENS})
    SELECT window(window, '30 minutes') AS w, k, max(n) AS m, count(*) AS tens
    FROM c GROUP BY window(window, '30 minutes'), k"""


def test_a_micro_batch_that_is_run_again_holds_and_releases_the_same(
    spark: object, tmp_path: Path
) -> None:
    def answers(*ends: int) -> object:
        return spark.createDataFrame(
            [(end, f"of {end}") for end in ends], "`edge` int, `a.b` string"
        )

    def micro_batch(number: int, frontier: int | None, *ends: int) -> list[int]:
        held = HeldAnswers(str(tmp_path / "ck"))  # as after a crash
        held.begin(number, frontier, [3])
        due = held.exchange(3, answers(*ends), "edge + pmod(-edge, 10)")
        if due is None:
            return []
        assert due.columns == ["edge", "a.b"]
        found = sorted(tuple(row) for row in due.collect())
        assert [text for _, text in found] == [f"of {end}" for end, _ in found]
        return [end for end, _ in found]

    for _ in range(2):
        assert micro_batch(0, None, 1, 2, 12) == []
    for _ in range(2):
        assert micro_batch(1, 9, 10, 19) == []
    for _ in range(3):
        assert micro_batch(2, 10, 13, 10) == [1, 2, 10, 10]
    assert micro_batch(3, 10, 14) == []
    for _ in range(2):
        assert micro_batch(7, 45, 43) == [12, 13, 14, 19]
    assert micro_batch(8, 45) == []
    kept = {path.name for path in (tmp_path / "ck/weft/held/3").iterdir() if path.is_dir()}
    assert kept == {"edge=50"}
    gone = HeldAnswers(str(tmp_path / "ck"))
    gone.begin(9, 46, [4])
    assert not (tmp_path / "ck/weft/held/3").exists()
    for _ in range(2):
        gone.clear()
    assert micro_batch(10, 60, 55) == [55]


def test_a_statement_of_outer_windows_comes_is_paused_and_goes(
    spark: object, feed: Feed, tmp_path: Path
) -> None:
    """Halves of an hour end 17, 47, 77, ... minutes after the feed's start, less 20 seconds."""
    feed.minutes(0, 32)
    out, checkpoint = str(tmp_path / "out"), tmp_path / "ck"
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="1 minute", offer=["k"])
    loom.add(TENS, name="tens")
    running = loom.start(out, checkpoint=str(checkpoint), trigger="100 milliseconds")
    seen = 32

    def until(minute: int) -> None:
        nonlocal seen
        feed.minutes(seen, minute + 2)
        seen = minute + 2
        feed.minutes(seen, seen + 1, rows=3)  # so that the watermark is seen to move
        wait_for(lambda: (running.status().watermark or 0) >= START + minute * MINUTE)

    def answered() -> set[int]:
        """The starts of the answered half hours, in minutes; each must have all its ten minutes."""
        rows = weft.read_results(spark, out, "halves").collect()
        assert {row["tens"] for row in rows} <= {3}
        return {int(row["w"]["start"].timestamp() - START // 1_000_000) // 60 for row in rows}

    try:
        wait_for(lambda: (running.status().watermark or 0) > START)
        running.add(HALVES, name="halves")  # in the middle of the second half
        until(77)
        frontier = running.status().watermark
        report = verify_answers(
            feed.batch(spark),
            AXIS,
            running.catalogue,
            frontier,
            lambda name: weft.read_results(spark, out, name),
        )
        assert [one for one in report if not one.ok] == []
        assert answered() == {46}
        running.pause("halves")
        until(107)
        running.resume("halves")
        until(137)
        assert answered() == {46, 106}
        held = checkpoint / "weft/held"
        numbers = {path.name for path in held.iterdir() if path.name.isdigit()}
        assert numbers == {str(running.catalogue.entry("halves").number)}
        running.drop("halves")
        until(150)
        assert not any((held / number).exists() for number in numbers)
    finally:
        running.stop()
