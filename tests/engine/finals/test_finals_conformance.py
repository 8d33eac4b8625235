"""Every structure gives the same answers as folding, for any sequence of operations."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from finals_cases import CASES, CONCAT, Case, same
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.slides.per_range import PerRange
from weft.algebra.monoid import Monoid
from weft.engine.finals import STRUCTURES, make, servers
from weft.errors import FinalsError

NAMES = tuple(STRUCTURES)
TEXT = st.sampled_from("abcdefgh").map(lambda letter: (letter,))


def steps(partials: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """Operations on a structure: mostly slides, so that windows fill up and rings wrap around."""
    share = st.floats(0, 1)
    slide = st.tuples(st.just("slide"), partials)
    return st.lists(
        st.one_of(
            slide,
            slide,
            slide,
            st.tuples(st.just("insert"), partials),
            st.tuples(st.just("evict"), st.integers(1, 3)),
            st.tuples(st.just("merge"), share, partials),
            st.tuples(st.just("answer"), share, share),
        ),
        min_size=1,
        max_size=50,
    )


def check(
    name: str, monoid: Monoid, script: list[tuple[Any, ...]], window: int, first: int
) -> None:
    """Apply the steps to a structure and to a plain list, and compare every answer."""
    final = make(name, monoid, capacity=max(1, window - 1), first=first)
    held: dict[int, Any] = {}
    for step in script:
        if step[0] in ("slide", "insert"):
            if step[0] == "slide":
                final.evict(max(final.first, final.end + 1 - window))
            held[final.insert(step[1])] = step[1]
        elif step[0] == "evict":
            final.evict(min(final.end, final.first + step[1]))
        elif step[0] == "merge" and final.held:
            position = final.first + int(step[1] * (final.held - 1))
            final.merge(position, step[2])
            held[position] = monoid.combine(held[position], step[2])
        elif step[0] == "answer" and final.held and final.card.starts != "oldest":
            start = final.first + int(step[1] * (final.held - 1))
            end = final.end
            if final.card.starts == "any":
                end = start + int(step[2] * (final.end - start))
            want = monoid.fold(*(held[position] for position in range(start, end)))
            assert same(final.answer(start, end), want), (name, step)
        want = monoid.fold(*(held[position] for position in range(final.first, final.end)))
        assert same(final.answer(), want), (name, step)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "subtract"])
@given(script=steps(TEXT), window=st.integers(1, 7), first=st.integers(-20, 20))
@settings(max_examples=150, deadline=None)
def test_order_is_kept_by_string_concatenation(
    name: str, script: list[tuple[Any, ...]], window: int, first: int
) -> None:
    check(name, CONCAT, script, window, first)


@pytest.mark.parametrize("case", CASES, ids=str)
@given(data=st.data(), window=st.integers(1, 7), first=st.integers(-20, 20))
@settings(max_examples=12, deadline=None)
def test_every_structure_serves_every_aggregate_that_it_may(
    case: Case, data: st.DataObject, window: int, first: int
) -> None:
    monoid = case.monoid
    script = data.draw(steps(case.partials()))
    floating_sum = case.part.kind == "sum" and pa.types.is_floating(case.arguments[0])
    for name in servers(monoid.laws):
        if name == "subtract" and floating_sum:
            continue  # the monoid's law holds for exact numbers only
        check(name, monoid, script, window, first)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "subtract"])
@pytest.mark.parametrize("window", [1, 2, 3, 5, 8, 13])
def test_rings_wrap_many_times(name: str, window: int) -> None:
    final = make(name, CONCAT, capacity=window)
    letters = [chr(97 + at % 26) for at in range(20 * window)]
    for at, letter in enumerate(letters):
        final.evict(max(final.first, final.end + 1 - window))
        final.insert((letter,))
        assert final.answer() == ("".join(letters[max(0, at + 1 - window) : at + 1]),)
    assert final.capacity == window


@pytest.mark.parametrize("name", ["two_stacks", "daba", "naive"])
@given(values=st.lists(TEXT, min_size=1, max_size=60))
@settings(max_examples=30, deadline=None)
def test_one_structure_per_range(name: str, values: list[tuple[str]]) -> None:
    windows = (1, 3, 4, 9)
    each = PerRange([make(name, CONCAT) for _ in windows])
    for at, value in enumerate(values):
        each.insert(value)
        if at % 5 == 4:
            each.merge(at - 2, ("!",))
            values[at - 2] = (values[at - 2][0] + "!",)
        for query, window in enumerate(windows):
            start = max(0, at + 1 - window)
            want = ("".join(value[0] for value in values[start : at + 1]),)
            assert each.answer(query, start) == want


def test_a_window_may_hold_a_different_number_of_slices_every_time() -> None:
    """
    edges   0    3  4      9 10     15
    slices  |---|-|------|-|------|     windows of 9 by 3 hold 3, 2, 3, ... of them
    """
    for name in NAMES:
        if name == "subtract":
            continue
        final = make(name, CONCAT, capacity=1)
        answers = []
        for letter, start in zip("abcdefg", (0, 0, 0, 2, 2, 5, 5), strict=True):
            final.insert((letter,))
            final.evict(start)
            answers.append(final.answer()[0])
        assert answers == ["a", "ab", "abc", "cd", "cde", "f", "fg"], name


class TestRefusals:
    def test_an_aggregate_that_cannot_be_taken_back(self) -> None:
        with pytest.raises(FinalsError, match="needs an aggregate that is commutative and invert"):
            make("subtract", CONCAT)

    def test_the_refusal_names_those_that_can(self) -> None:
        with pytest.raises(FinalsError, match="accepted are naive, flatfat, bint, flatfit, two_st"):
            make("subtract", CONCAT)

    def test_an_unknown_name(self) -> None:
        with pytest.raises(FinalsError, match="final='treap' is unknown: accepted are naive"):
            make("treap", CONCAT)

    @pytest.mark.parametrize("name", ["two_stacks", "daba"])
    def test_a_start_inside_what_is_held(self, name: str) -> None:
        final = make(name, CONCAT)
        final.insert(("a",))
        final.insert(("b",))
        with pytest.raises(FinalsError, match="answers only from its oldest slice"):
            final.answer(start=1)

    def test_an_end_before_the_newest(self) -> None:
        final = make("flatfit", CONCAT)
        final.insert(("a",))
        final.insert(("b",))
        with pytest.raises(FinalsError, match="naive, flatfat and bint answer any range"):
            final.answer(start=0, end=1)

    def test_a_slice_that_was_let_go_of(self) -> None:
        final = make("naive", CONCAT)
        for letter in "abc":
            final.insert((letter,))
        final.evict(2)
        with pytest.raises(FinalsError, match="was evicted"):
            final.answer(start=0)
        with pytest.raises(FinalsError, match=r"position=0 of naive is not held.*\[2, 3\)"):
            final.merge(0, ("x",))

    def test_evicting_what_has_not_come(self) -> None:
        with pytest.raises(FinalsError, match="past the newest slice"):
            make("naive", CONCAT).evict(1)

    def test_late_partials_after_doing_without_originals(self) -> None:
        final = make("two_stacks", CONCAT, late=False)
        final.insert(("a",))
        with pytest.raises(FinalsError, match="made with late=False"):
            final.merge(0, ("b",))

    def test_no_room_at_all(self) -> None:
        with pytest.raises(FinalsError, match="capacity=0 of naive must be at least 1"):
            make("naive", CONCAT, capacity=0)
