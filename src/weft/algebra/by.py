"""The value where another is smallest or greatest: kinds `min_by`, `max_by`."""

from __future__ import annotations

from typing import Any

from weft.algebra.monoid import Component, Laws, Monoid, Partial
from weft.algebra.values import less

# On a tie the newer one is kept, as in Spark's own update. So ties depend on the order of rows,
# which Spark leaves open; strictly speaking the operation does not commute.
_LAWS = Laws(commutative=False, invertible=False, idempotent=True)


def _lift(value: Any, by: Any) -> Partial:
    return (None, None) if by is None else (by, value)


def _min_by(older: Partial, newer: Partial) -> Partial:
    if newer[0] is None:
        return older
    return older if older[0] is not None and less(older[0], newer[0]) else newer


def _max_by(older: Partial, newer: Partial) -> Partial:
    if newer[0] is None:
        return older
    return older if older[0] is not None and less(newer[0], older[0]) else newer


MIN_BY = Monoid(
    kind="min_by",
    laws=_LAWS,
    components=(Component("least", "argument", 1), Component("value", "argument", 0)),
    identity=(None, None),
    lift=_lift,
    combine=_min_by,
    partial_sql=("min({1}){where}", "min_by({0}, {1}){where}"),
    merge_sql=("min({least})", "min_by({value}, {least})"),
    order="ties",
    note="rows where the second is null are skipped; the value may be null",
)

MAX_BY = Monoid(
    kind="max_by",
    laws=_LAWS,
    components=(Component("greatest", "argument", 1), Component("value", "argument", 0)),
    identity=(None, None),
    lift=_lift,
    combine=_max_by,
    partial_sql=("max({1}){where}", "max_by({0}, {1}){where}"),
    merge_sql=("max({greatest})", "max_by({value}, {greatest})"),
    order="ties",
    note="rows where the second is null are skipped; the value may be null",
)

MONOIDS = (MIN_BY, MAX_BY)
