"""The comparisons and computations of the Spark benchmarks, without Spark."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest

from benchmarks.studies import beyond_auto, beyond_cost_model, growth
from benchmarks.support import loads, sharing, sparks
from benchmarks.support.harness import Bench, WrongAnswer
from weft.query.query import Query
from weft.query.window import Window

NOON = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)
QUERY = Query("q", aggs={"hi": "max(v)"}, window=Window(range="1 minute"), by=["k"])


def answers(*values: float, query: str | None = None) -> pa.Table:
    starts = [NOON + timedelta(minutes=number) for number in range(len(values))]
    columns = {
        "window": [{"start": at, "end": at + timedelta(minutes=1)} for at in starts],
        "k": [1] * len(values),
        "hi": list(values),
    }
    return pa.table(columns | ({"query": [query] * len(values)} if query else {}))


def test_equal_answers_are_counted_and_floats_may_differ_in_the_last_digits() -> None:
    found = answers(1.0, 2.0 + 1e-12, query="q")
    assert sparks.compare(found, [answers(1.0, 2.0)], [QUERY], "here") == 2


def test_a_differing_answer_fails() -> None:
    with pytest.raises(WrongAnswer, match=r"q: 1 of 2 values of hi .*2\.1, expected 2\.0"):
        sparks.compare(answers(1.0, 2.1, query="q"), [answers(1.0, 2.0)], [QUERY], "here")


def test_a_missing_answer_fails() -> None:
    with pytest.raises(WrongAnswer, match="1 answers, expected 2"):
        sparks.compare(answers(1.0, query="q"), [answers(1.0, 2.0)], [QUERY], "here")


def test_time_left_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(sparks.SECONDS, raising=False)
    assert sparks.time_left()()
    monkeypatch.setenv(sparks.SECONDS, "0")
    assert not sparks.time_left()()


def test_rank_correlation_shares_the_ranks_of_ties() -> None:
    assert loads.spearman([1, 2, 3, 4], [10, 20, 30, 400]) == pytest.approx(1.0)
    assert loads.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    assert loads.spearman([1, 1, 2, 2], [1, 1, 5, 5]) == pytest.approx(1.0)
    assert abs(loads.spearman([1, 2, 3, 4], [2, 4, 1, 3])) < 0.1


def test_random_workloads_are_the_same_every_time() -> None:
    for number in range(30):
        rows, keys, asked = loads.random_load(number)
        again = loads.random_load(number)
        assert (rows, keys) == again[:2]
        assert [query.window for query in asked] == [query.window for query in again[2]]
        assert len({(query.window.range, query.window.slide) for query in asked}) == len(asked)
        assert all(bool(query.keys) == (keys > 1) for query in asked)


def test_the_stream_fills_its_hour() -> None:
    table = loads.stream(1_000, 7)
    times = table["ts"].cast(pa.int64()).to_numpy()
    assert times[0] >= loads.START
    assert times[-1] < loads.START + loads.HOUR * loads.SECOND
    assert set(table["k"].to_pylist()) == set(range(7))


def test_as_many_distinct_queries_as_asked_for() -> None:
    assert len(growth.asked(300, 1)) == 300


def test_plans_are_ranked_by_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(self: Bench) -> list[dict[str, object]]:
        return [
            {
                "workload": number,
                "strategy": strategy,
                "chose": "factor" if strategy == "factor" else "weave",
                "predicted": float(number + 1),
                "seconds": 10.0 + number + place + (5.0 if strategy == "auto" else 0.0),
            }
            for number in range(4)
            for place, strategy in enumerate(("plain", *loads.STRATEGIES))
        ]

    monkeypatch.setattr(Bench, "rows", rows)
    found = beyond_cost_model.run(False)
    assert {row["what"] for row in found} == {*loads.STRATEGIES, "slices", "all"}
    assert next(row for row in found if row["what"] == "weave")["correlation"] == pytest.approx(1.0)
    judged = beyond_auto.run(False)
    assert [row["fastest"] for row in judged] == ["no_share"] * 4
    assert not any(row["within"] for row in judged)
    assert not beyond_auto.claim(judged).holds


def test_the_gain_over_plain_queries_is_told() -> None:
    rows = [
        {"workload": "A", "queries": n, "rows": 100, "strategy": strategy, "seconds": seconds,
         "partial": 10, "final": 5, "unshared_partial": 100}
        for n, times in ((8, (1.0, 2.0)), (32, (1.0, 8.0)))
        for strategy, seconds in zip(("weft", "plain, one by one"), times, strict=True)
    ]  # fmt: skip
    claim = sharing.told(rows, "19x", 16.0)
    assert claim.holds
    assert claim.ratio == pytest.approx(0.5)
    assert "8x" in claim.ours
    rows[-1]["seconds"] = 0.5
    assert not sharing.told(rows, "19x", 16.0).holds
