"""Collected values: kinds `list`, `set`, `first_n`, `last_n`, and `_at` forms that keep order.

The `_at` kinds store each value with that of an order column (the event time), sorted by it; the
others keep the values of older slices before newer ones, and Spark's own order within a slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.algebra.monoid import Component, Laws, Monoid, Partial
from weft.algebra.part import Option, Part
from weft.algebra.values import order_key

_VALUES = (Component("values", "array"),)
# The lists of a group's partials, concatenated, older slices first.
_JOINED = (
    "flatten(transform(array_sort(collect_list(named_struct('at', {order}, 'v', {values})), "
    "(a, b) -> CASE WHEN a.at < b.at THEN -1 WHEN a.at > b.at THEN 1 ELSE 0 END), s -> s.v))"
)


def _list_lift(value: Any) -> Partial:
    return (() if value is None else (value,),)


LIST = Monoid(
    kind="list",
    laws=Laws(commutative=False, invertible=False, idempotent=False),
    components=_VALUES,
    identity=((),),
    lift=_list_lift,
    combine=lambda older, newer: (older[0] + newer[0],),
    partial_sql=("collect_list({0}){where}",),
    merge_sql=(_JOINED,),
    bounded=False,
    order="all",
    note="every value that is not null",
)


def _set_lift(*values: Any) -> Partial:
    if any(value is None for value in values):
        return ((),)
    return (values if len(values) == 1 else (values,),)


def _union(older: Partial, newer: Partial) -> Partial:
    distinct = {order_key(value): value for value in (*newer[0], *older[0])}
    return (tuple(distinct[key] for key in sorted(distinct)),)


def set_monoid(part: Part) -> Monoid:
    """Distinct values, or distinct tuples of several arguments of which none is null."""
    several = len(part.args) > 1
    values = ", ".join(f"{{{position}}}" for position in range(len(part.args)))
    present = " AND ".join(f"({{{position}}}) IS NOT NULL" for position in range(len(part.args)))
    row = f"CASE WHEN {present} THEN struct({values}) END" if several else values
    return Monoid(
        kind="set",
        laws=Laws(commutative=True, invertible=False, idempotent=True),
        components=_VALUES,
        identity=((),),
        lift=_set_lift,
        combine=_union,
        partial_sql=(f"collect_set({row}){{where}}",),
        merge_sql=("array_distinct(flatten(collect_list({values})))",),
        bounded=False,
        note="distinct values; NaN is one value, -0.0 is 0.0; in no particular order",
    )


def _list_n(kind: str, cut: slice, sql: str, note: str) -> Monoid:
    return Monoid(
        kind=kind,
        laws=Laws(commutative=False, invertible=False, idempotent=False),
        components=_VALUES,
        identity=((),),
        lift=_list_lift,
        combine=lambda older, newer: ((older[0] + newer[0])[cut],),
        partial_sql=(sql.format("collect_list({0}){where}"),),
        merge_sql=(sql.format(_JOINED),),
        order="all",
        note=note,
    )


def first_n_monoid(part: Part) -> Monoid:
    """The first n values that are not null; n is the part's option."""
    (n,) = part.options
    assert isinstance(n, int)
    return _list_n("first_n", slice(n), f"slice({{0}}, 1, {n})", "at most n values, none null")


def last_n_monoid(part: Part) -> Monoid:
    """The last n values that are not null; n is the part's option."""
    (n,) = part.options
    assert isinstance(n, int)
    sql = f"reverse(slice(reverse({{0}}), 1, {n}))"
    return _list_n(
        "last_n", slice(-n, None), sql, "at most n values, none null, in order of arrival"
    )


def _at_lift(value: Any, at: Any) -> Partial:
    return (() if value is None or at is None else ((at, value),),)


def _merge_at(older: Partial, newer: Partial) -> tuple[tuple[Any, Any], ...]:
    """Merges two sorted lists; of equal elements, the older first."""
    return tuple(sorted((*older[0], *newer[0]), key=lambda pair: order_key(pair[0])))


_SORT_AT = (
    "array_sort({0}, (a, b) -> CASE WHEN a.at < b.at THEN -1 WHEN a.at > b.at THEN 1 ELSE 0 END)"
)
_COLLECT_AT = _SORT_AT.format(
    "collect_list(CASE WHEN ({0}) IS NOT NULL AND ({1}) IS NOT NULL "
    "THEN named_struct('at', {1}, 'value', {0}) END){where}"
)
_MERGE_AT = _SORT_AT.format("flatten(collect_list({values}))")
_PAIRS = (Component("values", "pairs"),)


def _list_at(kind: str, cut: slice, sql: str, bounded: bool, note: str) -> Monoid:
    return Monoid(
        kind=kind,
        laws=Laws(commutative=False, invertible=False, idempotent=False),
        components=_PAIRS,
        identity=((),),
        lift=_at_lift,
        combine=lambda older, newer: (_merge_at(older, newer)[cut],),
        partial_sql=(sql.format(_COLLECT_AT),),
        merge_sql=(sql.format(_MERGE_AT),),
        bounded=bounded,
        order="ties",
        note=note,
    )


LIST_AT = _list_at("list_at", slice(None), "{0}", False, "every value that is not null, in order")


def first_n_at_monoid(part: Part) -> Monoid:
    """The first n values by the order column; n is the part's option."""
    (n,) = part.options
    assert isinstance(n, int)
    return _list_at("first_n_at", slice(n), f"slice({{0}}, 1, {n})", True, "at most n values")


def last_n_at_monoid(part: Part) -> Monoid:
    """The last n values by the order column; n is the part's option."""
    (n,) = part.options
    assert isinstance(n, int)
    sql = f"reverse(slice(reverse({{0}}), 1, {n}))"
    return _list_at("last_n_at", slice(-n, None), sql, True, "at most n values")


def lower_text(values: Sequence[Any], options: Sequence[Option]) -> str | None:
    """The strings joined with a separator; null if there are none.

    Options are the separator, and `ASC`, or `DESC` to join the values in reverse order.
    """
    separator, direction = options
    listed = values if direction == "ASC" else values[::-1]
    return str(separator).join(listed) if listed else None


def text_sql(values: str, options: Sequence[Option]) -> str:
    """`lower_text` in Spark SQL; the separator is in hexadecimal, so no parser setting affects it.

    >>> text_sql("p0_values", ("; ", "ASC"))
    "CASE WHEN size(p0_values) > 0 THEN array_join(p0_values, CAST(X'3B20' AS STRING)) END"
    """
    separator, direction = options
    listed = values if direction == "ASC" else f"reverse({values})"
    constant = f"CAST(X'{str(separator).encode().hex().upper()}' AS STRING)"
    return f"CASE WHEN size({values}) > 0 THEN array_join({listed}, {constant}) END"


MONOIDS = (LIST, LIST_AT)
MAKERS = {
    "set": set_monoid,
    "first_n": first_n_monoid,
    "last_n": last_n_monoid,
    "first_n_at": first_n_at_monoid,
    "last_n_at": last_n_at_monoid,
}
