"""Every kind of part and its monoid."""

from __future__ import annotations

from collections.abc import Callable

from weft.algebra import (
    bits,
    by,
    collected,
    counted,
    extremes,
    moments,
    positional,
    sketches,
    sums,
)
from weft.algebra.monoid import Monoid
from weft.algebra.part import Part
from weft.errors import AggregateError

_MONOIDS: dict[str, Monoid] = {
    monoid.kind: monoid
    for family in (sums, extremes, moments, positional, by, bits, collected, counted)
    for monoid in family.MONOIDS
}
# Kinds whose monoid depends on the part: on its constants or its number of arguments.
_MAKERS: dict[str, Callable[[Part], Monoid]] = {**collected.MAKERS, **sketches.MAKERS}

KINDS: tuple[str, ...] = (*_MONOIDS, *_MAKERS)
"""The names of every kind, in the order of the families."""


def monoid_of(part: Part) -> Monoid:
    """The monoid of a part.

    >>> monoid_of(Part("max", ("price",))).fold((3,), (None,), (5,))
    (5,)
    """
    if part.kind in _MONOIDS:
        return _MONOIDS[part.kind]
    if part.kind in _MAKERS:
        return _MAKERS[part.kind](part)
    raise AggregateError(f"unknown kind of part {part.kind!r}: accepted are {', '.join(KINDS)}")


def spark_partial(part: Part) -> tuple[str, ...] | None:
    """Spark SQL that computes the part over a slice's rows, one aggregate per component.

    None if Spark's own aggregates cannot compute it, so that Arrow code must.

    >>> spark_partial(Part("sum", ("price",), where="volume > 50"))
    ('sum(price) FILTER (WHERE volume > 50)',)
    >>> spark_partial(Part("count"))
    ('count(*)',)
    """
    templates = monoid_of(part).partial_sql
    if templates is None:
        return None
    where = f" FILTER (WHERE {part.where})" if part.where else ""
    args = ", ".join(part.args) or "*"
    return tuple(template.format(*part.args, args=args, where=where) for template in templates)


def prepared(part: Part) -> tuple[str, ...]:
    """SQL of the part's arguments as a stream projects them: in the form that `lift` expects.

    >>> prepared(Part("hll", ("name",), options=(9,)))
    ('CASE WHEN (name) IS NOT NULL THEN xxhash64(name) END',)
    """
    if part.kind == "hll":  # as in `partial_sql`: values that are equal in Spark have one hash
        return tuple(f"CASE WHEN ({a}) IS NOT NULL THEN xxhash64({a}) END" for a in part.args)
    return part.args


def spark_merge(part: Part, columns: tuple[str, ...], order: str) -> tuple[str, ...] | None:
    """Spark SQL that combines a group's partials of the part, one aggregate per component.

    `columns` are the columns that hold the partials, in the order of the components; `order` is an
    expression that grows from older to newer slices.

    >>> spark_merge(Part("first_valid", ("price",)), ("p0",), order="slice.start")
    ('min_by(p0, slice.start) FILTER (WHERE p0 IS NOT NULL)',)
    """
    monoid = monoid_of(part)
    if monoid.merge_sql is None:
        return None
    names = {
        component.name: column for component, column in zip(monoid.components, columns, strict=True)
    }
    return tuple(template.format(order=order, **names) for template in monoid.merge_sql)
