"""Vectorised operations give the same results as the monoids, row by row."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from finals_cases import CASES, Case, rows, same
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.algebra.ops import bind
from weft.algebra.ops.objects import ObjectOp
from weft.algebra.ops.order import order_keys
from weft.algebra.ops.wide import WideSum
from weft.algebra.part import Part
from weft.algebra.registry import KINDS, monoid_of
from weft.algebra.values import order_key
from weft.errors import AggregateError, FinalsError


@pytest.mark.parametrize("case", CASES, ids=str)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_combine_is_the_monoids(case: Case, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(case.partials(), case.partials()), max_size=12))
    older, newer = [a for a, _ in pairs], [b for _, b in pairs]
    op, monoid = bind(case.part, case.types), case.monoid
    a, b = op.encode(case.arrays(older)), op.encode(case.arrays(newer))
    combined = rows(op.decode(op.combine(a, b)))
    assert all(map(same, combined, [monoid.combine(x, y) for x, y in pairs]))
    # Encoding and storing preserve values, and the identity is neutral.
    for kept in (a, op.unpack(op.pack(a)), op.combine(a, op.blank(len(older)))):
        assert all(map(same, rows(op.decode(kept)), older))
    if older:
        taken = op.take(a, np.array([0, -1, len(older) - 1]))
        want = [older[0], monoid.identity, older[-1]]
        assert all(map(same, rows(op.decode(taken)), want))
    if op.laws.invertible:
        left = rows(op.decode(op.subtract(op.combine(a, b), a)))
        assert all(map(same, left, newer))


def test_every_kind_is_bound_and_only_sketches_go_through_python() -> None:
    tried = {case.part.kind for case in CASES}
    assert set(KINDS) - tried == {"hll", "kll"}
    for case in CASES:
        assert not isinstance(bind(case.part, case.types), ObjectOp), case


def test_sketches_combine_through_their_library() -> None:
    part = Part("hll", ("x",), options=(10,))
    monoid = monoid_of(part)
    op = bind(part, [pa.binary()])
    halves = [monoid.fold(*map(monoid.lift, chosen)) for chosen in (range(300), range(200, 500))]
    a, b = (op.encode([pa.array([half[0], None], pa.binary())]) for half in halves)
    got = rows(op.decode(op.combine(a, b)))
    assert got == [monoid.combine(*halves), (None,)]


def test_a_wrong_number_of_component_types_is_refused() -> None:
    with pytest.raises(FinalsError, match=r"1 component types were given, and moments has 3"):
        bind(Part("moments", ("x",)), [pa.int64()])


class TestExactSums:
    def total(self, kind: str, values: list[Any], type_: pa.DataType) -> Any:
        types = [type_] if kind == "sum" else [type_, pa.int64()]
        op = bind(Part(kind, ("x",)), types)
        assert isinstance(op, WideSum)
        columns = [pa.array(values, type_)]
        if kind == "try_sum":
            columns.append(pa.array([int(value is not None) for value in values]))
        encoded = op.encode(columns)
        total = op.blank(1)
        for at in range(len(values)):
            total = op.combine(total, op.take(encoded, np.array([at])))
        return op.decode(total)[0][0].as_py()

    def test_beyond_64_bits_on_the_way_is_no_harm(self) -> None:
        most = 2**63 - 1
        assert self.total("sum", [most, most, -most, -5], pa.int64()) == most - 5

    def test_an_answer_beyond_64_bits_is_an_error(self) -> None:
        with pytest.raises(AggregateError, match=r"sum overflows int64.*use try_sum"):
            self.total("sum", [2**63 - 1, 1], pa.int64())

    def test_try_sum_gives_null_instead(self) -> None:
        assert self.total("try_sum", [2**63 - 1, 1], pa.int64()) is None

    def test_decimals_are_exact_to_38_digits(self) -> None:
        wide = pa.decimal128(38, 2)
        value = Decimal("9" * 35 + ".99")
        assert self.total("sum", [value, value, -value, Decimal("0.02")], wide) == value + Decimal(
            "0.02"
        )

    def test_decimals_beyond_their_precision_are_an_error(self) -> None:
        with pytest.raises(AggregateError, match=r"sum overflows decimal128\(38, 0\)"):
            self.total("sum", [Decimal("9" * 38)] * 2, pa.decimal128(38, 0))

    def test_a_sum_of_nulls_is_null(self) -> None:
        assert self.total("sum", [None, None], pa.int64()) is None


values_by_type = {
    pa.float64(): st.floats(),
    pa.float32(): st.floats(width=32),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**62), 2**62),
    pa.string(): st.text(max_size=3),
    pa.bool_(): st.booleans(),
    pa.decimal128(12, 2): st.integers(-(10**11), 10**11).map(lambda n: Decimal(n).scaleb(-2)),
    pa.decimal128(38, 2): st.integers(-(10**35), 10**35).map(lambda n: Decimal(n).scaleb(-2)),
    pa.struct([("a", pa.int64()), ("b", pa.string())]): st.fixed_dictionaries(
        {"a": st.none() | st.integers(0, 2), "b": st.none() | st.sampled_from(["", "x"])}
    ),
    pa.list_(pa.int64()): st.lists(st.none() | st.integers(0, 2), max_size=2),
}


@pytest.mark.parametrize("kind", values_by_type, ids=str)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_order_keys_order_as_spark_does(kind: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | values_by_type[kind], min_size=2, max_size=8))
    keys = order_keys(pa.array(values, kind)).tolist()
    plain = [(v["a"], v["b"]) if isinstance(v, dict) else v for v in values]
    for a, left in zip(keys, plain, strict=True):
        for b, right in zip(keys, plain, strict=True):
            assert (a < b) == (order_key(left) < order_key(right)), (left, right)
            assert (a == b) == (order_key(left) == order_key(right)), (left, right)


def test_times_and_dates_keep_their_type() -> None:
    for kind in (pa.timestamp("us", "UTC"), pa.date32(), pa.duration("us"), pa.time64("us")):
        op = bind(Part("max", ("t",)), [kind])
        arrays = [pa.array([5, None, 7], pa.int64() if kind.bit_width == 64 else pa.int32())]
        given_ = [arrays[0].view(kind)]
        combined = op.combine(op.encode(given_), op.encode([given_[0].take(pa.array([1, 2, 0]))]))
        assert op.decode(combined)[0].equals(given_[0].take(pa.array([0, 2, 2])))
