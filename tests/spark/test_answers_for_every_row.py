"""Azure's SlidingWindow, LAG, LAST, ISFIRST and CollectTop, and CQL's ROWS match their definitions.

The oracle is each definition, written in Python over all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from weft.query.sql import read_statements
from weft.spark.whole import WholeBatch

START = datetime(2026, 3, 1, tzinfo=timezone.utc)
Rows = list[tuple[int, str, int]]
"""Second, key and value; the random rows all have different seconds."""


def frame(spark: SparkSession, rows: Iterable[tuple[int, str, int]]) -> DataFrame:
    made = [(START + timedelta(seconds=second), k, x) for second, k, x in rows]
    return spark.createDataFrame(made, "ts TIMESTAMP, k STRING, x INT")


def second(time: datetime) -> int:
    return round((time.astimezone(timezone.utc) - START).total_seconds())


def answered(spark: SparkSession, rows: Rows, sql: str) -> list[Row]:
    with WholeBatch(spark, {"t": frame(spark, rows)}, (), read_statements(sql)) as whole:
        (asked,) = whole.asked
        assert asked.error is None, asked.error
        return whole.use(asked, lambda found, again: found.collect())


@pytest.fixture(scope="module")
def rows() -> Rows:
    chance = Random(7)
    return [(at, chance.choice("ab"), chance.randrange(9)) for at in chance.sample(range(400), 60)]


def test_the_documented_sliding_window(spark: SparkSession) -> None:
    sql = (
        "SELECT System.Timestamp() AS at, COUNT(*) AS n FROM t TIMESTAMP BY ts "
        "GROUP BY SlidingWindow(second, 5)"
    )
    found = answered(spark, [(34, "A", 0), (38, "B", 0), (42, "C", 0)], sql)
    assert sorted((second(row.at), row.n) for row in found) == [
        (34, 1), (38, 2), (39, 1), (42, 2), (43, 1),
    ]  # fmt: skip


def test_sliding_windows_by_key_with_where_and_having(spark: SparkSession, rows: Rows) -> None:
    sql = (
        "SELECT k, System.Timestamp() AS at, SUM(x) AS s FROM t TIMESTAMP BY ts WHERE x > 1 "
        "GROUP BY k, SlidingWindow(Duration(second, 30)) HAVING COUNT(*) >= 2"
    )
    found = sorted((row.k, second(row["at"]), row.s) for row in answered(spark, rows, sql))
    kept = [row for row in rows if row[2] > 1]
    expected = []
    for k in "ab":
        for at in {a + more for a, own, _ in kept if own == k for more in (0, 30)}:
            inside = [x for a, own, x in kept if own == k and at - 30 < a <= at]
            if len(inside) >= 2:
                expected.append((k, at, sum(inside)))
    assert found == sorted(expected)
    assert found


def before(rows: Rows, at: int, k: str | None, span: int, when: Callable[[int], bool]) -> Rows:
    """The rows within a time before a row, including it, oldest first."""
    return sorted(
        row for row in rows
        if at - span < row[0] <= at and (k is None or row[1] == k) and when(row[2])
    )  # fmt: skip


LOOKS: dict[str, Callable[[Rows, int, str, int], Any]] = {
    "LAG(x) OVER (PARTITION BY k LIMIT DURATION(second, 20))": lambda rows, at, k, x: (
        [None, *(r[2] for r in before(rows, at, k, 20, bool_of_any))][-2]
    ),
    "LAG(x, 2, -1) OVER (LIMIT DURATION(minute, 1))": lambda rows, at, k, x: (
        [-1, -1, *(r[2] for r in before(rows, at, None, 60, bool_of_any))][-3]
    ),
    "LAG(x) OVER (PARTITION BY k LIMIT DURATION(minute, 1) WHEN x > 4)": lambda rows, at, k, x: (
        [None, *(r[2] for r in before(rows, at, k, 60, over_four) if r[0] < at)][-1]
    ),
    "LAST(x, -5) OVER (PARTITION BY k LIMIT DURATION(minute, 1) WHEN x > 4)": (
        lambda rows, at, k, x: [-5, *(r[2] for r in before(rows, at, k, 60, over_four))][-1]
    ),
    "ISFIRST(minute, 1) OVER (PARTITION BY k WHEN x > 4)": lambda rows, at, k, x: int(
        x > 4
        and not any(
            (a - 1) // 60 == (at - 1) // 60 and a < at and own == k and y > 4
            for a, own, y in rows
        )
    ),
    "ISFIRST(second, 30)": lambda rows, at, k, x: int(
        not any((a - 1) // 30 == (at - 1) // 30 and a < at for a, _, _ in rows)
    ),
}  # fmt: skip


def bool_of_any(x: int) -> bool:
    return True


def over_four(x: int) -> bool:
    return x > 4


@pytest.mark.parametrize("look", LOOKS)
def test_what_looks_at_other_rows_does_so_before_where(
    spark: SparkSession, rows: Rows, look: str
) -> None:
    sql = f"SELECT *, {look} AS found FROM t TIMESTAMP BY ts WHERE x <> 3"
    found = answered(spark, rows, sql)
    assert found[0].asDict().keys() == {"ts", "k", "x", "found"}
    assert {(second(row.ts), row.found) for row in found} == {
        (at, LOOKS[look](rows, at, k, x)) for at, k, x in rows if x != 3
    }


def test_collect_top_has_ranks_and_rows(spark: SparkSession, rows: Rows) -> None:
    sql = (
        "SELECT k, CollectTop(2) OVER (ORDER BY x DESC, ts DESC) AS top FROM t TIMESTAMP BY ts "
        "GROUP BY k, TumblingWindow(day, 1)"
    )
    for row in answered(spark, rows, sql):
        best = sorted(((x, at) for at, k, x in rows if k == row.k), reverse=True)[:2]
        assert [(one.rank, one.value.x, second(one.value.ts)) for one in row.top] == [
            (rank, x, at) for rank, (x, at) in enumerate(best, start=1)
        ]


def test_apply_and_a_join_by_the_times_of_tables(spark: SparkSession, rows: Rows) -> None:
    sql = (
        "SELECT a.k, a.x AS x, b.x AS y FROM t a TIMESTAMP BY ts JOIN t b TIMESTAMP BY ts "
        "ON DATEDIFF(second, a, b) BETWEEN 1 AND 9 AND a.k = b.k"
    )
    found = sorted((row.k, row.x, row.y) for row in answered(spark, rows, sql))
    assert found == sorted(
        (k, x, y) for at, k, x in rows for later, own, y in rows
        if k == own and 1 <= later - at <= 9
    )  # fmt: skip
    applied = (
        "SELECT e.ArrayValue AS v FROM t TIMESTAMP BY ts "
        "CROSS APPLY GetArrayElements(array(x, x + 1)) AS e"
    )
    assert len(answered(spark, rows, applied)) == 2 * len(rows)


@pytest.mark.parametrize("count", [1, 7])
def test_the_last_rows_come_first_and_where_after_them(
    spark: SparkSession, rows: Rows, count: int
) -> None:
    sql = f"SELECT k, sum(x) AS s FROM t [ROWS {count}] WHERE x > 2 GROUP BY k"
    found = sorted((row.k, row.s) for row in answered(spark, rows, sql))
    expected = []
    for at, k, x in rows:
        last = sorted(row for row in rows if row[0] <= at)[-count:]
        if x > 2:
            expected.append((k, sum(y for _, own, y in last if own == k and y > 2)))
    assert found == sorted(expected)
    parted = f"SELECT k, max(x) AS s FROM t [PARTITION BY k ROWS {count}] GROUP BY k"
    assert sorted((row.k, row.s) for row in answered(spark, rows, parted)) == sorted(
        (k, max(y for _, _, y in sorted(r for r in rows if r[0] <= at and r[1] == k)[-count:]))
        for at, k, _ in rows
    )


def test_a_range_that_moves_with_every_row(spark: SparkSession, rows: Rows) -> None:
    sql = "SELECT k, count(*) AS n FROM t [RANGE '20 seconds'] GROUP BY k HAVING count(*) > 1"
    found = sorted((row.k, row.n) for row in answered(spark, rows, sql))
    counts = [(k, sum(own == k and at - 20 <= a <= at for a, own, _ in rows)) for at, k, _ in rows]
    assert found == sorted(one for one in counts if one[1] > 1)


def test_ksqldbs_rowtime_is_the_time_of_the_stream(spark: SparkSession, rows: Rows) -> None:
    sql = (
        "SELECT k, max(ROWTIME) AS latest FROM t WINDOW TUMBLING (SIZE 1 HOUR) "
        "GROUP BY k EMIT CHANGES"
    )
    found = {row.k: row.latest for row in answered(spark, rows, sql)}
    start = int(START.timestamp() * 1000)
    assert found == {k: start + 1000 * max(at for at, own, _ in rows if own == k) for k in "ab"}
