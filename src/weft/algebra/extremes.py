"""Smallest and greatest: kinds `min`, `max`."""

from __future__ import annotations

from weft.algebra.monoid import Component, Laws, Monoid, Partial
from weft.algebra.values import less

_LAWS = Laws(commutative=True, invertible=False, idempotent=True)


def _min(older: Partial, newer: Partial) -> Partial:
    if older[0] is None:
        return newer
    return newer if newer[0] is not None and less(newer[0], older[0]) else older


def _max(older: Partial, newer: Partial) -> Partial:
    if older[0] is None:
        return newer
    return newer if newer[0] is not None and less(older[0], newer[0]) else older


MIN = Monoid(
    kind="min",
    laws=_LAWS,
    components=(Component("least", "argument"),),
    identity=(None,),
    lift=lambda value: (value,),
    combine=_min,
    partial_sql=("min({0}){where}",),
    merge_sql=("min({least})",),
    note="NaN is greater than every number",
)

MAX = Monoid(
    kind="max",
    laws=_LAWS,
    components=(Component("greatest", "argument"),),
    identity=(None,),
    lift=lambda value: (value,),
    combine=_max,
    partial_sql=("max({0}){where}",),
    merge_sql=("max({greatest})",),
    note="NaN is greater than every number",
)

MONOIDS = (MIN, MAX)
