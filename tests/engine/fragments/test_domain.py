"""The boundary of a constant: each value is on the side that Spark's comparison says."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from weft.engine.fragments.domain import domain_of
from weft.query.predicate import Constant, constant_of
from weft.query.syntax.reader import read_expression


def constant(sql: str) -> Constant:
    found = constant_of(read_expression(sql))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("type_", "sql", "cut"),
    [
        ("int", "5", (5, 6)),
        ("int", "-5", (-5, -4)),
        ("int", "2.5", (3, 3)),
        ("int", "-2.5", (-2, -2)),
        ("int", "5D", (5, 6)),
        ("bigint", "5D", None),  # longs past 2**53 are not exact as doubles
        ("int", "5F", None),
        ("smallint", "5F", (5, 6)),
        ("bigint", "9223372036854775807", None),  # has no successor
        ("int", "0.12345678901234567890123456789", None),  # no decimal type holds both
        ("double", "0.5", (0.5, 0.5000000000000001)),
        ("double", "9007199254740993", (9007199254740992.0, 9007199254740994.0)),
        ("double", "0.1F", (0.10000000149011612, 0.10000000149011613)),
        ("float", "16777217", None),
        ("float", "0.1", (0.1, 0.10000000000000002)),
        ("decimal(9,2)", "2.5", (250, 251)),
        ("decimal(9,2)", "2.501", (251, 251)),
        ("decimal(9,2)", "2.5D", None),
        ("decimal(38,10)", "12345678901234567890123456789.5", None),
        ("string", "'ab'", (b"ab", b"ab\0")),
        ("string", "5", None),
        ("int", "'5'", None),
        ("date", "DATE'1970-01-02'", (1, 2)),
        ("date", "'1969-12-31'", (-1, 0)),
        ("date", "'1969-12-32'", None),
        ("date", "'today'", None),
        ("date", "TIMESTAMP'2024-01-01 00:00:00'", None),
    ],
)
def test_cuts(type_: str, sql: str, cut: Any) -> None:
    domain = domain_of(type_)
    assert domain is not None
    assert domain.cut(constant(sql)) == cut


@pytest.mark.parametrize(
    "type_", ["timestamp", "timestamp_ntz", "boolean", "array<int>", "string collate UNICODE", None]
)
def test_types_without_an_order_of_ours_have_no_domain(type_: str | None) -> None:
    assert domain_of(type_) is None


def test_decimals_of_38_digits_keep_them_all() -> None:
    domain = domain_of("decimal(38,4)")
    assert domain is not None
    number = 12345678901234567890123456789012345678
    assert (
        domain.array_json([number, -5, 0])
        == "[1234567890123456789012345678901234.5678,-0.0005,0.0000]"
    )
    values = pa.array(
        [Decimal("1234567890123456789012345678901234.5678"), None], pa.decimal128(38, 4)
    )
    assert domain.positions(values, (number, number + 1)).tolist() == [1, 0]


def test_strings_are_ordered_by_their_bytes() -> None:
    domain = domain_of("string")
    assert domain is not None
    # In UTF-16, which Python does not use but Java does, the second would come first.
    words = ["\uffff", "\U0001f600"]
    boundaries = tuple(sorted(word.encode() for word in words))
    assert domain.positions(pa.array(words), boundaries).tolist() == [1, 2]
    assert domain.array_json([b"a'\\"]) == '["YSdc"]'


def test_nan_is_after_every_boundary_and_zeros_are_equal() -> None:
    domain = domain_of("double")
    assert domain is not None
    values = pa.array([float("nan"), -0.0, 0.0, None])
    assert domain.positions(values, (0.0, 5e-324, 7.0)).tolist() == [3, 1, 1, 0]
    assert domain.array_json([float("inf")]) == '["Infinity"]'
