"""Central moments of one expression and of two: kinds `moments`, `moments4`, `comoments`.

Counts, means and sums of powers of deviations, combined by the formulas of Chan, Golub and LeVeque
(as in Spark), which lose no digits for large means, unlike sums of squares. Not invertible:
subtracting a slice would subtract nearly equal numbers.
"""

from __future__ import annotations

from typing import Any

from weft.algebra.monoid import Component, Laws, Monoid, Partial

_LAWS = Laws(commutative=True, invertible=False, idempotent=False)


def _moments_lift(value: Any) -> Partial:
    return (0, 0.0, 0.0) if value is None else (1, float(value), float(value) * 0.0)


def _moments_combine(older: Partial, newer: Partial) -> Partial:
    if older[0] == 0 or newer[0] == 0:  # return the other exactly: its mean must not be rounded
        return newer if older[0] == 0 else older
    (na, mean_a, m2_a), (nb, mean_b, m2_b) = older, newer
    n, delta = na + nb, mean_b - mean_a
    share = delta / n
    return (n, mean_a + share * nb, m2_a + m2_b + delta * share * na * nb)


# A merge in Spark SQL folds the list of partials with the same formula: the simple formula
# sum(m2) + sum(n * mean^2) - n * mean^2 would lose the digits that moments are to preserve.
_FOLD = (
    "aggregate(collect_list(named_struct('n', {n}, 'mean', {mean}, 'm2', {m2})), "
    "named_struct('n', 0L, 'mean', 0D, 'm2', 0D), "
    "(a, b) -> CASE WHEN a.n = 0 THEN b WHEN b.n = 0 THEN a ELSE named_struct("
    "'n', a.n + b.n, "
    "'mean', a.mean + (b.mean - a.mean) / (a.n + b.n) * b.n, "
    "'m2', a.m2 + b.m2 + (b.mean - a.mean) * ((b.mean - a.mean) / (a.n + b.n)) * a.n * b.n"
    ") END)"
)

MOMENTS = Monoid(
    kind="moments",
    laws=_LAWS,
    components=(Component("n", "long"), Component("mean", "double"), Component("m2", "double")),
    identity=(0, 0.0, 0.0),
    lift=_moments_lift,
    combine=_moments_combine,
    partial_sql=(
        "count({0}){where}",
        "coalesce(avg(CAST({0} AS DOUBLE)){where}, 0D)",
        "coalesce(var_pop({0}){where} * count({0}){where}, 0D)",
    ),
    merge_sql=tuple(f"{_FOLD}.{name}" for name in ("n", "mean", "m2")),
    note="count, mean, sum of squared deviations; last digits depend on the grouping",
)


def _moments4_lift(value: Any) -> Partial:
    if value is None:
        return (0, 0.0, 0.0, 0.0, 0.0)
    zero = float(value) * 0.0  # NaN for NaN and infinities, as in Spark
    return (1, float(value), zero, zero, zero)


def _moments4_combine(older: Partial, newer: Partial) -> Partial:
    if older[0] == 0 or newer[0] == 0:
        return newer if older[0] == 0 else older
    (na, mean_a, m2_a, m3_a, m4_a), (nb, mean_b, m2_b, m3_b, m4_b) = older, newer
    n, delta = na + nb, mean_b - mean_a
    share = delta / n
    m2 = m2_a + m2_b + delta * share * na * nb
    m3 = (
        m3_a
        + m3_b
        + share * share * delta * na * nb * (na - nb)
        + 3.0 * share * (na * m2_b - nb * m2_a)
    )
    m4 = (
        m4_a
        + m4_b
        + share * share * share * delta * na * nb * (na * na - na * nb + nb * nb)
        + 6.0 * share * share * (na * na * m2_b + nb * nb * m2_a)
        + 4.0 * share * (na * m3_b - nb * m3_a)
    )
    return (n, mean_a + share * nb, m2, m3, m4)


_D = "(b.mean - a.mean)"
_S = "((b.mean - a.mean) / (a.n + b.n))"
_FOLD4 = (
    "aggregate(collect_list(named_struct("
    "'n', CAST({n} AS DOUBLE), 'mean', {mean}, 'm2', {m2}, 'm3', {m3}, 'm4', {m4})), "
    "named_struct('n', 0D, 'mean', 0D, 'm2', 0D, 'm3', 0D, 'm4', 0D), "
    "(a, b) -> CASE WHEN a.n = 0 THEN b WHEN b.n = 0 THEN a ELSE named_struct("
    f"'n', a.n + b.n, 'mean', a.mean + {_S} * b.n, "
    f"'m2', a.m2 + b.m2 + {_D} * {_S} * a.n * b.n, "
    f"'m3', a.m3 + b.m3 + {_S} * {_S} * {_D} * a.n * b.n * (a.n - b.n) "
    f"+ 3D * {_S} * (a.n * b.m2 - b.n * a.m2), "
    f"'m4', a.m4 + b.m4 "
    f"+ {_S} * {_S} * {_S} * {_D} * a.n * b.n * (a.n * a.n - a.n * b.n + b.n * b.n) "
    f"+ 6D * {_S} * {_S} * (a.n * a.n * b.m2 + b.n * b.n * a.m2) "
    f"+ 4D * {_S} * (a.n * b.m3 - b.n * a.m3)"
    ") END)"
)
_M2 = "(var_pop({0}){where} * count({0}){where})"

