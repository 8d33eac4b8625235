"""Counts, sums and products: kinds `count`, `sum`, `try_sum`, `product`."""

from __future__ import annotations

from typing import Any

from weft.algebra.monoid import Component, Laws, Monoid, Partial

LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1


def _count_lift(*values: Any) -> Partial:
    return (0 if any(value is None for value in values) else 1,)


COUNT = Monoid(
    kind="count",
    laws=Laws(commutative=True, invertible=True, idempotent=False),
    components=(Component("n", "long"),),
    identity=(0,),
    lift=_count_lift,
    combine=lambda older, newer: (older[0] + newer[0],),
    subtract=lambda total, oldest: (total[0] - oldest[0],),
    partial_sql=("count({args}){where}",),
    merge_sql=("coalesce(sum({n}), 0L)",),
    note="rows in which no argument is null",
)


def _add(older: Partial, newer: Partial) -> Partial:
    if older[0] is None:
        return newer
    return older if newer[0] is None else (older[0] + newer[0],)


def _take_away(total: Partial, oldest: Partial) -> Partial:
    return total if oldest[0] is None else (total[0] - oldest[0],)


# Python integers do not overflow, so addition stays associative; `lower` refuses a total that does
# not fit a long. Spark checks every intermediate total instead, in whatever order it adds.
SUM = Monoid(
    kind="sum",
    laws=Laws(commutative=True, invertible=True, idempotent=False),
    components=(Component("total", "sum"),),
    identity=(None,),
    lift=lambda value: (value,),
    combine=_add,
    subtract=_take_away,
    partial_sql=("sum({0}){where}",),
    merge_sql=("sum({total})",),
    note="null when nothing was added; integers as long, decimals ten digits wider",
)


def _try_add(older: Partial, newer: Partial) -> Partial:
    if older[1] == 0 or newer[1] == 0:
        return newer if older[1] == 0 else older
    # A null total over some rows has overflowed: it stays null.
    known = older[0] is not None and newer[0] is not None
    return (older[0] + newer[0] if known else None, older[1] + newer[1])


TRY_SUM = Monoid(
    kind="try_sum",
    laws=Laws(commutative=True, invertible=False, idempotent=False),
    components=(Component("total", "sum"), Component("n", "long")),
    identity=(None, 0),
    lift=lambda value: (value, 0 if value is None else 1),
    combine=_try_add,
    partial_sql=("try_sum({0}){where}", "count({0}){where}"),
    merge_sql=(
        "CASE WHEN coalesce(bool_or({total} IS NULL AND {n} > 0), false) THEN NULL "
        "ELSE try_sum({total}) END",
        "coalesce(sum({n}), 0L)",
    ),
    note="null over some rows means that the total has overflowed",
)


def _product_lift(value: Any) -> Partial:
    return (None if value is None else float(value),)


def _multiply(older: Partial, newer: Partial) -> Partial:
    if older[0] is None:
        return newer
    return older if newer[0] is None else (older[0] * newer[0],)


# Not invertible: a zero cannot be divided out. Spark SQL has no product, its DataFrame functions
# have, as a double; folding a list of a slice's values multiplies in the same way.
PRODUCT = Monoid(
    kind="product",
    laws=Laws(commutative=True, invertible=False, idempotent=False),
    components=(Component("product", "double"),),
    identity=(None,),
    lift=_product_lift,
    combine=_multiply,
    partial_sql=(
        "aggregate(collect_list(CAST({0} AS DOUBLE)){where}, CAST(NULL AS DOUBLE), "
        "(a, v) -> coalesce(a, 1D) * v)",
    ),
    merge_sql=(
        "aggregate(collect_list({product}), CAST(NULL AS DOUBLE), (a, v) -> coalesce(a, 1D) * v)",
    ),
    note="a double, null when nothing was multiplied",
)

MONOIDS = (COUNT, SUM, TRY_SUM, PRODUCT)
