"""Vectorised lifting and combining, compared with the monoids that define them."""

from __future__ import annotations

from decimal import Decimal
from math import nan

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.algebra.types import component_types
from weft.algebra.values import order_key
from weft.engine.by_group import combine_partials as combine
from weft.engine.by_group import lift_rows as partials_of
from weft.engine.groups import group_rows
from weft.errors import AggregateError

FLOATS = st.sampled_from([None, 1.0, -2.5, 0.0, -0.0, nan, float("inf")])
LONGS = st.one_of(st.none(), st.integers(-9, 9))
TEXT = st.sampled_from([None, "a", "b", "c"])
DECIMALS = st.sampled_from([None, Decimal("1.50"), Decimal("-2.25"), Decimal("0.00")])
BOOLS = st.sampled_from([None, True, False])
TIMES = st.integers(0, 4)

SITUATIONS = [
    ("count", [], []),
    ("count", [FLOATS], [pa.float64()]),
    ("sum", [LONGS], [pa.int64()]),
    ("sum", [DECIMALS], [pa.decimal128(10, 2)]),
    ("try_sum", [LONGS], [pa.int64()]),
    ("product", [LONGS], [pa.int64()]),
    ("min", [FLOATS], [pa.float64()]),
    ("max", [FLOATS], [pa.float64()]),
    ("max", [TEXT], [pa.string()]),
    ("min", [DECIMALS], [pa.decimal128(10, 2)]),
    ("bool_and", [BOOLS], [pa.bool_()]),
    ("bool_or", [BOOLS], [pa.bool_()]),
    ("bit_and", [LONGS], [pa.int64()]),
    ("bit_xor", [LONGS], [pa.int64()]),
    ("first", [TEXT], [pa.string()]),
    ("last", [TEXT], [pa.string()]),
    ("first_valid", [BOOLS], [pa.bool_()]),
    ("last_valid", [TEXT], [pa.string()]),
    ("first_at", [TEXT, TIMES], [pa.string(), pa.int64()]),
    ("last_at", [TEXT, TIMES], [pa.string(), pa.int64()]),
    ("first_valid_at", [TEXT, TIMES], [pa.string(), pa.int64()]),
    ("last_valid_at", [TEXT, TIMES], [pa.string(), pa.int64()]),
    ("min_by", [TEXT, FLOATS], [pa.string(), pa.float64()]),
    ("max_by", [TEXT, FLOATS], [pa.string(), pa.float64()]),
    ("list", [TEXT], [pa.string()]),
    ("set", [TEXT], [pa.string()]),
    ("list_at", [TEXT, TIMES], [pa.string(), pa.int64()]),
    ("set", [TEXT, LONGS], [pa.string(), pa.int64()]),
    ("try_sum", [FLOATS], [pa.float64()]),
    ("try_sum", [DECIMALS], [pa.decimal128(10, 2)]),
    ("bit_or", [LONGS], [pa.int16()]),
    ("first", [LONGS], [pa.int32()]),
]


def keys(columns) -> list:
    return [[order_key(_plain(value)) for value in column.to_pylist()] for column in columns]


def _plain(value):
    if isinstance(value, dict):
        return tuple(_plain(item) for item in value.values())
    if isinstance(value, list):
        return tuple(_plain(item) for item in value)
    return value + 0.0 if isinstance(value, float) else value


def from_python(partials, types):
    """Partials as Arrow columns of these types."""
    columns = zip(*partials, strict=True) if partials else ([] for _ in types)
    return tuple(
        pa.array(list(column), type=type_) for column, type_ in zip(columns, types, strict=True)
    )


def defined(part, arguments, where, groups, types):
    """Partials lifted and folded row by row with the monoid."""
    monoid = monoid_of(part)
    totals = [monoid.identity] * groups.count
    for row, (group, let_in) in enumerate(zip(groups.ids.tolist(), where, strict=True)):
        if let_in:
            lifted = monoid.lift(*(values[row] for values in arguments))
            totals[group] = monoid.combine(totals[group], lifted)
    return from_python(totals, types)


