"""Approximate answers from mergeable sketches: kinds `hll` (distinct count), `kll` (quantiles).

The partials are Apache DataSketches in their serialised form, which Spark's `hll_*` and `kll_*`
functions read and write too. A sketch's answer is an estimate with a known error, but differs from
those of Spark's `approx_count_distinct` and `approx_percentile`, which use other sketches.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from datasketches import hll_sketch, hll_union, kll_doubles_sketch, tgt_hll_type

from weft.algebra.monoid import Component, Laws, Monoid, Partial
from weft.algebra.part import Part
from weft.errors import AggregateError

_SKETCH = (Component("sketch", "binary"),)
_LAWS_HLL = Laws(commutative=True, invertible=False, idempotent=True)
_LAWS_KLL = Laws(commutative=True, invertible=False, idempotent=False)


def hll_size(rsd: float) -> int:
    """The log2 of the number of registers whose relative standard error is at most `rsd`.

    >>> hll_size(0.05)
    9
    """
    if not 0.0 < rsd <= 0.39:
        raise AggregateError(
            f"approx_count_distinct: rsd={rsd!r} is out of reach: accepted are errors above 0 and "
            f"up to 0.39, as in Spark"
        )
    # 1.04 / sqrt(k) is the error of a union of sketches; a union accepts 7 to 21.
    return min(21, max(7, math.ceil(2.0 * math.log2(1.04 / rsd))))


def kll_size(accuracy: int) -> int:
    """The k of a KLL sketch whose rank error is at most `1 / accuracy`.

    >>> kll_size(100), kll_size(10000)
    (269, 30565)
    """
    if accuracy < 1:
        raise AggregateError(
            f"approx_percentile: accuracy={accuracy!r} must be at least 1, as in Spark"
        )
    # The library's own fit of the one-sided rank error: 2.296 / k ** 0.9723.
    return min(65535, max(8, math.ceil(math.pow(2.296 * accuracy, 1.0 / 0.9723))))


def hashable(value: Any) -> int | float | str:
    """The value in a form that a sketch accepts; values that Spark considers equal stay equal."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, float):
        return value + 0.0  # -0.0 becomes 0.0
    if isinstance(value, Decimal):
        return f"d{value.normalize()}"
    return f"s{value}"  # with a letter in front, because the sketch would skip an empty string


def hll_monoid(part: Part) -> Monoid:
    """A HyperLogLog sketch of the values that are not null; the option is log2 of its registers."""
    (size,) = part.options

    def lift(value: Any) -> Partial:
        if value is None:
            return (None,)
        sketch = hll_sketch(size, tgt_hll_type.HLL_8)
        sketch.update(hashable(value))
        return (bytes(sketch.serialize_compact()),)

    def combine(older: Partial, newer: Partial) -> Partial:
        if older[0] is None or newer[0] is None:
            return newer if older[0] is None else older
        union = hll_union(size)
        union.update(hll_sketch.deserialize(older[0]))
        union.update(hll_sketch.deserialize(newer[0]))
        return (bytes(union.get_result(tgt_hll_type.HLL_8).serialize_compact()),)

    return Monoid(
        kind="hll",
        laws=_LAWS_HLL,
        components=_SKETCH,
        identity=(None,),
        lift=lift,
        combine=combine,
        # Spark's sketch takes integers and strings only; a 64-bit hash takes every type that can
        # be grouped by, with NaN and zero treated as grouping does.
        partial_sql=(
            f"hll_sketch_agg(CASE WHEN ({{0}}) IS NOT NULL THEN xxhash64({{0}}) END, {size})"
            "{where}",
        ),
        merge_sql=("hll_union_agg({sketch})",),
        note=f"HyperLogLog; up to 2^{size} registers of a byte",
    )


def estimate_distinct(partial: Partial) -> int:
    """The distinct count that a `hll` partial estimates."""
    if partial[0] is None:
        return 0
    estimate: float = hll_sketch.deserialize(partial[0]).get_estimate()
    return round(estimate)


def kll_monoid(part: Part) -> Monoid:
    """A KLL sketch of the values, as doubles, that are not null; the option is its k."""
    (size,) = part.options

    def lift(value: Any) -> Partial:
        if value is None:
            return (None,)
        sketch = kll_doubles_sketch(size)
        sketch.update(float(value))
        return (bytes(sketch.serialize()),)

    def combine(older: Partial, newer: Partial) -> Partial:
        if older[0] is None or newer[0] is None:
            return newer if older[0] is None else older
        merged = kll_doubles_sketch.deserialize(older[0])
        merged.merge(kll_doubles_sketch.deserialize(newer[0]))
        return (bytes(merged.serialize()),)

    return Monoid(
        kind="kll",
        laws=_LAWS_KLL,
        components=_SKETCH,
        identity=(None,),
        lift=lift,
        combine=combine,
        partial_sql=(f"kll_sketch_agg_double(CAST({{0}} AS DOUBLE), {size}){{where}}",),
        merge_sql=("kll_merge_agg_double({sketch})",),
        note="KLL; exact up to k values, then samples; NaN is left out",
    )


def estimate_quantiles(partial: Partial, ranks: tuple[float, ...]) -> list[float] | None:
    """The values at some ranks, as a `kll` partial estimates them."""
    if partial[0] is None:
        return None
    sketch = kll_doubles_sketch.deserialize(partial[0])
    return None if sketch.is_empty() else [sketch.get_quantile(rank, True) for rank in ranks]


MAKERS = {"hll": hll_monoid, "kll": kll_monoid}
