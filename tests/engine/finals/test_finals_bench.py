"""`weft bench finals`: the whole of it at a small size, its answers checked, wrong ones noticed."""

from __future__ import annotations

import numpy as np
import pytest

from weft.bench import finals
from weft.bench.report import BenchReport
from weft.bench.slide_latency import spike
from weft.engine.finals.slides import slides

RNG = np.random.default_rng(5)


def test_the_oracle_is_a_sliding_maximum() -> None:
    values = RNG.random(50)
    for window in (1, 2, 5, 8, 13):
        want = [values[max(0, at + 1 - window) : at + 1].max() for at in range(50)]
        assert finals._sliding_max(values, window)[window:].tolist() == want[window:]


def test_every_part_gives_rows_and_no_wrong_answers() -> None:
    report = BenchReport()
    finals.one_range(report, RNG, [4, 256], 2000)
    finals.every_range(report, RNG, [4, 16])
    finals.memory(report, [8, 9])
    finals._batch(report, RNG, 20_000)
    assert report.failures == []
    kinds = [next(iter(row)) for row in report.rows]
    assert kinds == ["one range of"] * 2 + ["every range to"] * 2 + ["memory of"] * 2 + [
        "batch of partials"
    ]
    by_window = {row["memory of"]: row for row in report.rows if "memory of" in row}
    # FlatFAT rounds up to a power of two and doubles; FlatFIT holds two numbers a slice.
    assert by_window[9]["flatfat bytes"] == 2 * 16 * 8
    assert by_window[9]["flatfit bytes"] == 2 * 9 * 8
    assert len(report.summary) == 6


def test_a_wrong_answer_fails_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: object, **kwargs: object) -> object:
        answers = slides(*args, **kwargs)  # type: ignore[arg-type]
        answers[0][0] = -1.0
        return answers

    monkeypatch.setattr(finals, "slides", wrong)
    report = BenchReport()
    finals.one_range(report, RNG, [256], 500)
    assert len(report.failures) == len(finals.ONE)


def test_a_spike_is_what_recurs_once_a_window() -> None:
    spent = np.full(505, 10)
    spent[::101] = 1000  # every window of 100
    spent[57] = 90_000  # once, by another process
    assert spike(spent, 100) == 1000
