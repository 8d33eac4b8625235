"""Benchmark `finals`: a full run at a small size with checked answers; wrong ones are noticed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.slides.slides import slides
from benchmarks.studies import finals
from benchmarks.studies.slide_latency import spike
from benchmarks.support import structures
from benchmarks.support.harness import WrongAnswer

RNG = np.random.default_rng(5)


def test_the_oracle_is_a_sliding_maximum() -> None:
    values = RNG.random(50)
    for window in (1, 2, 5, 8, 13):
        want = [values[max(0, at + 1 - window) : at + 1].max() for at in range(50)]
        assert structures.sliding_max(values, window)[window:].tolist() == want[window:]


def test_every_part_gives_rows_that_the_claim_can_read() -> None:
    rows = [
        {"float64 copied per second": 1e9},
        *structures.one_range(RNG, [4, 256], 2000),
        *structures.every_range(RNG, [4, 16]),
        *structures.memory([8, 9]),
        finals.lockstep(RNG, 1e9),
        finals.batch(RNG, 20_000),
    ]
    kinds = [next(iter(row)) for row in rows[1:]]
    assert kinds == ["one range of"] * 2 + ["every range to"] * 2 + ["memory of"] * 2 + [
        "keys in lockstep",
        "batch of partials",
    ]
    by_window = {row["memory of"]: row for row in rows if "memory of" in row}
    # FlatFAT rounds up to a power of two and doubles; FlatFIT holds two numbers a slice.
    assert by_window[9]["flatfat bytes"] == 2 * 16 * 8
    assert by_window[9]["flatfit bytes"] == 2 * 9 * 8
    said = finals.claim(rows).also
    assert len(said) == 8
    assert "latency: not measured, no clock_gettime on this system" in said


def test_a_wrong_answer_fails_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: object, **kwargs: object) -> object:
        answers = slides(*args, **kwargs)  # type: ignore[arg-type]
        answers[0][0] = -1.0
        return answers

    monkeypatch.setattr(structures, "slides", wrong)
    with pytest.raises(WrongAnswer, match="one range of 256: wrong answers"):
        list(structures.one_range(RNG, [256], 500))


def test_a_spike_is_what_recurs_once_a_window() -> None:
    spent = np.full(505, 10)
    spent[::101] = 1000  # every window of 100
    spent[57] = 90_000  # once, by another process
    assert spike(spent, 100) == 1000