@pytest.mark.parametrize(("kind", "drawn", "types"), SITUATIONS, ids=lambda v: str(v)[:20])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_partials_are_those_of_the_monoid(kind, drawn, types, data):
    n = data.draw(st.integers(1, 10))
    arguments = [data.draw(st.lists(values, min_size=n, max_size=n)) for values in drawn]
    where = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    groups = group_rows([pa.array(data.draw(st.lists(TEXT, min_size=n, max_size=n)))], n)
    part = Part(kind, tuple(f"a{i}" for i in range(len(drawn))))
    arrays = [pa.array(values, type_) for values, type_ in zip(arguments, types, strict=True)]
    found = partials_of(part, arrays, pa.array(where), groups)
    expected = defined(part, arguments, where, groups, component_types(part, types))
    assert keys(found) == keys(expected)
    count = groups.count
    again = group_rows(
        [pa.array(data.draw(st.lists(LONGS, min_size=count, max_size=count)), pa.int64())], count
    )
    merged = combine(part, found, again)
    monoid = monoid_of(part)
    totals = [monoid.identity] * again.count
    rows = list(zip(*(map(_tuples, c.to_pylist()) for c in found), strict=True))
    for group, row in zip(again.ids.tolist(), rows, strict=True):
        totals[group] = monoid.combine(totals[group], row)
    assert keys(merged) == keys(from_python(totals, [c.type for c in found]))


def _tuples(value):
    if isinstance(value, list):
        return tuple(tuple(v.values()) if isinstance(v, dict) else v for v in value)
    return value


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=12),
    offset=st.sampled_from([0.0, 1e9]),
)
def test_moments_lose_no_digits_to_large_means(values, offset):
    shifted = [None if value is None else value + offset for value in values]
    one = group_rows([], len(values))
    part = Part("moments", ("x",))
    found = partials_of(part, [pa.array(shifted, pa.float64())], None, one)
    n, mean, m2 = (column.to_pylist()[0] for column in found)
    known = [value for value in shifted if value is not None]
    assert n == len(known)
    if known:
        exact = [Decimal(value) for value in known]
        middle = sum(exact) / len(exact)
        spread = sum((value - middle) ** 2 for value in exact)
        assert mean == pytest.approx(float(middle), rel=1e-12, abs=1e-9)
        assert m2 == pytest.approx(float(spread), rel=1e-6, abs=1e-4 if offset else 1e-6)


def test_a_sum_of_longs_that_overflows_is_refused():
    one = group_rows([], 2)
    with pytest.raises(AggregateError, match="overflow"):
        combine(Part("sum", ("x",)), (pa.array([2**62, 2**62]),), one)
    assert combine(Part("sum", ("x",)), (pa.array([2**62, -(2**62)]),), one)[0].to_pylist() == [0]
    three = group_rows([], 3)
    near = (pa.array([2**63 - 1, 1, -1]),)  # exceeds 64 bits in between, but not at the end
    assert combine(Part("sum", ("x",)), near, three)[0].to_pylist() == [2**63 - 1]


def test_many_groups_of_large_numbers_overflow_nothing():
    micros = 1_700_000_000_000_000
    groups = group_rows([pa.array([n // 2 for n in range(12_000)])], 12_000)
    (found,) = combine(Part("sum", ("x",)), (pa.array([micros] * 12_000),), groups)
    assert set(found.to_pylist()) == {2 * micros}


def test_sketches_estimate_what_they_saw():
    from weft.algebra.sketches import estimate_distinct, estimate_quantiles

    groups = group_rows([pa.array([0, 1] * 500)], 1000)
    values = pa.array(range(1000), pa.int64())
    (hll,) = partials_of(Part("hll", ("x",), options=(12,)), [values], None, groups)
    assert [round(estimate_distinct((s,)) / 100) for s in hll.to_pylist()] == [5, 5]
    (kll,) = partials_of(Part("kll", ("x",), options=(200,)), [values], None, groups)
    (middle,) = estimate_quantiles((kll.to_pylist()[0],), (0.5,))
    assert 400 < middle < 600
    both = combine(Part("hll", ("x",), options=(12,)), (hll,), group_rows([], 2))
    assert 950 < estimate_distinct((both[0].to_pylist()[0],)) < 1050
