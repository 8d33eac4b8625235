"""late="deliver": rows that some query lost are written to a separate folder, with the reason."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

import weft
from conftest import MINUTE, START, Feed
from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.sinks.late_files import LateFiles
from weft.stream.progress import ProgressFile

COUNT = {"n": "count(*)"}
DELAY = 5
BERLIN = ZoneInfo("Europe/Berlin")
QUERIES = [
    Query("tens", aggs=COUNT, window=Window(range="10 minutes"), by="k"),
    Query("slides", aggs=COUNT, window=Window(range="20 minutes", slide="5 minutes"), where="b"),
    Query("gaps", aggs=COUNT, window=Window(range="3 minutes", slide="7 minutes"), where="g > 0"),
    Query("again", aggs={"s": "sum(x)"}, window=Window(range="10 minutes"), by="g"),
    Query("nulls", aggs=COUNT, window=Window(range="2 minutes"), where="nullif(g, 1) = 2 -- two"),
    Query("visits", aggs=COUNT, window=Session(gap="90 seconds"), by="k"),
    Query("days", aggs=COUNT, window=weft.Calendar(range="1 day", zone="Europe/Berlin")),
    Query("waits", aggs=COUNT, window=Window(range="10 minutes"), lateness="15 minutes"),
]


def fixed(range: int, slide: int) -> Callable[[int, int], bool]:
    """Whether a time is in some window, and all its windows end by the frontier."""

    def late(time: int, frontier: int) -> bool:
        starts = [
            s
            for s in (
                time // (slide * MINUTE) * slide * MINUTE - k * slide * MINUTE
                for k in np.arange(9).tolist()
            )
            if s <= time < s + range * MINUTE
        ]
        return bool(starts) and all(start + range * MINUTE <= frontier for start in starts)

    return late


def of_a_day(time: int, frontier: int) -> bool:
    if time < 0:
        return True
    local = datetime.fromtimestamp(time / 1e6, BERLIN)
    end = datetime(local.year, local.month, local.day, tzinfo=BERLIN) + timedelta(days=1)
    return end.astimezone(timezone.utc).timestamp() * 1e6 <= frontier


def later(frontier: int) -> int:
    """The frontier of a query with a lateness of a quarter of an hour."""
    return max(0, frontier - 15 * MINUTE)


LATE: dict[str, tuple[Callable[[dict], bool], Callable[[int, int], bool]]] = {
    "tens": (lambda row: True, fixed(10, 10)),
    "slides": (lambda row: row["b"], fixed(20, 5)),
    "gaps": (lambda row: row["g"] > 0, fixed(3, 7)),
    "again": (lambda row: True, fixed(10, 10)),
    "nulls": (lambda row: row["g"] == 2, fixed(2, 2)),
    "visits": (lambda row: True, lambda time, frontier: time + 90_000_000 <= frontier),
    "days": (lambda row: True, of_a_day),
    "waits": (lambda row: True, lambda time, frontier: fixed(10, 10)(time, later(frontier))),
}  # fmt: skip
Row = tuple[int, str, tuple[str, ...], int]


class Source:
    """A feed that records its rows, and the micro-batch in which each file is read."""

    def __init__(self, feed: Feed, *names: str) -> None:
        self.feed, self.batches = feed, list[list[dict]]()
        self.names = names or tuple(LATE)
        self.random = np.random.default_rng(5)

    def put(self, first: float, *more: int, rows: int = 60, behind: float = 40.0) -> None:
        """Write ten minutes of rows, a third of them up to `behind` minutes late, and `more`."""
        times = START + self.random.integers(int(first * MINUTE), int((first + 10) * MINUTE), rows)
        back = self.random.integers(0, int(behind * MINUTE), rows)
        times = np.where(self.random.random(rows) < 0.3, times - back, times)
        times = np.concatenate([times, np.array(more, dtype=np.int64)])
        x = np.arange(len(times)) + 1000 * len(self.batches)
        g, b = self.random.integers(0, 3, len(times)), self.random.random(len(times)) < 0.5
        self.feed.put(times, x=pa.array(x), g=pa.array(g, pa.int32()), b=pa.array(b))
        columns = (times.tolist(), x.tolist(), g.tolist(), b.tolist())
        self.batches.append(
            [dict(zip("txgb", row, strict=True)) for row in zip(*columns, strict=True)]
        )

    def empty(self) -> None:
        """Note a micro-batch without rows, in which Spark closes windows at the end of a run."""
        self.batches.append([])

    def lost(self, far: int) -> list[Row]:
        """The lost rows by definition; rows at or after `far` are too far ahead."""
        found: list[Row] = []
        frontiers, seen = [0], 0  # Spark's watermark begins at 1970
        for number, batch in enumerate(self.batches):
            # The micro-batch before has answered by the watermark of all those before it.
            frontier = frontiers[max(0, number - 1)]
            for row in batch:
                if row["t"] >= far:
                    found.append((row["x"], "ahead", self.names, number))
                    continue
                losing = []
                for name in sorted(self.names):
                    takes, late = LATE[name]
                    losing += [name] if takes(row) and late(row["t"], frontier) else []
                if losing:
                    found.append((row["x"], "late", tuple(losing), number))
            seen = max([seen, *(row["t"] for row in batch if row["t"] < far)])
            frontiers.append(max(frontiers[-1], seen // 1000 * 1000 - DELAY * MINUTE))
        return sorted(found)


def run(spark: object, source: Source, folder: Path, *more: Query) -> object:
    loom = weft.Loom(source.feed.stream(spark), time="ts", watermark=f"{DELAY} minutes")
    for query in (*(query for query in QUERIES if query.name in source.names), *more):
        loom.add(query)
    running = loom.start(
        str(folder / "out"),
        checkpoint=str(folder / "ck"),
        trigger="available_now",
        late="deliver",
        late_to=str(folder / "lost"),
    )
    running.await_termination()
    return running


def delivered(spark: object, folder: Path) -> list[Row]:
    rows = weft.read_late(spark, str(folder / "lost"))
    found = rows.select("x", "weft_reason", "weft_queries", "weft_batch").collect()
    return sorted((x, reason, tuple(names), batch) for x, reason, names, batch in found)


def assert_counted(running: object, found: list[Row]) -> None:
    """Check that the number of delivered rows of every query is its count of late rows."""
    names = Counter(name for _, reason, names, _ in found if reason == "late" for name in names)
    status = running.status()
    assert {one.name: names[one.name] for one in status.queries} == {
        one.name: one.late_rows for one in status.queries
    }
    assert status.ahead_rows == sum(reason == "ahead" for _, reason, _, _ in found)


def test_what_is_delivered_is_what_is_counted_and_what_the_definition_says(
    spark: object, feed: Feed, tmp_path: Path
) -> None:
    """Tested with predicates, sliding windows, gaps, sessions, days, rows ahead, and a restart."""
    source, far = Source(feed), time.time_ns() // 1000 + 1000 * 86_400_000_000
    for first in (0, 10, 40):
        source.put(first)
    run(spark, source, tmp_path)
    assert delivered(spark, tmp_path) == source.lost(far)
    source.empty()
    source.put(50, far, far + 5, START, -5, -(2**63))
    source.put(1500)  # a day later
    source.put(1510, START + 20 * MINUTE)
    source.put(1520, START + 70 * MINUTE, behind=1600)
    running = run(spark, source, tmp_path)
    found = delivered(spark, tmp_path)
    assert found == source.lost(far)
    assert_counted(running, found)
    assert Counter(reason for _, reason, _, _ in found)["ahead"] == 2
    assert len({names for _, _, names, _ in found}) > 10
    rows = weft.read_late(spark, str(tmp_path / "lost"))
    assert rows.columns[:-3] == feed.batch(spark).columns
    whole = feed.batch(spark).join(rows.select("x"), "x", "semi")
    assert not rows.select(whole.columns).exceptAll(whole).take(1)  # with all their values


def test_a_micro_batch_that_is_run_again_delivers_once(
    spark: object, feed: Feed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(feed, "tens", "slides")
    for first in (0, 10, 40, 50):
        source.put(first, behind=60)
    write, commit = ProgressFile.write, LateFiles.commit

    def failing(where: type, name: str, good: Callable, is_due: Callable[..., bool]) -> None:
        def once(self: object, given: object) -> None:
            if is_due(given):
                monkeypatch.setattr(where, name, good)
                raise OSError("pulled the plug")
            good(self, given)

        monkeypatch.setattr(where, name, once)

    # A crash before its rows are read: the next start delivers them.
    failing(LateFiles, "commit", commit, lambda batch: batch == 2)
    with pytest.raises(Exception, match="pulled the plug"):
        run(spark, source, tmp_path)
    assert {row[3] for row in delivered(spark, tmp_path)} <= {0, 1}
    # A crash after they are read and before Spark's commit: they are delivered again.
    failing(ProgressFile, "write", write, lambda progress: progress.batch == 3)
    with pytest.raises(Exception, match="pulled the plug"):
        run(spark, source, tmp_path)
    expected = source.lost(2**63)
    assert delivered(spark, tmp_path) == expected
    running = run(spark, source, tmp_path)
    assert delivered(spark, tmp_path) == expected
    assert_counted(running, expected)
    assert {2, 3} <= {row[3] for row in expected}


def test_an_integer_axis_and_eager_answers(spark: object, feed: Feed, tmp_path: Path) -> None:
    for first in (0, 20, 60):
        feed.minutes(first, first + 20, rows=50, late=50.0)
    stream = feed.stream(spark).selectExpr("*", "unix_seconds(ts) - 1700000000 AS i")
    loom = weft.Loom(stream, time="i", watermark="60")
    loom.add(Query("n", aggs=COUNT, window=Window(range=600, slide=300), where="x > 3"))
    running = loom.start(
        str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), trigger="available_now",
        emit="eager", late="deliver", late_to=str(tmp_path / "lost"),
    )  # fmt: skip
    running.await_termination()
    rows = weft.read_late(spark, str(tmp_path / "lost"))
    files = [spark.read.parquet(str(file)) for file in sorted(feed.folder.iterdir())]
    latest = [one.selectExpr("max(unix_seconds(ts) - 1700000000)").first()[0] for one in files]
    for number in (1, 2):
        frontier = max(latest[:number]) - 60
        ends = "(i - pmod(i, 300) + 600)"
        assert rows.where(f"weft_batch = {number} AND {ends} > {frontier}").count() == 0
    assert rows.where("x > 3").count() == rows.count() == running.status().query("n").late_rows > 0


def test_rows_on_which_a_query_failed(spark: object, feed: Feed, tmp_path: Path) -> None:
    """The other queries continue, and their late rows are as before."""
    source = Source(feed, "tens", "slides")
    for first in (0, 10, 40, 50):
        source.put(first, behind=60)
    zero = "IF(x IN (1003, 1040), 0, 1)"
    bad = Query("bad", aggs={"hi": f"max(x DIV {zero})"}, window=Window(range="1 hour"))
    key = Query("key", aggs=COUNT, window=Window(range="1 hour"), by=f"x DIV {zero} AS k")
    running = run(spark, source, tmp_path, bad, key)
    assert {one.query.name: one.batch for one in running.catalogue.failed} == {"bad": 1, "key": 1}
    found = delivered(spark, tmp_path)
    failed = [row for row in found if row[1] == "failed"]
    assert failed == [(x, "failed", ("bad", "key"), 1) for x in (1003, 1040)]
    assert [row for row in found if row[1] != "failed"] == source.lost(2**63) != []


def test_a_source_that_gives_other_rows_again_ends_the_stream(
    spark: object, feed: Feed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(feed, "tens")
    for first in (0, 10, 40, 50):
        source.put(first, behind=60)
    assert source.lost(2**63)
    monkeypatch.setattr("weft.spark.streaming.lost_rows.losers", lambda *_: [])
    with pytest.raises(Exception, match="read again it has 0 and 0, so the source does not give"):
        run(spark, source, tmp_path)
    assert delivered(spark, tmp_path) == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"late": "keep"}, "late='keep': accepted are count, deliver"),
        ({"late": "deliver"}, "say where to, with late_to="),
        ({"late_to": "lost"}, "late_to='lost': goes with late='deliver'"),
        ({"late": "deliver", "late_to": "ck/lost"}, "late_to '.*' lies in the checkpoint"),
        ({"late": "deliver", "late_to": "out"}, "late_to '.*' is the sink's path"),
        ({"late": "deliver", "late_to": "lost", "engine": "rewrite"}, "use engine='operator'"),
        ({"late": "deliver", "late_to": "lost", "df": "renamed"}, "column 'WEFT_batch'"),
        ({"late": "deliver", "late_to": "lost", "df": "void"}, "column 'v' is of type void"),
        ({"late": "deliver", "late_to": "lost", "df": "distinct"}, "a streaming Deduplicate"),
    ],
)
def test_what_cannot_be_delivered_is_refused(
    spark: object, feed: Feed, tmp_path: Path, options: dict[str, str], reason: str
) -> None:
    feed.minutes(0, 1, rows=5)
    df = feed.stream(spark)
    frames = {
        "renamed": df.withColumnRenamed("d", "WEFT_batch"),
        "void": df.selectExpr("*", "NULL AS v"),
        "distinct": df.dropDuplicates(),
    }
    given = dict(options)
    loom = weft.Loom(frames.get(given.pop("df", ""), df), time="ts", watermark="5 minutes")
    loom.add(QUERIES[0])
    if "/" in given.get("late_to", "") or given.get("late_to") == "out":
        given["late_to"] = str(tmp_path / given["late_to"])
    with pytest.raises(EngineError, match=reason):
        loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"), **given)
    assert not (tmp_path / "ck").exists()
