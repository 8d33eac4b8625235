"""The papers' workload generator (WeaveShare section 6, F1 section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from weft.errors import WorkloadError
from weft.query.table import WindowTable

Int64 = npt.NDArray[np.int64]

Generator = Literal["Nrm", "Div"]


@dataclass(frozen=True)
class Setting:
    """One setting of the papers' generator; the names are those of F1's Table 1.

    >>> Setting(queries=3, max_slide=100, rate=1.0, skew=100.0, max_overlap=1).table().slide
    array([100, 100, 100])
    """

    queries: int
    max_slide: int
    rate: float
    """Rows per unit of time: the papers' lambda."""
    skew: float
    """Zipf exponent of the slides, towards LARGE ones; 0 is uniform."""
    max_overlap: float
    generator: Generator = "Nrm"
    """`Nrm` draws any slide up to the greatest, `Div` only prime ones."""
    fragments: bool = False
    """Whether overlap factors have a fractional part, so that each slide has two slices."""

    def __post_init__(self) -> None:
        smallest = 2 if self.generator == "Div" else 1
        if self.generator not in ("Nrm", "Div"):
            raise WorkloadError(f"generator={self.generator!r}: accepted are 'Nrm' and 'Div'")
        for name, least in (("queries", 0), ("max_slide", smallest), ("max_overlap", 1)):
            if getattr(self, name) < least:
                raise WorkloadError(f"{name}={getattr(self, name)!r} must be {least} or more")
        for name in ("rate", "skew"):
            if getattr(self, name) < 0:
                raise WorkloadError(f"{name}={getattr(self, name)!r} must be 0 or more")

    def table(self, seed: int = 0) -> WindowTable:
        """Draw the workload."""
        draw = np.random.default_rng(seed)
        slides = primes(self.max_slide) if self.generator == "Div" else _up_to(self.max_slide)
        # Rank 1, the likeliest, is the largest slide. Weights are relative to it, by logarithms:
        # rank ** -skew itself would underflow for the skews up to 100 of experiment 4.
        rank = np.arange(len(slides), 0, -1, dtype=np.float64)
        share = np.exp(-self.skew * np.log(rank))
        slide = draw.choice(slides, size=self.queries, p=share / share.sum())
        if self.fragments:
            overlap = draw.uniform(1.0, self.max_overlap, size=self.queries)
            range_ = np.floor(slide * overlap).astype(np.int64)
        else:
            range_ = slide * draw.integers(1, int(self.max_overlap) + 1, size=self.queries)
        return WindowTable(range=range_, slide=slide)


@dataclass(frozen=True)
class Experiment:
    """A setting with one parameter that varies."""

    number: int
    about: str
    parameter: str
    """The field of `Setting` that varies."""
    values: tuple[float, ...]
    base: Setting

    def settings(self, fragments: bool) -> list[Setting]:
        """The settings, one per value.

        >>> [setting.rate for setting in EXPERIMENTS[2].settings(fragments=False)]
        [100, 400, 900, 10000, 100000, 1000000]
        """
        found = []
        for value in self.values:
            varied: dict[str, Any] = {self.parameter: value}
            found.append(replace(self.base, fragments=fragments, **varied))
        return found


EXPERIMENTS = (
    Experiment(
        1,
        "number of queries",
        "queries",
        (100, 1_000, 10_000, 100_000, 1_000_000),
        Setting(100, max_slide=1_000, rate=0.002, skew=0.5, max_overlap=10),
    ),
    Experiment(
        2,
        "longest slide",
        "max_slide",
        (100, 300, 800, 3_000, 10_000),
        Setting(1_000, max_slide=100, rate=1, skew=3, max_overlap=100, generator="Div"),
    ),
    Experiment(
        3,
        "input rate",
        "rate",
        (100, 400, 900, 10_000, 100_000, 1_000_000),
        Setting(1_000, max_slide=100, rate=100, skew=1, max_overlap=1_000),
    ),
    Experiment(
        4,
        "skew of the slides",
        "skew",
        (0, 1, 2.25, 4, 10, 100),
        Setting(50, max_slide=500, rate=0.1, skew=0, max_overlap=100),
    ),
    Experiment(
        5,
        "greatest overlap factor",
        "max_overlap",
        (100, 40, 10, 4, 1),
        Setting(1_000, max_slide=600, rate=1, skew=3, max_overlap=100, generator="Div"),
    ),
)
"""Table 1 of F1, with values from its figures 7 to 11."""


def primes(most: int) -> Int64:
    """The primes up to `most`.

    >>> primes(20)
    array([ 2,  3,  5,  7, 11, 13, 17, 19])
    """
    is_prime = np.ones(most + 1, dtype=np.bool_)
    is_prime[:2] = False
    for factor in range(2, int(most**0.5) + 1):
        if is_prime[factor]:
            is_prime[factor * factor :: factor] = False
    return np.flatnonzero(is_prime).astype(np.int64)


def _up_to(most: int) -> Int64:
    return np.arange(1, most + 1, dtype=np.int64)
