"""The atoms of predicates: in which interval a value lies, whether a condition holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.fragments.domain import Boundary, Domain
from weft.engine.fragments.formula import InSpans, Opaque, Test

Bools: TypeAlias = npt.NDArray[np.bool_]
States: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class IntervalIndex:
    """The interval between sorted boundaries that a value lies in: state i has i boundaries <= it.

    Null has a separate state after the others, or shares state 0 if no test distinguishes the two.

    >>> index = IntervalIndex("volume", Domain("int", "integer"), (50, 51, 90), null_state=4)
    >>> index.states(pa.array([49, 50, 60, 90, None])).tolist()
    [0, 1, 2, 3, 4]
    """

    expression: str
    domain: Domain | None
    boundaries: tuple[Boundary, ...]
    null_state: int

    @property
    def sql(self) -> str:
        """The expression that is computed for every row."""
        return self.expression

    @property
    def count(self) -> int:
        """The number of states."""
        return max(len(self.boundaries), self.null_state) + 1

    def truth(self, test: Test) -> Bools:
        """In which states a test is TRUE."""
        assert isinstance(test, InSpans)
        return _truth(test, self.boundaries, self.null_state, self.count)

    def states(self, values: pa.Array) -> States:
        """The state of each value of the expression."""
        found = np.zeros(len(values), dtype=np.int64)
        if self.boundaries and self.domain is not None:
            found += self.domain.positions(values, self.boundaries)
        if self.null_state and values.null_count:
            found[np.asarray(values.is_null())] = self.null_state
        return found


@dataclass(frozen=True)
class Condition:
    """Whether an opaque condition is FALSE, TRUE or null, if its tests distinguish these."""

    condition: str
    state_of: tuple[int, int, int]
    """The states of FALSE, TRUE and null."""

    @property
    def sql(self) -> str:
        """The expression that is computed for every row."""
        return self.condition

    @property
    def count(self) -> int:
        """The number of states."""
        return max(self.state_of) + 1

    def truth(self, test: Test) -> Bools:
        """In which states a test is TRUE."""
        assert isinstance(test, Opaque)
        found = np.zeros(self.count, dtype=np.bool_)
        for value, state in zip((False, True, None), self.state_of, strict=True):
            found[state] |= value in test.wanted
        return found

    def states(self, values: pa.Array) -> States:
        """The state of each value of the condition."""
        whole: npt.NDArray[Any] = np.asarray(values.cast(pa.int8()).fill_null(2))
        found: States = np.array(self.state_of, dtype=np.int64)[whole]
        return found


Atom = IntervalIndex | Condition


def atoms_of(tests: Iterable[Test]) -> dict[str, Atom]:
    """The atoms that these tests refer to, by name."""
    grouped: dict[str, list[Test]] = {}
    for test in dict.fromkeys(tests):
        grouped.setdefault(test.atom, []).append(test)
    return {name: _atom(of_one) for name, of_one in grouped.items()}


def _atom(tests: Sequence[Test]) -> Atom:
    first = tests[0]
    if isinstance(first, Opaque):
        members = [[value in t.wanted for t in tests if isinstance(t, Opaque)] for value in _TRUTH]
        numbers: dict[tuple[bool, ...], int] = {}
        state_of = tuple(numbers.setdefault(tuple(row), len(numbers)) for row in members)
        return Condition(first.condition, state_of)  # type: ignore[arg-type]
    of_value = [test for test in tests if isinstance(test, InSpans)]
    found = {end for test in of_value for span in test.spans for end in span if end is not None}
    boundaries = tuple(sorted(found))
    least = len(boundaries)
    # Null needs no separate state if every test has the same result for it as for the least values.
    lonely = any(bool(_truth(test, boundaries, 0, least + 1)[0]) != test.null for test in of_value)
    return IntervalIndex(
        first.expression, first.domain, boundaries, null_state=least + 1 if lonely else 0
    )


_TRUTH = (False, True, None)


def _truth(test: InSpans, boundaries: Sequence[Boundary], null_state: int, count: int) -> Bools:
    inside = np.zeros(count, dtype=np.bool_)
    for low, high in test.spans:
        first = 0 if low is None else bisect_left(boundaries, low) + 1
        last = len(boundaries) if high is None else bisect_left(boundaries, high)
        inside[first : last + 1] = True
    if test.negated:
        inside[: len(boundaries) + 1] = ~inside[: len(boundaries) + 1]
    if null_state:
        inside[null_state] = test.null
    return inside
