"""Aggregates to test the structures with, random partials of them, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from weft.algebra.monoid import Component, Laws, Monoid
from weft.algebra.part import Part
from weft.algebra.registry import monoid_of

CONCAT = Monoid(
    kind="concat",
    laws=Laws(commutative=False, invertible=False, idempotent=False),
    components=(Component("text", "argument"),),
    identity=("",),
    lift=lambda value: (value,),
    combine=lambda older, newer: (older[0] + newer[0],),
    partial_sql=None,
    merge_sql=None,
)
"""String concatenation: any operand out of place shows."""

INT = st.integers(-9, 9)
DOUBLE = st.sampled_from([1.5, -2.0, 0.0, -0.0, 3.25, -7.0, math.inf, -math.inf, math.nan])
FINITE = st.sampled_from([1.5, -2.0, 0.0, -0.0, 3.25, -7.0, 1e3])
TEXT = st.sampled_from(["", "a", "b", "ab", "zz", "é"])
DECIMAL = st.integers(-(10**6), 10**6).map(lambda n: Decimal(n).scaleb(-2))


@dataclass(frozen=True)
class Case:
    """A part with the Arrow types of its arguments, and values for them."""

    part: Part
    arguments: tuple[pa.DataType, ...]
    values: st.SearchStrategy[Any]

    @property
    def monoid(self) -> Monoid:
        return monoid_of(self.part)

    @property
    def types(self) -> list[pa.DataType]:
        """The Arrow type of every component."""
        return [_type_of(component, self.arguments) for component in self.monoid.components]

    def partials(self) -> st.SearchStrategy[tuple[Any, ...]]:
        """Partials of up to three rows, some of them null."""
        value = st.none() | self.values
        rows = st.lists(st.tuples(*[value] * len(self.arguments)), max_size=3)
        return rows.map(lambda given: self.monoid.fold(*(self.monoid.lift(*row) for row in given)))

    def arrays(self, partials: list[tuple[Any, ...]]) -> list[pa.Array]:
        """One Arrow array per component."""
        return [
            pa.array([_listed(partial[at], kind) for partial in partials], kind)
            for at, kind in enumerate(self.types)
        ]

    def __str__(self) -> str:
        return f"{self.part.kind}-{'-'.join(map(str, self.arguments))}"


def _listed(value: Any, kind: pa.DataType) -> Any:
    """Tuples in a form that Arrow accepts: lists, or structs by name."""
    if not isinstance(value, tuple):
        return value
    if pa.types.is_struct(kind):
        return {kind.field(at).name: item for at, item in enumerate(value)}
    return [_listed(item, kind.value_type) for item in value]


def _type_of(component: Component, arguments: tuple[pa.DataType, ...]) -> pa.DataType:
    argument = arguments[min(component.argument, len(arguments) - 1)]
    if component.family == "sum":
        if pa.types.is_decimal(argument):
            return pa.decimal128(min(38, argument.precision + 10), argument.scale)
        return pa.float64() if pa.types.is_floating(argument) else pa.int64()
    by_family: dict[str, Callable[[], pa.DataType]] = {
        "long": pa.int64,
        "double": pa.float64,
        "boolean": pa.bool_,
        "binary": pa.binary,
        "argument": lambda: argument,
        "array": lambda: pa.list_(argument),
        "counts": lambda: pa.list_(pa.struct([("value", argument), ("n", pa.int64())])),
        "pairs": lambda: pa.list_(pa.struct([("at", arguments[-1]), ("value", arguments[0])])),
    }
    return by_family[component.family]()


def _case(kind: str, *arguments: pa.DataType, values: Any, options: tuple[Any, ...] = ()) -> Case:
    names = tuple("xyz"[: len(arguments)])
    return Case(Part(kind, names, options=options), arguments, values)


I64, F64, STR = pa.int64(), pa.float64(), pa.string()
SHORT, LONG = pa.decimal128(8, 2), pa.decimal128(30, 2)

CASES: list[Case] = [
    _case("count", I64, values=INT),
    _case("sum", I64, values=INT),
    _case("sum", F64, values=FINITE),
    _case("sum", SHORT, values=DECIMAL),
    _case("try_sum", I64, values=INT),
    _case("try_sum", F64, values=FINITE),
    _case("product", F64, values=st.sampled_from([0.5, 2.0, -1.0, 0.0])),
    _case("min", F64, values=DOUBLE),
    _case("max", F64, values=DOUBLE),
    _case("max", I64, values=INT),
    _case("min", STR, values=TEXT),
    _case("max", SHORT, values=DECIMAL),
    _case("max", LONG, values=DECIMAL),
    _case("min", pa.bool_(), values=st.booleans()),
    _case("moments", F64, values=FINITE),
    _case("moments4", F64, values=FINITE),
    _case("comoments", F64, F64, values=FINITE),
    _case("first", STR, values=TEXT),
    _case("last", F64, values=DOUBLE),
    _case("first_valid", I64, values=INT),
    _case("last_valid", STR, values=TEXT),
    _case("first_at", I64, I64, values=INT),
    _case("last_at", F64, F64, values=DOUBLE),
    _case("first_valid_at", STR, STR, values=TEXT),
    _case("last_valid_at", I64, I64, values=INT),
    _case("min_by", F64, F64, values=DOUBLE),
    _case("max_by", STR, STR, values=TEXT),
    _case("max_by", SHORT, SHORT, values=DECIMAL),
    _case("bool_and", pa.bool_(), values=st.booleans()),
    _case("bool_or", pa.bool_(), values=st.booleans()),
    _case("bit_and", I64, values=INT),
    _case("bit_or", I64, values=INT),
    _case("bit_xor", I64, values=INT),
    _case("list", STR, values=TEXT),
    _case("counts", F64, values=DOUBLE),
    _case("counts", STR, values=TEXT),
    _case("set", F64, values=DOUBLE),
    _case("list_at", STR, STR, values=TEXT),
    _case("first_n_at", F64, F64, values=DOUBLE, options=(2,)),
    _case("last_n_at", I64, I64, values=INT, options=(3,)),
    _case("first_n", I64, values=INT, options=(2,)),
    _case("last_n", STR, values=TEXT, options=(2,)),
]


def same(a: Any, b: Any) -> bool:
    """Whether two partials are equal: NaN equals NaN, -0.0 equals 0.0, doubles to nine digits."""
    a, b = (tuple(value.values()) if isinstance(value, dict) else value for value in (a, b))
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return (a != a and b != b) or a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return bool(a == b)


def rows(arrays: list[pa.Array]) -> list[tuple[Any, ...]]:
    """The partials that some component arrays hold."""
    return list(zip(*(array.to_pylist() for array in arrays), strict=True))
