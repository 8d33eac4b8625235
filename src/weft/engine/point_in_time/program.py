"""What a worker gets: the parts to lift, and over which rows each of them is combined."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.point_in_time.interval import Interval
from weft.engine.shards import NumberedPart

TIME, FRAGMENT = "time", "fragment"
"""Columns of both tables (the event time of a row, the instant of a spine row), and a column of the
rows alone."""


@dataclass(frozen=True)
class LiftedPart:
    """A part and the columns of the rows that it is lifted from."""

    numbered: NumberedPart
    arguments: tuple[str, ...]
    where: str | None
    """The column of the part's own filter."""
    counted: bool = False
    """Whether only the size of a set of values is needed: then the part's column is that size."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it is lifted from."""
        return self.arguments if self.where is None else (*self.arguments, self.where)


@dataclass(frozen=True)
class Target:
    """Values to compute for every spine row: some parts over one interval, for one predicate."""

    number: int
    interval: Interval
    predicate: int | None
    """Position in the predicates of `fragments`; None accepts every row."""
    parts: tuple[int, ...]
    queries: tuple[str, ...]
    """The names of their queries, for messages."""

    @property
    def prefix(self) -> str:
        """The prefix of the names of its columns."""
        return f"t{self.number}_"


@dataclass(frozen=True)
class SpineProgram:
    """The parts, keys and targets of queries with the same keys.

    Tables have the columns `time`, the keys `k0`, `k1`, ... and, for rows, `fragment` (if there
    are predicates to distinguish) and the columns that parts are lifted from.
    """

    keys: int
    parts: tuple[LiftedPart, ...]
    targets: tuple[Target, ...]
    fragments: FragmentPlan | None
    """None if all rows count for all targets."""

    @property
    def key_columns(self) -> list[str]:
        """The columns of the keys."""
        return [f"k{position}" for position in range(self.keys)]

    @property
    def fields(self) -> list[pa.Field]:
        """The output columns: each target's parts, in order."""
        return [
            pa.field(target.prefix + name, kind)
            for target in self.targets
            for number in target.parts
            for name, kind in zip(
                self.parts[number].numbered.columns, self.parts[number].numbered.types, strict=True
            )
        ]
