"""What an aggregate function is, and how its parts and its answer are made.

`catalogue` is the table of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

from weft.algebra import lowering as low
from weft.algebra.lowering import Columns, Types
from weft.algebra.monoid import Partial
from weft.algebra.part import Option, Part
from weft.algebra.regression import lower_regression, regression_sql
from weft.algebra.sketches import estimate_quantiles

Args = tuple[str, ...]
MakeParts = Callable[[Args, str | None, tuple[Option, ...]], tuple[Part, ...]]
Lower = Callable[[Sequence[Partial], tuple[Option, ...]], Any]
LowerSql = Callable[[Columns, tuple[Option, ...], Types], str | None]


@dataclass(frozen=True, eq=False)
class Function:
    """One aggregate function.

    `distinct` says what DISTINCT does: it is not supported ("no"), does not change the answer
    ("same"), or selects another function ("other": `count` and `sum` over distinct values).
    `written` is the syntax of a function that is not called by its name. `definition` is Spark SQL
    for a function that Spark does not have, over `{0}`, `{n}` (its constant) and `{where}`.
    """

    name: str
    parts: MakeParts
    lower: Lower
    lower_sql: LowerSql
    aliases: tuple[str, ...] = ()
    arity: tuple[int, int] = (1, 1)
    distinct: OneOf["no", "same", "other"] = "no"
    written: str | None = None
    definition: str | None = None
    note: str = ""


def of_kinds(*kinds: str) -> MakeParts:
    """Parts of some kinds, all over the same arguments."""
    return lambda args, where, options: tuple(Part(kind, args, where) for kind in kinds)


def with_constant(kind: str) -> MakeParts:
    """A part whose option is the function's first constant."""
    return lambda args, where, options: (Part(kind, args, where, options[:1]),)


def component(index: int = 0) -> Lower:
    return lambda partials, options: partials[0][index]


def column(index: int = 0) -> LowerSql:
    return lambda columns, options, types: columns[0][index]


def of_first(lower: Callable[[Partial], Any]) -> Lower:
    return lambda partials, options: lower(partials[0])


def log_parts(args: Args, where: str | None, options: tuple[Option, ...]) -> tuple[Part, ...]:
    logarithm = (f"ln({args[0]})",)
    return (Part("sum", logarithm, where), Part("count", logarithm, where))


def lower_geo_mean(partials: Sequence[Partial], options: tuple[Option, ...]) -> float | None:
    mean = low.lower_mean(partials[0][0], partials[1][0])
    return None if mean is None else math.exp(mean)


def lower_range(partials: Sequence[Partial], options: tuple[Option, ...]) -> Any:
    greatest, least = partials[0][0], partials[1][0]
    return None if greatest is None else greatest - least


def lower_approx_percentile(partials: Sequence[Partial], options: tuple[Option, ...]) -> Any:
    _, shape, *ranks = options
    found = estimate_quantiles(partials[0], tuple(float(rank) for rank in ranks))
    return found if found is None or shape == "array" else found[0]


def approx_percentile_sql(columns: Columns, options: tuple[Option, ...], types: Types) -> str:
    _, shape, *ranks = options
    sketch = columns[0][0]
    listed = ", ".join(f"{float(rank)!r}D" for rank in ranks)
    wanted = f"array({listed})" if shape == "array" else listed
    value = f"kll_sketch_get_quantile_double({sketch}, {wanted})"
    if types:
        kind = "double" if types[0].lower().startswith("string") else types[0]
        to = f"array<{kind}>" if shape == "array" else kind
        value = f"CAST({value} AS {to})"
    return f"CASE WHEN kll_sketch_get_n_double({sketch}) > 0 THEN {value} END"


def most(kind: str) -> MakeParts:
    """The n first or last rows by the second argument; the first argument may be null."""

    def parts(args: Args, where: str | None, options: tuple[Option, ...]) -> tuple[Part, ...]:
        return (Part(kind, (f"named_struct('x', {args[0]})", args[1]), where, options),)

    return parts


def lower_most(partials: Sequence[Partial], options: tuple[Option, ...]) -> list[Any] | None:
    values = [value for _, (value,) in partials[0][0]]
    return values or None


def most_sql(columns: Columns, options: tuple[Option, ...], types: Types) -> str:
    return "CASE WHEN size({0}) > 0 THEN {0}.value.x END".format(*columns[0])


def backwards(lower: Lower) -> Lower:
    def reverse(partials: Sequence[Partial], options: tuple[Option, ...]) -> Any:
        found = lower(partials, options)
        return None if found is None else found[::-1]

    return reverse


def regression(name: str) -> Function:
    return Function(
        name,
        of_kinds("comoments"),
        lambda partials, options: lower_regression(name, partials[0]),
        lambda columns, options, types: regression_sql(name, columns),
        arity=(2, 2),
    )
