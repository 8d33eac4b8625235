"""Translates comparisons with constants into boundaries, exactly as Spark compares."""

from __future__ import annotations

import base64
import json
import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.query.predicate import Constant

Boundary: TypeAlias = "int | float | bytes"
Cut: TypeAlias = "tuple[Boundary, Boundary]"
"""The least value >= a constant, and the least value > it."""

_WHOLE = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_DATE = re.compile(r"(?:DATE )?'?(\d{4}-\d{2}-\d{2})'?")
_EXACT = ("integer", "byte", "short", "long", "decimal")
_INT64 = np.iinfo(np.int64)
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Domain:
    """The values of an expression of one Spark type, in an order in which each has a successor.

    With successors, every comparison has the form `value >= boundary`. Integers and dates are
    int64, floats and doubles float64 (NaN greatest, as in Spark), decimals are unscaled integers,
    strings are the bytes that Spark orders them by.
    """

    type: str
    form: Literal["integer", "double", "decimal", "bytes"]
    scale: int = 0

    def cut(self, constant: Constant) -> Cut | None:
        """The boundaries of a constant; None if Spark would not compare with it exactly.

        >>> domain_of("int").cut(Constant("decimal", "2.5", Decimal("2.5")))
        (3, 3)
        """
        if self.form == "bytes":
            if constant.kind != "string" or not isinstance(constant.value, str):
                return None
            text = constant.value.encode()
            return text, text + b"\0"
        if self.type == "date":
            return _cut_date(constant)
        number = constant.value
        if isinstance(number, (str, type(None))) or not math.isfinite(number):
            return None
        return self._cut_double(constant) if self.form == "double" else self._cut_exact(constant)

    def _cut_double(self, constant: Constant) -> Cut | None:
        assert not isinstance(constant.value, (str, type(None)))
        number = float(constant.value)
        single = _single(number)
        if constant.kind == "float":
            number = single
        whole = constant.kind in ("integer", "byte", "short", "long")
        if self.type == "float" and whole and single != constant.value:
            return None  # without ANSI mode Spark compares a float with an integer as floats
        return number, float(np.nextafter(number, np.inf))

    def _cut_exact(self, constant: Constant) -> Cut | None:
        assert not isinstance(constant.value, (str, type(None)))
        if constant.kind not in _EXACT and not (
            # Spark compares these as doubles, in which small integers are exact.
            (constant.kind == "double" and self.type in ("tinyint", "smallint", "int"))
            or (constant.kind == "float" and self.type in ("tinyint", "smallint"))
        ):
            return None
        value = constant.value
        if constant.kind == "float":
            value = _single(float(value))
        if isinstance(value, Decimal) and not self._fits(value):
            return None
        scaled = Fraction(value) * 10**self.scale
        at, after = math.ceil(scaled), math.floor(scaled) + 1
        limit = 10**38 if self.form == "decimal" else _INT64.max
        return (at, after) if -limit <= at and after <= limit else None

    def _fits(self, value: Decimal) -> bool:
        """Whether Spark has a decimal type that holds the expression and the constant exactly."""
        exponent = value.as_tuple().exponent
        scale = max(-exponent, 0) if isinstance(exponent, int) else 0
        found = _DECIMAL.fullmatch(self.type)
        whole = int(found[1]) - self.scale if found else _WHOLE[self.type]
        return max(whole, value.adjusted() + 1, 10) + max(self.scale, scale) <= 38

    def value_sql(self, expression: str) -> str:
        """SQL of an expression's value in the type of the boundaries."""
        if self.type == "date":
            return f"CAST(unix_date({expression}) AS BIGINT)"
        return f"CAST({expression} AS {self.array_kind})"

    @property
    def array_kind(self) -> str:
        """The Spark type of a boundary."""
        if self.form == "decimal":
            return f"decimal(38,{self.scale})"
        return {"integer": "bigint", "double": "double", "bytes": "binary"}[self.form]

    def array_json(self, boundaries: list[Boundary | None]) -> str:
        """Boundaries as JSON that Spark parses exactly; no value contains a quote or a backslash.

        >>> domain_of("decimal(9,2)").array_json([1250, None])
        '[12.50,null]'
        """
        return f"[{','.join(map(self._json, boundaries))}]"

    def _json(self, boundary: Boundary | None) -> str:
        if boundary is None:
            return "null"
        if isinstance(boundary, bytes):
            return json.dumps(base64.b64encode(boundary).decode())
        if isinstance(boundary, float):
            return repr(boundary) if math.isfinite(boundary) else '"Infinity"'
        if self.form == "decimal":
            # Decimal arithmetic would round to the 28 digits of its context.
            digits = str(abs(boundary)).rjust(self.scale + 1, "0")
            cut = len(digits) - self.scale
            return f"{'-' * (boundary < 0)}{digits[:cut]}.{digits[cut:] or '0'}"
        return str(boundary)

    def positions(self, values: pa.Array, boundaries: tuple[Boundary, ...]) -> Any:
        """How many boundaries are <= each value; null counts as the least value.

        >>> domain_of("string").positions(pa.array(["b", "c", None]), (b"b", b"b\\0")).tolist()
        [1, 2, 0]
        """
        if self.form in ("integer", "double"):
            plain = pa.int64() if self.form == "integer" else pa.float64()
            if self.type == "date":
                values = values.cast(pa.int32())
            filled: npt.NDArray[Any] = np.asarray(values.cast(plain).fill_null(0))
            found = np.searchsorted(np.array(boundaries, dtype=filled.dtype), filled, side="right")
        else:
            coded = values.dictionary_encode()
            of_each = [
                bisect_right(boundaries, self._plain(v)) for v in coded.dictionary.to_pylist()
            ]
            found = np.array([*of_each, 0])[np.asarray(coded.indices.fill_null(len(of_each)))]
        if values.null_count:
            found = np.where(np.asarray(values.is_valid()), found, 0)
        return found

    def _plain(self, value: Any) -> Any:
        return value.encode() if self.form == "bytes" else int(Fraction(value) * 10**self.scale)


def domain_of(type_: str | None) -> Domain | None:
    """The domain of a Spark type; None if its comparisons are not translated."""
    if type_ in ("tinyint", "smallint", "int", "bigint", "date"):
        return Domain(type_, "integer")
    if type_ in ("float", "double"):
        return Domain(type_, "double")
    if type_ == "string":  # a type with a collation has a longer name
        return Domain(type_, "bytes")
    found = _DECIMAL.fullmatch(type_ or "")
    return Domain(found[0], "decimal", int(found[2])) if found else None


def _single(number: float) -> float:
    """The nearest 32-bit float."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _cut_date(constant: Constant) -> Cut | None:
    if constant.kind not in ("date", "string"):
        return None
    found = _DATE.fullmatch(constant.sql)
    try:
        day = date.fromisoformat(found[1]).toordinal() - _EPOCH if found else None
    except ValueError:
        return None
    return None if day is None else (day, day + 1)
