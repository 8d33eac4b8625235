"""SQL of a row's fragment code, as projections of which each uses the columns of the ones before.

The shape is what matters to Spark. A value's place among many boundaries is a binary search of
which every step is one column over an array literal: the code it compiles to grows with the
logarithm of the constants, where an IF tree grows with their number and leaves the just-in-time
compiler behind. A column that is used twice is not merged into its users, so each is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.slices.clusters import Cluster
from weft.slices.domain import Domain
from weft.slices.factors import Condition, Factor, IntervalIndex
from weft.slices.fragments import FragmentPlan
from weft.slices.slice_sql import literal_array


@dataclass(frozen=True)
class Piece:
    """One column, and about how much code it compiles to (bytes of JVM code)."""

    name: str
    sql: str
    weight: int


Stage = tuple[Piece, ...]
_STEP, _LOOKUP, _SIMPLE = 150, 130, 60


def fragment_stages(plan: FragmentPlan, prefix: str = "weft_") -> tuple[list[Stage], list[str]]:
    """Projections to run one after the other, and SQL of the words of the code behind them.

    >>> from weft.slices.fragments import FragmentLimits, plan_fragments
    >>> limits = FragmentLimits(few=0)
    >>> plan = plan_fragments(["x > 5", "x > 9"], lambda _: {"x": "int"}, limits)
    >>> for stage in fragment_stages(plan, "")[0]:
    ...     print([f"{piece.name} = {piece.sql}" for piece in stage])
    ['v0 = CAST(x AS bigint)']
    ["v0_1 = IF(v0 >= get(from_json('[10]', 'array<bigint>'), 0), 1, 0)"]
    ["v0_2 = IF(v0 >= get(from_json('[6,null]', 'array<bigint>'), v0_1),
                shiftleft(v0_1, 1) | 1, shiftleft(v0_1, 1))"]
    ['w0 = CAST(v0_2 AS BIGINT)']
    """
    stages: list[list[Piece]] = []
    state: dict[str, str] = {}

    def add(depth: int, name: str, sql: str, weight: int) -> str:
        while len(stages) <= depth:
            stages.append([])
        stages[depth].append(Piece(name, sql, weight))
        return name

    users = [name for cluster in plan.clusters for name in cluster.factors]
    inlined = {
        cluster.factors[0]
        for cluster in plan.clusters
        if cluster.is_plain and users.count(cluster.factors[0]) == 1
    }
    deepest = 0
    for number, (name, factor) in enumerate(plan.factors.items()):
        column = f"{prefix}v{number}"
        if isinstance(factor, IntervalIndex) and factor.boundaries and factor.domain:
            domain = factor.domain
            value = add(0, column, domain.value_sql(factor.expression), _weigh(factor.expression))
            found = "0"
            levels = _levels(domain, factor)
            for depth, level in enumerate(levels, 1):
                entry = f"get(from_json('{level}', 'array<{domain.array_kind}>'), {found})"
                yes = "1" if depth == 1 else f"shiftleft({found}, 1) | 1"
                no = "0" if depth == 1 else f"shiftleft({found}, 1)"
                sql = f"IF({value} >= {entry}, {yes}, {no})"
                found = add(depth, f"{column}_{depth}", sql, _STEP)
            depth = len(levels)
            if factor.null_state:
                depth += 1
                sql = f"IF({value} IS NULL, {factor.null_state}, {found})"
                found = add(depth, f"{column}_s", sql, _SIMPLE)
            deepest, state[name] = max(deepest, depth), found
        else:
            sql = _simple_state(factor)
            # Evaluated in place by its only user, else once for all of them.
            state[name] = (
                sql if name in inlined else add(0, column, sql, _weigh(factor.sql) + _SIMPLE)
            )
    words: list[list[str]] = [[] for _ in range(plan.words)]
    weights = [_SIMPLE] * plan.words
    for cluster, (word, shift) in zip(plan.clusters, plan.places, strict=True):
        class_, weight = _class(cluster, plan, state)
        long = f"CAST({class_} AS BIGINT)"
        words[word].append(f"shiftleft({long}, {shift})" if shift else long)
        weights[word] += weight
    names = []
    for number, (terms, weight) in enumerate(zip(words, weights, strict=True)):
        names.append(add(deepest + 1, f"{prefix}w{number}", " | ".join(terms), weight))
    return [tuple(stage) for stage in stages if stage], names


def _levels(domain: Domain, index: IntervalIndex) -> list[str]:
    """The boundaries of each step of the search, as JSON: step l has `2 ** l` of them."""
    count = len(index.boundaries).bit_length()
    padded = [*index.boundaries, *[None] * ((1 << count) - 1 - len(index.boundaries))]
    # In order, the middle of every half that is left; null is greater than any value.
    halves = [1 << (count - 1 - level) for level in range(count)]
    return [domain.array_json(list(padded[half - 1 :: 2 * half])) for half in halves]


def _simple_state(factor: Factor) -> str:
    if isinstance(factor, IntervalIndex):
        return f"IF({factor.expression} IS NULL, {factor.null_state}, 0)"
    no, yes, null = factor.state_of
    condition = factor.condition
    if no == null:
        return f"IF({condition}, {yes}, {no})"
    if yes == null:
        return f"IF(NOT ({condition}), {no}, {yes})"
    return f"CASE WHEN {condition} THEN {yes} WHEN NOT ({condition}) THEN {no} ELSE {null} END"


def _class(cluster: Cluster, plan: FragmentPlan, state: dict[str, str]) -> tuple[str, int]:
    """SQL of a row's class in a cluster, and its weight."""
    parts, shift, weight = [], 0, 0
    for name, coarse, width in zip(cluster.factors, cluster.coarse, cluster.widths, strict=True):
        factor = plan.factors[name]
        if np.array_equal(coarse, np.arange(factor.count)):
            parts.append(f"shiftleft({state[name]}, {shift})" if shift else state[name])
            weight += _SIMPLE + (_weigh(factor.sql) if isinstance(factor, Condition) else 0)
        else:
            parts.append(f"get({literal_array((coarse << shift).tolist())}, {state[name]})")
            weight += _LOOKUP
        shift += width
    code = " | ".join(parts)
    if cluster.is_plain:
        return code, weight
    return f"get({literal_array(cluster.table.tolist())}, {code})", weight + _LOOKUP


def _weigh(sql: str) -> int:
    """About how much code an expression compiles to."""
    return 40 + 6 * len(sql)
