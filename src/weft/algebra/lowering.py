"""Makes answers from partials: Python functions define it, Spark SQL computes the same."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import reduce
from typing import Any

from weft.algebra.monoid import Partial
from weft.algebra.sums import LONG_MAX, LONG_MIN
from weft.errors import AggregateError

Columns = Sequence[Sequence[str]]
"""For each part, the columns that hold its components."""
Types = Sequence[str] | None
"""The names of the arguments' Spark types (`decimal(10,2)`), if known."""

_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_WIDE = Context(prec=80, rounding=ROUND_HALF_UP)
EXACT_DIGITS = 18
"""Up to this precision of the argument, dividing decimals in Spark SQL gives every digit of Spark's
own avg; for larger precisions Arrow code must divide."""


def decimal_type(types: Types) -> tuple[int, int] | None:
    """The precision and scale of the first argument's type, if it is a decimal.

    >>> decimal_type(("decimal(10,2)",)), decimal_type(("bigint",)), decimal_type(None)
    ((10, 2), None, None)
    """
    match = _DECIMAL.fullmatch(types[0].lower()) if types else None
    return None if match is None else (int(match.group(1)), int(match.group(2)))


def sum_type(type_name: str) -> str:
    """The type of Spark's sum over a type; Spark casts types that it cannot add to double.

    >>> sum_type("int"), sum_type("float"), sum_type("decimal(10,2)"), sum_type("timestamp")
    ('bigint', 'double', 'decimal(20,2)', 'double')
    """
    if type_name.lower() in ("tinyint", "smallint", "int", "bigint"):
        return "bigint"
    decimal = decimal_type((type_name,))
    if decimal is not None:
        precision, scale = decimal
        return f"decimal({min(38, precision + 10)},{scale})"
    return type_name.lower() if type_name.lower().startswith("interval") else "double"


def has_own_sum(type_name: str) -> bool:
    """Whether Spark adds values of a type without casting them to double.

    >>> has_own_sum("decimal(10,2)"), has_own_sum("string")
    (True, False)
    """
    return type_name.lower() in ("float", "double") or sum_type(type_name) != "double"


def lower_sum(total: Any) -> Any:
    """The sum; an error if it is an integer that does not fit a long."""
    if isinstance(total, int) and not LONG_MIN <= total <= LONG_MAX:
        raise AggregateError(f"sum: {total} does not fit a bigint (64 bits); use try_sum")
    return total


def lower_try_sum(partial: Partial) -> Any:
    """The sum, or null if it does not fit a long."""
    total = partial[0]
    fits = not isinstance(total, int) or LONG_MIN <= total <= LONG_MAX
    return total if fits else None


def lower_mean(total: Any, n: int) -> Any:
    """The mean in Spark's type: a decimal with four more digits, an interval, or else a double."""
    if n == 0 or total is None:
        return None
    if isinstance(total, Decimal):
        exponent = total.as_tuple().exponent
        assert isinstance(exponent, int)
        digits = min(38, 4 - exponent)
        return _WIDE.divide(total, Decimal(n)).quantize(Decimal(1).scaleb(-digits), context=_WIDE)
    if isinstance(total, timedelta):
        micros = total // timedelta(microseconds=1)
        return timedelta(
            microseconds=int(_WIDE.divide(Decimal(micros), n).to_integral_value(ROUND_HALF_UP))
        )
    return float(total) / float(n)


def lower_try_mean(total: Partial, n: int) -> Any:
    """The mean, or null if the sum or a decimal mean of 38 digits overflows."""
    mean = lower_mean(lower_try_sum(total), n)
    wide = isinstance(mean, Decimal) and len(mean.as_tuple().digits) > 38
    return None if wide else mean


def lower_mean_sql(total: str, n: str, types: Types) -> str | None:
    """The mean in Spark SQL; None for decimals of which SQL's division would lose digits."""
    decimal = decimal_type(types)
    if decimal is None:
        return f"{total} / nullif({n}, 0)"
    precision, scale = decimal
    if precision > EXACT_DIGITS:
        return None
    return f"CAST({total} / nullif({n}, 0) AS DECIMAL({precision + 4},{scale + 4}))"


def lower_sum_sql(total: str, types: Types) -> str:
    """A sum in Spark SQL; a sum of decimal sums has a wider type and is cast to that of one sum."""
    if decimal_type(types) is None or types is None:
        return total
    return f"CAST({total} AS {sum_type(types[0]).upper()})"


def divide(numerator: float, denominator: float) -> float | None:
    """Division as in Spark's moments: by zero it is null, never an error."""
    return None if denominator == 0 else numerator / denominator


def lower_variance(moments: Partial, ddof: int) -> float | None:
    """var_pop (ddof 0) or var_samp (ddof 1); null where Spark would divide by zero."""
    n, _, m2 = moments
    return None if n <= ddof else m2 / (n - ddof)


def variance_sql(columns: Columns, ddof: int) -> str:
    """`lower_variance` in Spark SQL."""
    n, _, m2 = columns[0]
    below = f"({n} - {ddof})" if ddof else n
    return f"CASE WHEN {n} > {ddof} THEN {m2} / {below} END"


def root(value: float | None) -> float | None:
    """The square root; NaN for NaN."""
    return None if value is None else (math.sqrt(value) if value >= 0 else math.nan)


def lower_skewness(moments: Partial) -> float | None:
    """Skewness; null if the values do not vary."""
    n, _, m2, m3, _ = moments
    return None if n == 0 or m2 == 0 else math.sqrt(n) * m3 / math.sqrt(m2 * m2 * m2)


def lower_kurtosis(moments: Partial) -> float | None:
    """Excess kurtosis; null if the values do not vary."""
    n, _, m2, _, m4 = moments
    return None if n == 0 or m2 == 0 else n * m4 / (m2 * m2) - 3.0


def lower_covariance(comoments: Partial, ddof: int) -> float | None:
    """covar_pop (ddof 0) or covar_samp (ddof 1)."""
    n, c = comoments[0], comoments[3]
    return None if n <= ddof else c / (n - ddof)


def lower_correlation(comoments: Partial) -> float | None:
    """Correlation; null for fewer than two rows, or if one of the two arguments does not vary."""
    n, _, _, c, m2_x, m2_y = comoments
    return None if n < 2 else divide(c, math.sqrt(m2_x * m2_y))


def lower_distinct_sum(values: Sequence[Any]) -> Any:
    """The sum of distinct values, numbers or intervals; null if there are none."""
    return lower_sum(reduce(operator.add, values)) if values else None


def distinct_sum_sql(values: str, types: Types) -> str:
    """The sum of an array's elements, in the type of Spark's sum."""
    if types is None:
        raise AggregateError("a DISTINCT sum in Spark SQL needs the type of its argument")
    to = sum_type(types[0]).upper()
    return (
        f"aggregate({values}, CAST(NULL AS {to}), "
        f"(a, v) -> CASE WHEN a IS NULL THEN CAST(v AS {to}) ELSE CAST(a + v AS {to}) END)"
    )
