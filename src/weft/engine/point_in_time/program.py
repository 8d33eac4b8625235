"""What a worker is told: the parts to lift, and which of them are asked for over which rows."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.point_in_time.interval import Interval
from weft.engine.shards import NumberedPart

TIME, FRAGMENT = "time", "fragment"
"""Columns of both tables (event time, and the instant that a row of the spine asks about), and of
the rows alone."""


@dataclass(frozen=True)
class LiftedPart:
    """A part and the columns of the rows that it is lifted from."""

    numbered: NumberedPart
    arguments: tuple[str, ...]
    where: str | None
    """Of the part's own filter."""
    counted: bool = False
    """Whether of a set of values only its size is asked for: then that is the part's column."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.arguments if self.where is None else (*self.arguments, self.where)


@dataclass(frozen=True)
class Target:
    """Values to make for every row of the spine: some parts over one interval of some rows."""

    number: int
    interval: Interval
    predicate: int | None
    """Position among those of `fragments`; None takes every row."""
    parts: tuple[int, ...]
    queries: tuple[str, ...]
    """Whose they are, for messages."""

    @property
    def prefix(self) -> str:
        """What the names of its columns begin with."""
        return f"t{self.number}_"


@dataclass(frozen=True)
class SpineProgram:
    """The parts, keys and targets of queries with the same keys.

    Tables have the columns `time`, the keys `k0`, `k1`, ... and, for rows, `fragment` (where
    predicates are to be told apart) and the columns that parts are lifted from.
    """

    keys: int
    parts: tuple[LiftedPart, ...]
    targets: tuple[Target, ...]
    fragments: FragmentPlan | None
    """None where all rows count for all targets."""

    @property
    def key_columns(self) -> list[str]:
        """The columns of the keys."""
        return [f"k{position}" for position in range(self.keys)]

    @property
    def fields(self) -> list[pa.Field]:
        """The columns that are made: each target's parts, in order."""
        return [
            pa.field(target.prefix + name, kind)
            for target in self.targets
            for number in target.parts
            for name, kind in zip(
                self.parts[number].numbered.columns, self.parts[number].numbered.types, strict=True
            )
        ]
