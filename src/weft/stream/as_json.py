"""Values of answers as JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

_EXACT = 2**53
"""Browsers cannot represent all integers beyond this one exactly."""


def plain(value: Any) -> Any:
    """A value as JSON; values that a browser would change become strings.

    >>> [plain(v) for v in (1, 2**60, 0.5, float("nan"), Decimal("1.10"), [date(2026, 1, 2)])]
    [1, '1152921504606846976', 0.5, 'NaN', '1.10', ['2026-01-02']]
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    if isinstance(value, float):
        return (
            value
            if math.isfinite(value)
            else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        )
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return str(value) if isinstance(value, Decimal) else repr(value)


def units_of(windows: pa.ChunkedArray) -> list[tuple[int, int]]:
    """Start and end of every window in axis units: microseconds, or the integers themselves.

    >>> type_ = pa.struct([("start", pa.timestamp("us")), ("end", pa.timestamp("us"))])
    >>> units_of(pa.chunked_array([pa.array([{"start": 0, "end": 5}], type_)]))
    [(0, 5)]
    """
    window = windows.combine_chunks()
    if isinstance(window, pa.ChunkedArray):
        window = window.chunk(0) if window.num_chunks else pa.array([], window.type)
    bounds = [_units(window.field(name)) for name in ("start", "end")]
    return list(zip(*bounds, strict=True))


def _units(edges: pa.Array) -> list[int]:
    if pa.types.is_timestamp(edges.type):
        edges = edges.cast(pa.timestamp("us", edges.type.tz)).cast(pa.int64())
    elif pa.types.is_date(edges.type):
        edges = edges.cast(pa.timestamp("us")).cast(pa.int64())
    units: list[int] = edges.to_pylist()
    return units
