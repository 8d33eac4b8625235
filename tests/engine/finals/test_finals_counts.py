"""Counted operations per slide and peak space, compared with the papers' Table 1 and ours."""

from __future__ import annotations

from math import ceil, log2

import pytest

from weft.algebra.extremes import MAX
from weft.algebra.sums import COUNT
from weft.engine.finals import Counting, Final, make

WINDOWS = (8, 16, 64, 256)


def run(final: Final, counting: Counting, window: int, slides: int, ranges: list[int]) -> list[int]:
    """Operations of each slide once the window is full; all ranges are asked, longest first."""
    spent = []
    for value in range(window + slides):
        before = counting.operations
        final.evict(max(final.first, final.end + 1 - window))
        final.insert((value * 7919 % 101 + 1,))
        for count in ranges:
            final.answer(max(final.first, final.end - count))
        if value >= window:
            spent.append(counting.operations - before)
    return spent


def single(name: str, window: int, slides: int, **laws: bool) -> tuple[list[int], Final]:
    counting = Counting(COUNT if name == "subtract" else MAX, **laws)
    final = make(name, counting, capacity=window)
    return run(final, counting, window, slides, [window]), final


def every(name: str, window: int, slides: int) -> tuple[list[int], Final]:
    counting = Counting(MAX)
    final = make(name, counting, capacity=window)
    return run(final, counting, window, slides, list(range(window, 0, -1))), final


@pytest.mark.parametrize("n", WINDOWS)
class TestOneRange:
    def test_naive_takes_n_minus_1(self, n: int) -> None:
        spent, final = single("naive", n, 2 * n)
        assert set(spent) == {n - 1}
        assert final.space() == n

    def test_flatfat_takes_log_n(self, n: int) -> None:
        spent, final = single("flatfat", n, 2 * n)
        assert set(spent) == {int(log2(n))}
        assert final.space() == 2 ** (ceil(log2(n)) + 1)

    def test_flatfat_takes_more_when_order_matters(self, n: int) -> None:
        spent, _ = single("flatfat", n, 2 * n, commutative=False)
        assert max(spent) <= 3 * log2(n)
        assert sum(spent) / len(spent) <= 2 * log2(n)

    def test_bint_takes_log_n_on_average(self, n: int) -> None:
        spent, final = single("bint", n, 4 * n)
        assert sum(spent) / len(spent) <= 2 * log2(n)
        assert max(spent) <= 3 * log2(n)
        assert final.space() == 2 ** (ceil(log2(n)) + 1)

    def test_flatfit_takes_3_in_its_natural_period(self, n: int) -> None:
        # Section 4.1: 3(n - 1) in n + 1 slides, of which one is wReset with n - 1.
        spent, final = single("flatfit", n, 5 * (n + 1))
        assert sum(spent) == 5 * 3 * (n - 1)
        assert max(spent) == n - 1
        assert sorted(spent)[-6:] == [2] + [n - 1] * 5
        assert final.space() == 2 * n + 2  # the two values on the stack of section 3.3

    def test_two_stacks_takes_less_than_3(self, n: int) -> None:
        spent, final = single("two_stacks", n, 4 * n)
        assert sum(spent) / len(spent) <= 3
        assert max(spent) == n
        assert final.space() == n + 1

    def test_daba_never_takes_more_than_6(self, n: int) -> None:
        spent, final = single("daba", n, 5 * n)
        assert max(spent) <= 6
        assert sum(spent) / len(spent) <= 4
        assert final.space() == n + 2

    def test_subtract_takes_2(self, n: int) -> None:
        spent, final = single("subtract", n, 2 * n)
        assert set(spent) == {2}
        assert final.space() == n + 1

    def test_shift_takes_n_minus_1(self, n: int) -> None:
        spent, final = single("shift", n, n)
        assert set(spent) == {n - 1}
        assert final.space() == n


@pytest.mark.parametrize("n", [8, 16, 64])
class TestEveryRange:
    def test_naive_takes_a_triangle(self, n: int) -> None:
        spent, _ = every("naive", n, n)
        assert set(spent) == {n * (n - 1) // 2}

    @pytest.mark.parametrize("name", ["flatfat", "bint"])
    def test_trees_take_n_log_n(self, name: str, n: int) -> None:
        # The paper's exact count, for its own way of splitting ranges; ours may be smaller.
        exact = n * log2(n) - 1.5 * n + 2.5 * log2(n) + 2.5
        spent, _ = every(name, n, 2 * n)
        assert n * log2(n) / 3 < sum(spent) / len(spent) <= min(exact, n * log2(n))

    @pytest.mark.parametrize("name", ["flatfit", "shift"])
    def test_flatfit_and_shift_take_n_minus_1(self, name: str, n: int) -> None:
        spent, final = every(name, n, 3 * (n + 1))
        assert set(spent) == {n - 1}
        assert final.space() <= 2 * n + 2


@pytest.mark.parametrize(("n", "q"), [(64, 2), (64, 3), (100, 2), (128, 4)])
def test_flatfit_between_one_and_every_range_stays_within_two_and_a_half_n(n: int, q: int) -> None:
    counting = Counting(MAX)
    final = make("flatfit", counting, capacity=n)
    ranges = [n, *(max(1, n // 2**k) for k in range(1, q))]
    run(final, counting, n, 4 * n, ranges)
    assert 2 * n <= final.space() <= 2.5 * n + 2


def test_the_spike_of_flatfit_and_the_flatness_of_daba() -> None:
    flatfit, _ = single("flatfit", 512, 2 * 513)
    daba, _ = single("daba", 512, 2 * 513)
    assert max(flatfit) == 511
    assert max(daba) <= 6
    assert sum(flatfit) / len(flatfit) < 3


@pytest.mark.parametrize(
    ("name", "cost"), [("naive", 1), ("flatfat", 7), ("bint", 7), ("subtract", 2)]
)
def test_a_late_partial_costs_what_it_touches(name: str, cost: int) -> None:
    counting = Counting(COUNT)
    final = make(name, counting, capacity=64)
    run(final, counting, 64, 100, [64])
    for position in range(final.first, final.end):
        before = counting.operations
        final.merge(position, (1,))
        assert counting.operations - before <= cost


@pytest.mark.parametrize("name", ["flatfit", "two_stacks", "daba", "shift"])
def test_a_late_partial_costs_no_more_than_the_slices_that_reach_over_it(name: str) -> None:
    counting = Counting(MAX)
    final = make(name, counting, capacity=64)
    run(final, counting, 64, 100, [64])
    for position in range(final.first, final.end):
        before = counting.operations
        final.merge(position, (1,))
        assert counting.operations - before <= position - final.first + 2
