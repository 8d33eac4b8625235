"""Cleaning changes no edge, and removes progressions that lie in another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weft.query.progressions import cleaned

STEPS = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 24])
PROGRESSIONS = st.lists(st.tuples(st.integers(-30, 30), STEPS), max_size=8)


def edges(progressions: object) -> set[int]:
    """The instants of a period of all steps."""
    return {t for t in range(24) for offset, step in progressions if (t - offset) % step == 0}  # type: ignore[attr-defined]


@given(PROGRESSIONS)
def test_the_edges_stay_and_each_progression_is_needed(given_ones: list[tuple[int, int]]) -> None:
    found = cleaned(given_ones)
    assert edges(found) == edges(given_ones)
    assert list(found) == sorted(found, key=lambda one: one[::-1])
    for one in found:
        assert 0 <= one[0] < one[1]
        assert not any(edges([one]) <= edges([other]) for other in found if other != one)
