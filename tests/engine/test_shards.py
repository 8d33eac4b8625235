"""Shards from before and after a change of queries, in the same columns."""

from __future__ import annotations

import pyarrow as pa

from weft.algebra.part import Part
from weft.engine.shards import NumberedKey, NumberedPart, ShardSchema

COUNT = NumberedPart(1, Part("count"), (pa.int64(),))
TOTAL = NumberedPart(4, Part("sum", ("x",)), (pa.int64(),))


def test_old_rows_lack_new_parts_and_keys_and_lose_those_that_are_gone():
    old = ShardSchema((NumberedKey(0, pa.string()),), (COUNT,))
    new = ShardSchema((NumberedKey(0, pa.string()), NumberedKey(3, pa.int32())), (TOTAL,))
    shards = pa.table({"slice": [0, 5], "fragment": [0, 0], "k0": ["a", "b"], "p1_n": [2, 3]})
    found = new.conform(old.conform(shards))
    assert found.schema == new.arrow
    assert found.column("k3").to_pylist() == [None, None]
    assert found.column("p4_total").to_pylist() == [None, None]
    back = old.conform(found)
    assert back.column("p1_n").to_pylist() == [0, 0]  # the identity of counting


def test_a_timestamp_of_another_zone_is_the_same_instant():
    utc = pa.timestamp("us", "UTC")
    schema = ShardSchema((NumberedKey(0, utc),), ())
    berlin = pa.array([5], pa.timestamp("us", "Europe/Berlin"))
    found = schema.conform(pa.table({"slice": [0], "fragment": [0], "k0": berlin}))
    assert found.column("k0").type == utc
    assert found.column("k0").cast(pa.int64()).to_pylist() == [5]


def test_merging_keeps_one_row_per_group_in_order_of_rows():
    schema = ShardSchema(
        (NumberedKey(0, pa.string()),),
        (NumberedPart(2, Part("last_valid", ("x",)), (pa.int64(),)),),
    )
    shards = pa.table(
        {
            "slice": [0, 0, 0],
            "fragment": [0, 0, 0],
            "k0": ["a", None, "a"],
            "p2_value": pa.array([1, 2, 3], pa.int64()),
        }
    )
    merged = schema.merge(shards, ["slice", "fragment", "k0"])
    assert merged.column("k0").to_pylist() == ["a", None]
    assert merged.column("p2_value").to_pylist() == [3, 2]
