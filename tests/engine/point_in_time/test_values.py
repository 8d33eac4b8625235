"""Values at instants, compared with the definition: each interval's rows folded by the monoid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.algebra.sketches import estimate_distinct
from weft.algebra.types import component_types
from weft.engine.fragments.fragments import FragmentLimits, FragmentPlan, plan_fragments
from weft.engine.lowering import to_python
from weft.engine.point_in_time.interval import Interval
from weft.engine.point_in_time.program import LiftedPart, SpineProgram, Target
from weft.engine.point_in_time.values import spine_values
from weft.engine.shards import NumberedPart
from weft.errors import AggregateError

PARTS = [
    (Part("count"), (), None),
    (Part("sum", ("x",)), ("x",), None),
    (Part("count", ("x",), where="w"), ("x",), "w"),
    (Part("sum", ("y",)), ("y",), None),
    (Part("max", ("y",)), ("y",), None),
    (Part("min", ("s",), where="w"), ("s",), "w"),
    (Part("moments", ("z",)), ("z",), None),
    (Part("last_at", ("s", "n")), ("s", "n"), None),
    (Part("first_valid_at", ("x", "n")), ("x", "n"), None),
    (Part("set", ("x",)), ("x",), None),
    (Part("list", ("s",), where="w"), ("s",), "w"),
    (Part("bit_xor", ("n",)), ("n",), None),
    (Part("set", ("s", "x"), where="w"), ("s", "x"), "w"),
    (Part("hll", ("x",), options=(9,)), ("x",), None),
]
INTERVALS = [
    Interval(7), Interval(20), Interval(20, 5), Interval(10_000),
    Interval(9, 0, 4, 1), Interval(20, 3, 6, 2), Interval(1),
]  # fmt: skip
PREDICATES = ["x > 2", None, "x > 5"]


def table_of(random: np.random.Generator, size: int) -> pa.Table:
    def some(values: Sequence[Any], kind: pa.DataType, nulls: float = 0.2) -> pa.Array:
        return pa.array(values, kind, mask=random.random(size) < nulls)

    return pa.table(
        {
            "time": pa.array(random.integers(-20, 60, size)),
            "k0": some(random.choice(["a", "b", "c"], size), pa.string()),
            "k1": some(random.integers(0, 2, size), pa.int64()),
            "x": some(random.integers(0, 9, size), pa.int64()),
            "y": some(random.choice([1.5, -2.0, math.nan, math.inf, 0.25], size), pa.float64()),
            "z": some(random.integers(-9, 9, size).astype(float), pa.float64()),
            "s": some(random.choice(["", "u", "vw", "x"], size), pa.string()),
            "n": pa.array(np.arange(size)),
            "w": some(random.random(size) < 0.6, pa.bool_()),
        }
    )


def spine_of(random: np.random.Generator, size: int) -> pa.Table:
    keys = table_of(random, size).select(["k0", "k1"])
    at = pa.array(random.integers(-25, 80, size), mask=random.random(size) < 0.1)
    return keys.append_column("time", at)


def program_of(
    table: pa.Table, keys: int, plan: FragmentPlan | None, *, counted: bool = False
) -> SpineProgram:
    """A program of all parts over all intervals; optionally with only the sizes of sets."""
    parts = []
    for at, (part, arguments, where) in enumerate(PARTS):
        sizes = counted and part.kind == "set"
        kinds = component_types(part, [table.schema.field(a).type for a in arguments])
        numbered = NumberedPart(at, part, (pa.int64(),) if sizes else kinds)
        parts.append(LiftedPart(numbered, arguments, where, sizes))
    several = [None] if plan is None else [at if p else None for at, p in enumerate(PREDICATES)]
    targets = [
        Target(number, interval, several[number % len(several)], tuple(range(len(PARTS))), ("q",))
        for number, interval in enumerate(INTERVALS)
    ]
    return SpineProgram(keys, tuple(parts), tuple(targets), plan)


def fragmented(table: pa.Table) -> tuple[pa.Table, FragmentPlan]:
    plan = plan_fragments(PREDICATES, lambda _: {"x": "bigint"}, FragmentLimits.of_terms())
    assert plan.expressions == ("x",)
    (codes,) = plan.codes(plan.states([table["x"].combine_chunks()]))
    return table.append_column("fragment", pa.array(codes)), plan


def takes(predicate: int | None, row: dict[str, Any]) -> bool:
    if predicate is None:
        return True
    return row["x"] is not None and row["x"] > (2 if predicate == 0 else 5)


def defined(rows: list[dict[str, Any]], program: SpineProgram, asked: dict[str, Any]) -> list[Any]:
    """Every part of every target for a row of the spine, computed by definition."""
    found = []
    names = program.key_columns
    for target in program.targets:
        inside = []
        if asked["time"] is not None:
            at = np.array([asked["time"]])
            low, high = (int(e.of(at)[0]) for e in (target.interval.start, target.interval.end))
            inside = [
                row
                for row in rows
                if low <= row["time"] < high
                and all(row[name] == asked[name] for name in names)
                and takes(target.predicate, row)
            ]
        for part, arguments, where in PARTS:
            monoid = monoid_of(part)
            partials = [
                monoid.lift(*(row[name] for name in arguments)) if arguments else (1,)
                for row in sorted(inside, key=lambda row: row["time"])
                if where is None or row[where]
            ]
            found.append((part, monoid.fold(*partials) if partials else monoid.identity))
    return found


def plain(part: Part, partial: Sequence[Any]) -> Any:
    """A partial in a form to compare: floats to nine places, lists sorted, sketches by value."""
    if part.kind == "hll":
        return estimate_distinct(tuple(partial))
    values = []
    for value in partial:
        if isinstance(value, float):
            value = round(value, 9) + 0.0 if math.isfinite(value) else str(value)
        if isinstance(value, (list, tuple)):
            value = sorted(value, key=repr)
        values.append(value)
    if part.kind == "moments" and values[0] == 0:
        return [0]
    return values


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("predicates", [False, True])
def test_values_are_those_of_the_definition(seed, predicates):
    random = np.random.default_rng(seed)
    table, plan = table_of(random, 150), None
    if predicates:
        table, plan = fragmented(table)
    spine = spine_of(random, 60)
    keys = seed % 3
    program = program_of(table, keys, plan, counted=seed % 2 == 1)
    rows, asked = table.to_pylist(), spine.to_pylist()
    seen = []
    filled = 0
    sizes = {"chunk": [7, 40, 1000][seed % 3], "cells": [1, 700, 10**6][seed // 2 % 3]}
    for found in spine_values(table, spine, program, **sizes):
        seen += found.rows.tolist()
        columns = [to_python(column) for column in found.columns]
        assert {len(column) for column in columns} == {len(found.rows)}
        for at, row in enumerate(found.rows.tolist()):
            place = 0
            for part, wanted in defined(rows, program, asked[row]):
                width = len(monoid_of(part).components)
                values = [column[at] for column in columns[place : place + width]]
                place += width
                if part.kind == "set" and seed % 2:
                    assert values == [len(wanted[0])], (part, asked[row])
                    continue
                assert plain(part, values) == plain(part, wanted), (part, asked[row])
                filled += part.kind == "count" and bool(wanted[0])
            assert place == len(columns)
    assert sorted(seen) == list(range(60))
    assert filled > 50


def test_without_rows_every_value_is_of_nothing():
    random = np.random.default_rng(0)
    table, spine = table_of(random, 0), spine_of(random, 5)
    program = program_of(table, 2, None)
    (found,) = spine_values(table, spine, program)
    assert sorted(found.rows.tolist()) == [0, 1, 2, 3, 4]
    assert [field.name for field in program.fields][:2] == ["t0_p0_n", "t0_p1_total"]
    assert found.columns[0].to_pylist() == [0] * 5
    assert found.columns[1].to_pylist() == [None] * 5


def test_times_too_far_apart_for_one_number_are_sorted_all_the_same():
    far = 2**62
    table = pa.table({"time": [far, -far, 0, far - 1], "k0": [1, 1, 1, 2], "n": [1, 2, 4, 8]})
    spine = pa.table({"time": [far, far + 1, -far + 1, far], "k0": [1, 1, 1, 2]})
    part = LiftedPart(NumberedPart(0, Part("sum", ("n",)), (pa.int64(),)), ("n",), None)
    program = SpineProgram(1, (part,), (Target(0, Interval(far), None, (0,), ("q",)),), None)
    values = {}
    for found in spine_values(table, spine, program):
        values |= dict(zip(found.rows.tolist(), found.columns[0].to_pylist(), strict=True))
    assert values == {0: 4, 1: 1, 2: 2, 3: 8}


def test_a_total_that_overflows_names_the_queries():
    table = pa.table({"time": [1, 2], "n": [2**62, 2**62]})
    spine = pa.table({"time": [5]})
    part = LiftedPart(NumberedPart(0, Part("sum", ("n",)), (pa.int64(),)), ("n",), None)
    program = SpineProgram(0, (part,), (Target(0, Interval(9), None, (0,), ("a", "b")),), None)
    with pytest.raises(AggregateError, match="query 'a', 'b': sum overflows int64"):
        list(spine_values(table, spine, program))
