"""An aggregate: one call in a query, the parts it needs, and the answer computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.algebra.catalogue import BY_NAME, BY_ORDER
from weft.algebra.function import Function
from weft.algebra.lowering import Columns, Types, has_own_sum
from weft.algebra.monoid import Partial
from weft.algebra.part import Option, Part
from weft.algebra.regression import FUNCTIONS as REGRESSIONS

OF_DOUBLES = frozenset(
    (
        *("product", "var_pop", "var_samp", "stddev_pop", "stddev_samp", "skewness", "kurtosis"),
        *("covar_pop", "covar_samp", "corr", "approx_percentile", "percentile", "percentile_disc"),
        *REGRESSIONS,
    )
)
"""Functions that compute with doubles, whatever the types of their arguments."""
OF_SUMS = frozenset(("sum", "try_sum", "sum_distinct", "avg", "try_avg"))
OF_TEXTS = frozenset(("listagg", "listagg_at"))


@dataclass(frozen=True)
class Aggregate:
    """One aggregate call, in the normal form in which equal calls are equal.

    `function` is the name in the catalogue (`mean(x)` is `avg(x)`), `args` and `where` (the FILTER
    clause) are normalised SQL, `options` are constants (how many values, which percentiles).

    >>> mean = Aggregate("avg", ("price",))
    >>> [str(part) for part in mean.parts]
    ['sum(price)', 'count(price)']
    >>> mean.lower([(9,), (2,)])
    4.5
    >>> mean.spark_lower([["p0"], ["p1"]])
    'p0 / nullif(p1, 0)'
    """

    function: str
    args: tuple[str, ...] = ()
    where: str | None = None
    options: tuple[Option, ...] = ()

    @property
    def spec(self) -> Function:
        """The function's entry in the catalogue."""
        return BY_NAME[self.function]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that every slice must store."""
        return self.spec.parts(self.args, self.where, self.options)

    def parts_for(self, types: Types) -> tuple[Part, ...]:
        """The parts, given the types of the arguments: over the types that Spark computes with.

        Spark's avg of bigint adds doubles, so it never overflows; a sum of bigint would. The other
        integers cannot overflow a long, and share their sum with `sum`. Moments are of doubles,
        and so are sums of strings and timestamps; Spark casts these arguments, weft never does.

        >>> [str(part) for part in Aggregate("avg", ("id",)).parts_for(["bigint"])]
        ['sum(CAST(id AS DOUBLE))', 'count(id)']
        >>> [str(part) for part in Aggregate("sum", ("name",)).parts_for(["string"])]
        ['sum(CAST(name AS DOUBLE))']
        """
        if not types:
            return self.parts
        if self.function in ("avg", "try_avg") and types[0].lower() == "bigint":
            return (Part("sum", _as_doubles(self.args, types), self.where), self.parts[1])
        added = self.function in OF_SUMS and not has_own_sum(types[0])
        if self.function in OF_DOUBLES or added:
            return replace(self, args=_as_doubles(self.args, types)).parts
        if self.function in OF_TEXTS and not types[0].lower().startswith("string"):
            text = f"CAST({self.args[0]} AS STRING)"
            return replace(self, args=(text, *self.args[1:])).parts
        return self.parts

    def ordered(self, by: str) -> Aggregate:
        """The form that keeps the order of column `by` within slices; other calls are unchanged.

        >>> str(Aggregate("first", ("price",)).ordered("ts").parts[0])
        'first_at(price, ts)'
        """
        if self.function not in BY_ORDER:
            return self
        return Aggregate(f"{self.function}_at", (*self.args, by), self.where, self.options)

    def lower(self, partials: Sequence[Partial]) -> Any:
        """The answer, from the combined partial of each part."""
        return self.spec.lower(partials, self.options)

    def spark_lower(self, columns: Columns, types: Types = None) -> str | None:
        """Spark SQL for the answer, given the columns of each part's components.

        `types` are the names of the arguments' Spark types, with which decimals get the same type
        as in Spark. None if SQL cannot be exact, so that `lower` must be used.
        """
        return self.spec.lower_sql(columns, self.options, types)


def _as_doubles(args: tuple[str, ...], types: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        arg if kind.lower() == "double" else f"CAST({arg} AS DOUBLE)"
        for arg, kind in zip(args, types, strict=True)
    )
