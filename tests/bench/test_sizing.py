"""The arithmetic of docs/sizing.md: constants come back from points that were made with them."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.support.harness import Bench, CannotRun
from benchmarks.support.page import BEGIN, END
from benchmarks.support.sizing import CORES, LOADS, PAGE, Costs, costs, page, steady

BATCHES = 10
MADE = Costs(row=2.0, group=3.0, window=400.0, state=40.0, shuffle=60.0)


def point(curve: str, rows: int, keys: int, shards: float, answers: float) -> dict[str, Any]:
    """A point of `scale` whose micro-batches take what `MADE` says."""
    work = rows * MADE.row + (shards + answers) * MADE.group + answers / keys * MADE.window
    seconds = work / 1e6 / CORES
    return {
        "curve": curve, "keys": keys, "rows": rows * BATCHES, "batches": BATCHES,
        "shards_per_batch": shards,
        "answers_in_all": answers * (BATCHES - 1), "start_s": 4.0, "first_s": 2.0,
        "seconds": 6.0 + seconds * (BATCHES - 1),
        "held_shards": shards * BATCHES, "state_bytes": MADE.state * shards * BATCHES,
        "shuffle_bytes": MADE.shuffle * shards * BATCHES,
    }  # fmt: skip


POINTS = [
    point("stream: keys", 100_000, 50, 100, 50),
    point("stream: keys", 100_000, 5_000, 50_000, 9_000),
    point("stream: keys", 100_000, 10_000, 90_000, 40_000),
    point("stream: queries", 100_000, 100, 1_000, 3_000),
    point("stream: queries", 100_000, 100, 2_000, 90_000),
]


def test_the_constants_come_back() -> None:
    found = costs(POINTS)
    for name in ("row", "group", "window", "state", "shuffle"):
        assert getattr(found, name) == pytest.approx(getattr(MADE, name)), name


def test_a_point_that_was_not_used_is_predicted() -> None:
    assert costs(POINTS).seconds(POINTS[1]) == pytest.approx(steady(POINTS[1]))


def test_no_cost_is_below_zero() -> None:
    cheaper = [*POINTS[:-1], POINTS[-1] | {"seconds": 6.5}]
    found = costs(cheaper)
    assert min(found.row, found.group, found.window) >= 0


def test_the_example_of_the_page() -> None:
    company = LOADS[1]
    assert round(company.shards) == 16_667
    assert round(company.answers) == 33_333
    text = PAGE.read_text(encoding="utf-8")
    assert "16,667" in text
    assert "33,333" in text


def test_an_unfinished_run_is_named() -> None:
    with pytest.raises(CannotRun, match="run scale"):
        costs(POINTS[:1])


def test_the_page_is_made_from_the_results() -> None:
    inside = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    made = page() if Bench("scale").file.exists() else ""
    assert inside.strip() == made.strip(), "python -m benchmarks draw"
