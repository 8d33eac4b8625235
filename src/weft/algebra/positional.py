"""First and last: kinds `first`, `last`, with `_valid` (not null) and `_at` (by a column) forms.

weft guarantees that values of older slices come before values of newer ones. Within a slice the
plain kinds keep the order in which Spark happens to read rows, as Spark itself does; the `_at`
kinds store the value of an order column (the event time) and are exact, even if predicates divide
slices into fragments.
"""

from __future__ import annotations

from typing import Any

from weft.algebra.monoid import Component, Laws, Monoid, Partial
from weft.algebra.part import Part
from weft.algebra.values import less

_LAWS = Laws(commutative=False, invertible=False, idempotent=True)
_SEEN = (Component("seen", "boolean"), Component("value", "argument"))
_AT = (Component("at", "argument", 1), Component("value", "argument", 0))

FIRST = Monoid(
    kind="first",
    laws=_LAWS,
    components=_SEEN,
    identity=(False, None),
    lift=lambda value: (True, value),
    combine=lambda older, newer: older if older[0] else newer,
    partial_sql=("count(*){where} > 0", "first({0}){where}"),
    merge_sql=(
        "coalesce(bool_or({seen}), false)",
        "min_by({value}, {order}) FILTER (WHERE {seen})",
    ),
    order="all",
    note="the first row's value, null or not",
)

LAST = Monoid(
    kind="last",
    laws=_LAWS,
    components=_SEEN,
    identity=(False, None),
    lift=lambda value: (True, value),
    combine=lambda older, newer: newer if newer[0] else older,
    partial_sql=("count(*){where} > 0", "last({0}){where}"),
    merge_sql=(
        "coalesce(bool_or({seen}), false)",
        "max_by({value}, {order}) FILTER (WHERE {seen})",
    ),
    order="all",
    note="the last row's value, null or not",
)

FIRST_VALID = Monoid(
    kind="first_valid",
    laws=_LAWS,
    components=(Component("value", "argument"),),
    identity=(None,),
    lift=lambda value: (value,),
    combine=lambda older, newer: newer if older[0] is None else older,
    partial_sql=("first({0}, true){where}",),
    merge_sql=("min_by({value}, {order}) FILTER (WHERE {value} IS NOT NULL)",),
    order="all",
    note="the first value that is not null",
)

LAST_VALID = Monoid(
    kind="last_valid",
    laws=_LAWS,
    components=(Component("value", "argument"),),
    identity=(None,),
    lift=lambda value: (value,),
    combine=lambda older, newer: older if newer[0] is None else newer,
    partial_sql=("last({0}, true){where}",),
    merge_sql=("max_by({value}, {order}) FILTER (WHERE {value} IS NOT NULL)",),
    order="all",
    note="the last value that is not null",
)


def _earlier(older: Partial, newer: Partial) -> Partial:
    if older[0] is None:
        return newer
    return newer if newer[0] is not None and less(newer[0], older[0]) else older


def _later(older: Partial, newer: Partial) -> Partial:
    if newer[0] is None:
        return older
    return older if older[0] is not None and less(newer[0], older[0]) else newer


def _at(value: Any, at: Any) -> Partial:
    return (None, None) if at is None else (at, value)


def _valid_at(value: Any, at: Any) -> Partial:
    return (None, None) if at is None or value is None else (at, value)


FIRST_AT = Monoid(
    kind="first_at",
    laws=_LAWS,
    components=_AT,
    identity=(None, None),
    lift=_at,
    combine=_earlier,
    partial_sql=("min({1}){where}", "min_by({0}, {1}){where}"),
    merge_sql=("min({at})", "min_by({value}, {at})"),
    order="ties",
    note="the value of the row that is first in the order column",
)

LAST_AT = Monoid(
    kind="last_at",
    laws=_LAWS,
    components=_AT,
    identity=(None, None),
    lift=_at,
    combine=_later,
    partial_sql=("max({1}){where}", "max_by({0}, {1}){where}"),
    merge_sql=("max({at})", "max_by({value}, {at})"),
    order="ties",
    note="the value of the row that is last in the order column",
)

_AT_IF_VALID = "CASE WHEN ({0}) IS NOT NULL THEN {1} END"

FIRST_VALID_AT = Monoid(
    kind="first_valid_at",
    laws=_LAWS,
    components=_AT,
    identity=(None, None),
    lift=_valid_at,
    combine=_earlier,
    partial_sql=(f"min({_AT_IF_VALID}){{where}}", f"min_by({{0}}, {_AT_IF_VALID}){{where}}"),
    merge_sql=("min({at})", "min_by({value}, {at})"),
    order="ties",
    note="the same, of the rows where the value is not null",
)

LAST_VALID_AT = Monoid(
    kind="last_valid_at",
    laws=_LAWS,
    components=_AT,
    identity=(None, None),
    lift=_valid_at,
    combine=_later,
    partial_sql=(f"max({_AT_IF_VALID}){{where}}", f"max_by({{0}}, {_AT_IF_VALID}){{where}}"),
    merge_sql=("max({at})", "max_by({value}, {at})"),
    order="ties",
    note="the same, of the rows where the value is not null",
)

MONOIDS = (
    FIRST,
    LAST,
    FIRST_VALID,
    LAST_VALID,
    FIRST_AT,
    LAST_AT,
    FIRST_VALID_AT,
    LAST_VALID_AT,
)


def ordered(part: Part, by: str) -> Part:
    """The part that keeps the order of column `by` within a slice, for first and last.

    Its value is its last component. `Aggregate.ordered` does the same for whole calls, lists
    included, and can also lower the result.

    >>> str(ordered(Part("first", ("price",)), by="ts"))
    'first_at(price, ts)'
    >>> str(ordered(Part("sum", ("price",)), by="ts"))
    'sum(price)'
    """
    if part.kind not in ("first", "last", "first_valid", "last_valid"):
        return part
    return Part(f"{part.kind}_at", (*part.args, by), part.where, part.options)
