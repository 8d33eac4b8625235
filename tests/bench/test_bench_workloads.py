"""The papers' workload generator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.support.workloads import EXPERIMENTS, Setting, primes
from weft.errors import WorkloadError

BASE = Setting(20_000, max_slide=100, rate=1.0, skew=1.0, max_overlap=8)


def test_slides_are_skewed_towards_large_ones() -> None:
    counts = np.bincount(BASE.table().slide, minlength=101)
    assert counts[0] == 0
    # Zipf: the largest slide is twice as frequent as the second and ten times as the tenth.
    assert counts[100] / counts[99] == pytest.approx(2, rel=0.15)
    assert counts[100] / counts[91] == pytest.approx(10, rel=0.2)


def test_no_skew_is_uniform_and_much_skew_leaves_one_slide() -> None:
    counts = np.bincount(replace(BASE, skew=0.0).table().slide, minlength=101)[1:]
    assert counts.min() > 120
    assert counts.max() < 290
    assert set(replace(BASE, skew=100.0).table().slide) == {100}


def test_overlap_factors_are_uniform_with_a_fraction_or_without() -> None:
    whole, cut = BASE.table(), replace(BASE, fragments=True).table()
    assert (whole.range % whole.slide == 0).all()
    factors = np.bincount(whole.range // whole.slide, minlength=9)[1:]
    assert factors.min() > 0.9 * len(whole) / 8
    assert np.mean(cut.range % cut.slide != 0) > 0.9
    assert cut.overlap.min() >= 1.0
    assert cut.overlap.max() < 8.0
    assert cut.overlap.mean() == pytest.approx(4.5, abs=0.1)


def test_the_diverse_generator_takes_primes_only() -> None:
    slides = set(replace(BASE, generator="Div").table().slide.tolist())
    assert slides == set(primes(100).tolist())
    assert len(primes(10_000)) == 1229


def test_a_seed_draws_the_same_again() -> None:
    first, again, other = BASE.table(1), BASE.table(1), BASE.table(2)
    assert first.range.tolist() == again.range.tolist() != other.range.tolist()


def test_the_experiments_are_those_of_table_1() -> None:
    assert [experiment.number for experiment in EXPERIMENTS] == [1, 2, 3, 4, 5]
    assert EXPERIMENTS[0].settings(False)[-1].queries == 1_000_000
    for experiment in EXPERIMENTS:
        for setting in experiment.settings(True):
            assert setting.fragments
            parameter = experiment.parameter
            same = {parameter: getattr(experiment.base, parameter), "fragments": False}
            assert replace(setting, **same) == experiment.base


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("queries", -1),
        ("max_slide", 0),
        ("max_overlap", 0.5),
        ("rate", -1.0),
        ("skew", -0.5),
        ("generator", "Odd"),
    ],
)
def test_settings_that_make_no_sense_are_refused(field: str, value: object) -> None:
    with pytest.raises(WorkloadError, match=field):
        replace(BASE, **{field: value})
