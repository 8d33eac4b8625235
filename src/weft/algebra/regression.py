"""Linear regression of y on x, from the part `comoments` over (y, x), in Spark's argument order.

The part's first argument is y here, so its `mean_x` and `m2_x` belong to y, its `mean_y` and `m2_y`
to x.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.algebra.lowering import Columns, divide
from weft.algebra.monoid import Partial

_Y, _X, _C, _SYY, _SXX = range(1, 6)


def _slope(part: Partial) -> float | None:
    return divide(part[_C], part[_SXX])


def _intercept(part: Partial) -> float | None:
    slope = _slope(part)
    return None if slope is None else part[_Y] - slope * part[_X]


def _r2(part: Partial) -> float | None:
    """The share of the variance of y that x explains; 1 if y does not vary."""
    c, syy, sxx = part[_C], part[_SYY], part[_SXX]
    if sxx == 0:
        return None
    return 1.0 if syy == 0 else c * c / (sxx * syy)


_COUNT = "regr_count"
_LOWER: dict[str, tuple[Callable[[Partial], float | None], str]] = {
    "regr_sxx": (lambda part: float(part[_SXX]), "{5}"),
    "regr_syy": (lambda part: float(part[_SYY]), "{4}"),
    "regr_sxy": (lambda part: float(part[_C]), "{3}"),
    "regr_slope": (_slope, "{3} / nullif({5}, 0D)"),
    "regr_intercept": (_intercept, "{1} - {3} / nullif({5}, 0D) * {2}"),
    "regr_r2": (
        _r2,
        "CASE WHEN {5} = 0 THEN NULL WHEN {4} = 0 THEN 1D ELSE {3} * {3} / ({5} * {4}) END",
    ),
}
FUNCTIONS = (_COUNT, *_LOWER)
"""The functions of this family; `regr_avgx` and `regr_avgy` are plain means, not of doubles."""


def lower_regression(function: str, part: Partial) -> float | None:
    """The answer of one of the functions; null without rows, except for the count.

    >>> lower_regression("regr_slope", (2, 5.0, 2.0, 4.0, 8.0, 2.0))
    2.0
    """
    if function == _COUNT:
        return int(part[0])
    return None if part[0] == 0 else _LOWER[function][0](part)


def regression_sql(function: str, columns: Columns) -> str:
    """`lower_regression` in Spark SQL."""
    if function == _COUNT:
        return columns[0][0]
    value = _LOWER[function][1].format(*columns[0])
    return f"CASE WHEN {columns[0][0]} > 0 THEN {value} END"
