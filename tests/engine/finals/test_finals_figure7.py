"""FlatFIT's figure 7, step by step: pointers, partials, answers, comparisons."""

from __future__ import annotations

from math import inf

from weft.algebra.extremes import MAX
from weft.engine.finals import Counting
from weft.engine.finals.flatfit import FlatFIT

# Value, pointers and partials after the step, answers of Q1 (range 5) and Q2 (range 2), and the
# comparisons that each took (examples 2 and 3). The paper fills the window with -inf first.
STEPS = [
    (2, [1, 0, 0, 0, 0], [-inf, 2, 2, 2, 2], 2, 2, 4, 0),
    (4, [1, 0, 0, 0, 0], [4, 2, 2, 2, 2], 4, 4, 1, 1),
    (0, [2, 2, 0, 0, 0], [4, 0, 2, 2, 2], 4, 4, 2, 0),
    (3, [3, 2, 3, 0, 0], [4, 0, 3, 2, 2], 4, 3, 2, 1),
    (7, [4, 2, 3, 4, 0], [7, 0, 3, 7, 2], 7, 7, 2, 1),
    (6, [4, 2, 3, 4, 0], [7, 0, 3, 7, 6], 7, 7, 1, 1),
    (1, [1, 2, 1, 1, 1], [1, 0, 7, 7, 6], 7, 6, 4, 0),
    (8, [1, 2, 1, 1, 1], [1, 8, 7, 7, 6], 8, 8, 1, 1),
    (9, [1, 3, 3, 1, 1], [1, 9, 9, 7, 6], 9, 9, 2, 0),
    (5, [1, 4, 3, 4, 1], [1, 9, 9, 5, 6], 9, 9, 2, 1),
]


def filled(counting: Counting) -> FlatFIT:
    """The ring of step 0: four slots of -inf, and the next value goes to slot 4."""
    final = FlatFIT(counting, capacity=5, first=-5)
    for _ in range(4):
        final.insert((-inf,))
    assert [final.pointers.get(slot) for slot in range(4)] == [1, 2, 3, 4]
    return final


def test_both_queries_step_by_step() -> None:
    counting = Counting(MAX)
    final = filled(counting)
    first_query = second_query = 0
    for value, pointers, partials, q1, q2, q1_operations, q2_operations in STEPS:
        final.evict(final.end - 4)
        final.insert((value,))
        before = counting.operations
        assert final.answer() == (q1,)
        between = counting.operations
        assert final.answer(start=final.end - 2) == (q2,)
        after = counting.operations
        assert [final.pointers.get(slot) for slot in range(5)] == pointers
        assert [final.partials.get(slot)[0] for slot in range(5)] == partials
        assert (between - before, after - between) == (q1_operations, q2_operations)
        first_query += between - before
        second_query += after - between
    assert (first_query, second_query) == (21, 6)


def test_one_query_alone_makes_the_same_steps() -> None:
    counting = Counting(MAX)
    final = filled(counting)
    for value, pointers, partials, q1, *_ in STEPS:
        final.evict(final.end - 4)
        final.insert((value,))
        assert final.answer() == (q1,)
        assert [final.pointers.get(slot) for slot in range(5)] == pointers
        assert [final.partials.get(slot)[0] for slot in range(5)] == partials
    assert counting.operations == 21  # Naive: 40
    assert final.deepest <= 2  # the stack of section 3.3
