"""Order and equality of Python values as in Spark."""

from __future__ import annotations

import math
from typing import Any


def is_nan(value: Any) -> bool:
    """Whether a value is a floating NaN."""
    return isinstance(value, float) and math.isnan(value)


def order_key(value: Any) -> tuple[Any, ...]:
    """A key that sorts as Spark does: null first, NaN last and equal to itself, -0.0 equal to 0.0.

    Arrays and structs (lists, tuples) compare element by element. Strings need no special key:
    Python's order of code points is the order of their UTF-8 bytes.

    >>> sorted([float("nan"), 1.0, None, float("inf")], key=order_key)
    [None, 1.0, inf, nan]
    """
    if value is None:
        return (0,)
    if is_nan(value):
        return (2,)
    if isinstance(value, (list, tuple)):
        return (1, tuple(order_key(item) for item in value))
    return (1, value)


def less(left: Any, right: Any) -> bool:
    """Whether `left` comes before `right` in Spark's order; neither is null.

    >>> less(float("inf"), float("nan")), less(-0.0, 0.0)
    (True, False)
    """
    return order_key(left) < order_key(right)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal to Spark's grouping: NaN equals itself, -0.0 equals 0.0.

    >>> same(float("nan"), float("nan")), same(-0.0, 0.0)
    (True, True)
    """
    return order_key(left) == order_key(right)