MOMENTS4 = Monoid(
    kind="moments4",
    laws=_LAWS,
    components=(
        Component("n", "long"),
        Component("mean", "double"),
        Component("m2", "double"),
        Component("m3", "double"),
        Component("m4", "double"),
    ),
    identity=(0, 0.0, 0.0, 0.0, 0.0),
    lift=_moments4_lift,
    combine=_moments4_combine,
    partial_sql=(
        "count({0}){where}",
        "coalesce(avg(CAST({0} AS DOUBLE)){where}, 0D)",
        f"coalesce({_M2}, 0D)",
        f"coalesce(skewness({{0}}){{where}} * sqrt({_M2} * {_M2} * {_M2}) "
        "/ sqrt(nullif(count({0}){where}, 0L)), 0D)",
        f"coalesce((kurtosis({{0}}){{where}} + 3D) * {_M2} * {_M2} "
        "/ nullif(count({0}){where}, 0L), 0D)",
    ),
    merge_sql=(
        f"CAST({_FOLD4}.n AS BIGINT)",
        *(f"{_FOLD4}.{name}" for name in ("mean", "m2", "m3", "m4")),
    ),
    note="as moments, with the sums of third and fourth powers",
)


def _comoments_lift(x: Any, y: Any) -> Partial:
    if x is None or y is None:
        return (0, 0.0, 0.0, 0.0, 0.0, 0.0)
    zero_x, zero_y = float(x) * 0.0, float(y) * 0.0
    return (1, float(x), float(y), zero_x * zero_y, zero_x, zero_y)


def _comoments_combine(older: Partial, newer: Partial) -> Partial:
    if older[0] == 0 or newer[0] == 0:
        return newer if older[0] == 0 else older
    (na, xa, ya, ca, m2xa, m2ya), (nb, xb, yb, cb, m2xb, m2yb) = older, newer
    n, dx, dy = na + nb, xb - xa, yb - ya
    share_x, share_y = dx / n, dy / n
    return (
        n,
        xa + share_x * nb,
        ya + share_y * nb,
        ca + cb + dx * share_y * na * nb,
        m2xa + m2xb + dx * share_x * na * nb,
        m2ya + m2yb + dy * share_y * na * nb,
    )


_X = "CASE WHEN ({1}) IS NOT NULL THEN CAST({0} AS DOUBLE) END"
_Y = "CASE WHEN ({0}) IS NOT NULL THEN CAST({1} AS DOUBLE) END"
_N = "count({0}, {1}){where}"
_DX, _DY = "(b.x - a.x)", "(b.y - a.y)"
_FOLD_C = (
    "aggregate(collect_list(named_struct('n', {n}, 'x', {mean_x}, 'y', {mean_y}, "
    "'c', {c}, 'm2x', {m2_x}, 'm2y', {m2_y})), "
    "named_struct('n', 0L, 'x', 0D, 'y', 0D, 'c', 0D, 'm2x', 0D, 'm2y', 0D), "
    "(a, b) -> CASE WHEN a.n = 0 THEN b WHEN b.n = 0 THEN a ELSE named_struct("
    f"'n', a.n + b.n, 'x', a.x + {_DX} / (a.n + b.n) * b.n, 'y', a.y + {_DY} / (a.n + b.n) * b.n, "
    f"'c', a.c + b.c + {_DX} * ({_DY} / (a.n + b.n)) * a.n * b.n, "
    f"'m2x', a.m2x + b.m2x + {_DX} * ({_DX} / (a.n + b.n)) * a.n * b.n, "
    f"'m2y', a.m2y + b.m2y + {_DY} * ({_DY} / (a.n + b.n)) * a.n * b.n"
    ") END)"
)

COMOMENTS = Monoid(
    kind="comoments",
    laws=_LAWS,
    components=(
        Component("n", "long"),
        Component("mean_x", "double"),
        Component("mean_y", "double"),
        Component("c", "double"),
        Component("m2_x", "double"),
        Component("m2_y", "double"),
    ),
    identity=(0, 0.0, 0.0, 0.0, 0.0, 0.0),
    lift=_comoments_lift,
    combine=_comoments_combine,
    partial_sql=(
        _N,
        f"coalesce(avg({_X}){{where}}, 0D)",
        f"coalesce(avg({_Y}){{where}}, 0D)",
        f"coalesce(covar_pop({{0}}, {{1}}){{where}} * {_N}, 0D)",
        f"coalesce(var_pop({_X}){{where}} * {_N}, 0D)",
        f"coalesce(var_pop({_Y}){{where}} * {_N}, 0D)",
    ),
    merge_sql=tuple(f"{_FOLD_C}.{name}" for name in ("n", "x", "y", "c", "m2x", "m2y")),
    note="of the rows in which neither is null",
)

MONOIDS = (MOMENTS, MOMENTS4, COMOMENTS)
