"""A monoid: how one kind of partial is lifted, combined, subtracted, and computed in Spark SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Partial = tuple[Any, ...]
"""One value per component. None is Spark's null."""

Family = Literal[
    "long", "double", "boolean", "sum", "argument", "array", "pairs", "counts", "binary"
]
"""A component's type. `sum` is the type of Spark's sum over the argument (long for integers,
double for floats, a decimal ten digits wider for decimals); `argument` the argument's own type;
`array` an array of it (of structs of all arguments if there are several); `pairs` an array of
structs `at` (the second argument) and `value` (the first); `counts` one of structs `value` and
`n`, a long."""

Order = Literal["any", "ties", "all"]
"""What depends on the order of combining: nothing; only which of several equal values is kept,
which Spark leaves open too; or the answer itself."""


@dataclass(frozen=True)
class Laws:
    """The laws of `combine` besides associativity, which always holds.

    commutative  combine(a, b) == combine(b, a)
    invertible   subtract(combine(a, b), a) == b, on exact numbers (integers, decimals)
    idempotent   combine(a, a) == a

    Floating-point sums never invert: an infinity cannot be subtracted, and small numbers are lost
    beside large ones. Only counts (`count`) invert for every type of argument.
    """

    commutative: bool
    invertible: bool
    idempotent: bool


@dataclass(frozen=True)
class Component:
    """One column of a partial: its name, and its type as far as the kind determines it."""

    name: str
    family: Family
    argument: int = 0
    """The argument whose type `sum`, `argument` and `array` refer to."""


@dataclass(frozen=True, eq=False)
class Monoid:
    """The algebra of one kind of part, in plain Python that defines its semantics.

    `lift` makes the partial of one row from the values of the arguments; `combine(older, newer)`
    is associative and has `identity` as its neutral element. The functions here define the
    semantics, with Spark's treatment of null, NaN and zero; faster code elsewhere must agree.

    `partial_sql` has one Spark aggregate per component, over `{0}`, `{1}` (the arguments) and
    `{where}` (empty, or a FILTER clause). `merge_sql` has one per component over a group of
    partials, with the components' columns under their names (`{total}`) and `{order}` for an
    expression that orders the slices. None where Spark SQL cannot.
    """

    kind: str
    laws: Laws
    components: tuple[Component, ...]
    identity: Partial
    lift: Callable[..., Partial]
    combine: Callable[[Partial, Partial], Partial]
    partial_sql: tuple[str, ...] | None
    merge_sql: tuple[str, ...] | None
    subtract: Callable[[Partial, Partial], Partial] | None = None
    """`subtract(total, oldest)`; gives zero, not null, when nothing is left: `Part.counted()`
    tells whether it is empty."""
    bounded: bool = True
    """Whether the size of a partial is bounded, whatever the rows are."""
    order: Order = "any"
    note: str = ""

    def fold(self, *partials: Partial) -> Partial:
        """Combine any number of partials, older first."""
        total = self.identity
        for partial in partials:
            total = self.combine(total, partial)
        return total
