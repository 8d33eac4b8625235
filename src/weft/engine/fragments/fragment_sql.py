"""SQL of a row's fragment code, as a sequence of projections, each using columns of earlier ones.

The form of the SQL matters for Spark's code generation. A value is located among many boundaries
by a binary search, where each step is one column over an array literal: the generated code grows
with the logarithm of the number of constants. An IF tree would grow linearly and become too long
for the JVM to compile. Spark does not inline a column that is used twice, so each is computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.engine.fragments.atoms import Atom, Condition, IntervalIndex
from weft.engine.fragments.clusters import Cluster
from weft.engine.fragments.domain import Domain
from weft.engine.fragments.fragments import FragmentPlan
from weft.engine.slicing.slice_sql import literal_array


@dataclass(frozen=True)
class SqlColumn:
    """One column, and the approximate size of its generated code (bytes of JVM code)."""

    name: str
    sql: str
    weight: int


Stage = tuple[SqlColumn, ...]
# Measured with `explain("codegen")`, rounded up.
_STEP, _LOOKUP, _SIMPLE = 90, 70, 30
_PART = 1_500
"""A word whose terms generate more code is assembled from parts that are compiled separately."""


def fragment_stages(plan: FragmentPlan, prefix: str = "weft_") -> tuple[list[Stage], list[str]]:
    """The projections in order, and the columns that hold the words of the code.

    >>> from weft.engine.fragments.fragments import FragmentLimits, plan_fragments
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
    builder = _Builder(prefix)
    users = Counter(name for cluster in plan.clusters for name in cluster.atoms)
    alone = {c.atoms[0] for c in plan.clusters if c.is_plain and users[c.atoms[0]] == 1}
    state = {
        name: builder.state(f"{prefix}v{number}", atom, name in alone)
        for number, (name, atom) in enumerate(plan.atoms.items())
    }
    words: list[list[SqlColumn]] = [[] for _ in range(plan.words)]
    for cluster, (word, shift) in zip(plan.clusters, plan.places, strict=True):
        class_, weight = _class(cluster, plan, state)
        long = f"CAST({class_} AS BIGINT)"
        term = f"shiftleft({long}, {shift})" if shift else long
        words[word].append(SqlColumn("", term, weight + _SIMPLE))
    depth = len(builder.stages)
    names = [builder.word(depth, f"{prefix}w{number}", terms) for number, terms in enumerate(words)]
    return [tuple(stage) for stage in builder.stages if stage], names


class _Builder:
    """Builds the stages: a column is placed one stage after the columns that it uses."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.stages: list[list[SqlColumn]] = []

    def add(self, depth: int, name: str, sql: str, weight: int) -> str:
        while len(self.stages) <= depth:
            self.stages.append([])
        self.stages[depth].append(SqlColumn(name, sql, weight))
        return name

    def state(self, name: str, atom: Atom, alone: bool) -> str:
        """SQL of an atom's state; inlined if only one column uses it (`alone`)."""
        if isinstance(atom, IntervalIndex) and atom.boundaries and atom.domain:
            return self.search(name, atom, atom.domain)
        sql = _simple_state(atom)
        return sql if alone else self.add(0, name, sql, _weigh(atom.sql) + _SIMPLE)

    def search(self, name: str, index: IntervalIndex, domain: Domain) -> str:
        """A binary search with one step per stage, each adding one bit to the position."""
        value = self.add(0, name, domain.value_sql(index.expression), _weigh(index.expression))
        found, depth = "0", 0
        for depth, level in enumerate(_levels(domain, index), 1):
            entry = f"get(from_json('{level}', 'array<{domain.array_kind}>'), {found})"
            yes = "1" if depth == 1 else f"shiftleft({found}, 1) | 1"
            no = "0" if depth == 1 else f"shiftleft({found}, 1)"
            found = self.add(
                depth, f"{name}_{depth}", f"IF({value} >= {entry}, {yes}, {no})", _STEP
            )
        if index.null_state:
            sql = f"IF({value} IS NULL, {index.null_state}, {found})"
            found = self.add(depth + 1, f"{name}_s", sql, _SIMPLE)
        return found

    def word(self, depth: int, name: str, terms: Sequence[SqlColumn]) -> str:
        """One word of the code, from its clusters' terms."""
        *parts, last = _parts(terms)
        listed = [
            SqlColumn("", self.add(depth, f"{name}_{number}", _joined(part), _total(part)), _SIMPLE)
            for number, part in enumerate(parts)
        ]
        return self.add(depth + 1, name, _joined([*listed, *last]), _total([*listed, *last]))


def _parts(terms: Sequence[SqlColumn]) -> list[list[SqlColumn]]:
    parts: list[list[SqlColumn]] = [[]]
    for term in terms:
        if parts[-1] and _total(parts[-1]) + term.weight > _PART:
            parts.append([])
        parts[-1].append(term)
    return parts


def _joined(terms: Sequence[SqlColumn]) -> str:
    return " | ".join(term.sql for term in terms)


def _total(terms: Sequence[SqlColumn]) -> int:
    return sum(term.weight for term in terms)


def _levels(domain: Domain, index: IntervalIndex) -> list[str]:
    """The boundaries of each step of the search, as JSON: step l has `2 ** l` of them."""
    count = len(index.boundaries).bit_length()
    padded = [*index.boundaries, *[None] * ((1 << count) - 1 - len(index.boundaries))]
    # In order, the middle of every remaining half; null stands for a boundary above all values.
    halves = [1 << (count - 1 - level) for level in range(count)]
    return [domain.array_json(list(padded[half - 1 :: 2 * half])) for half in halves]


def _simple_state(atom: Atom) -> str:
    if isinstance(atom, IntervalIndex):
        return f"IF({atom.expression} IS NULL, {atom.null_state}, 0)"
    no, yes, null = atom.state_of
    condition = atom.condition
    if no == null:
        return f"IF({condition}, {yes}, {no})"
    if yes == null:
        return f"IF(NOT ({condition}), {no}, {yes})"
    return f"CASE WHEN {condition} THEN {yes} WHEN NOT ({condition}) THEN {no} ELSE {null} END"


def _class(cluster: Cluster, plan: FragmentPlan, state: dict[str, str]) -> tuple[str, int]:
    """SQL of a row's class in a cluster, and the size of its generated code."""
    parts, shift, weight = [], 0, 0
    for name, coarse, width in zip(cluster.atoms, cluster.coarse, cluster.widths, strict=True):
        atom = plan.atoms[name]
        if np.array_equal(coarse, np.arange(atom.count)):
            parts.append(f"shiftleft({state[name]}, {shift})" if shift else state[name])
            weight += _SIMPLE + (_weigh(atom.sql) if isinstance(atom, Condition) else 0)
        else:
            parts.append(f"get({literal_array((coarse << shift).tolist())}, {state[name]})")
            weight += _LOOKUP
        shift += width
    code = " | ".join(parts)
    if cluster.is_plain:
        return code, weight
    return f"get({literal_array(cluster.table.tolist())}, {code})", weight + _LOOKUP


def _weigh(sql: str) -> int:
    """The approximate size of the code generated for an expression."""
    return 20 + 5 * len(sql)
