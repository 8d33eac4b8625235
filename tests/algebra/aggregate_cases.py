"""One case per kind of part: rows to lift, and how closely partials must agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from datasketches import kll_doubles_sketch
from hypothesis import strategies as st

from weft.algebra.monoid import Monoid, Partial
from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.algebra.sketches import estimate_distinct, estimate_quantiles
from weft.algebra.values import same

NAN, INF = math.nan, math.inf

ints = st.none() | st.integers(-20, 20)
floats = st.none() | st.sampled_from([0.0, -0.0, 1.5, -2.0, 3.25, INF, -INF, NAN])
texts = st.none() | st.sampled_from(["", "a", "b", "ab", "é", "z"])
decimals = st.none() | st.integers(-(10**6), 10**6).map(lambda i: Decimal(i).scaleb(-2))
factors = st.none() | st.sampled_from([1.0, -1.0, 2.0, 0.5, 0.0, 4.0])
finite = st.none() | st.integers(-50, 50).map(float)
flags = st.none() | st.booleans()


def exactly(left: Partial, right: Partial) -> bool:
    """Equal by the rules of Spark's grouping."""
    return same(left, right)


def nearly(left: Partial, right: Partial) -> bool:
    """Equal up to rounding."""
    return all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(left, right, strict=True)
    )


def same_count(left: Partial, right: Partial) -> bool:
    return estimate_distinct(left) == estimate_distinct(right)


def same_quantiles(left: Partial, right: Partial) -> bool:
    """Equal quantiles over equally many values, which determine the effect of further values."""
    ranks = tuple(i / 16 for i in range(17))
    counts = [0 if p[0] is None else kll_doubles_sketch.deserialize(p[0]).n for p in (left, right)]
    same_values = estimate_quantiles(left, ranks) == estimate_quantiles(right, ranks)
    return same_values and counts[0] == counts[1]


@dataclass(frozen=True)
class Case:
    """A part, the rows to lift into it, and the equality of its partials."""

    part: Part
    row: st.SearchStrategy[tuple[Any, ...]]
    equal: Callable[[Partial, Partial], bool] = exactly

    @property
    def monoid(self) -> Monoid:
        return monoid_of(self.part)

    @property
    def partial(self) -> st.SearchStrategy[Partial]:
        """Partials of zero to five rows."""
        return st.lists(self.row, max_size=5).map(self.of_rows)

    def of_rows(self, rows: list[tuple[Any, ...]]) -> Partial:
        monoid = self.monoid
        return monoid.fold(*(monoid.lift(*row) for row in rows))


def _case(
    kind: str,
    *columns: st.SearchStrategy[Any],
    equal: Callable[[Partial, Partial], bool] = exactly,
    options: tuple[int, ...] = (),
) -> Case:
    names = ("x", "y", "z")[: len(columns)]
    return Case(Part(kind, names, None, options), st.tuples(*columns), equal)


CASES: dict[str, Case] = {
    "count": _case("count", ints),
    "count of two": _case("count", ints, texts),
    "sum": _case("sum", ints),
    "sum of decimals": _case("sum", decimals),
    "try_sum": _case("try_sum", ints),
    "product": _case("product", factors),
    "min": _case("min", floats),
    "min of strings": _case("min", texts),
    "max": _case("max", floats),
    "max of decimals": _case("max", decimals),
    "moments": _case("moments", finite, equal=nearly),
    "moments4": _case("moments4", finite, equal=nearly),
    "comoments": _case("comoments", finite, finite, equal=nearly),
    "first": _case("first", ints),
    "last": _case("last", texts),
    "first_valid": _case("first_valid", ints),
    "last_valid": _case("last_valid", floats),
    "first_at": _case("first_at", texts, ints),
    "last_at": _case("last_at", texts, floats),
    "first_valid_at": _case("first_valid_at", texts, ints),
    "last_valid_at": _case("last_valid_at", ints, ints),
    "min_by": _case("min_by", texts, floats),
    "max_by": _case("max_by", ints, floats),
    "bool_and": _case("bool_and", flags),
    "bool_or": _case("bool_or", flags),
    "bit_and": _case("bit_and", ints),
    "bit_or": _case("bit_or", ints),
    "bit_xor": _case("bit_xor", ints),
    "list": _case("list", floats),
    "list_at": _case("list_at", texts, ints),
    "set": _case("set", floats),
    "set of pairs": _case("set", texts, ints),
    "counts": _case("counts", floats),
    "counts of texts": _case("counts", texts),
    "first_n": _case("first_n", ints, options=(3,)),
    "last_n": _case("last_n", ints, options=(3,)),
    "first_n_at": _case("first_n_at", texts, ints, options=(3,)),
    "last_n_at": _case("last_n_at", texts, ints, options=(3,)),
    "hll": _case("hll", ints | texts, equal=same_count, options=(9,)),
    "kll": _case("kll", finite, equal=same_quantiles, options=(200,)),
}
