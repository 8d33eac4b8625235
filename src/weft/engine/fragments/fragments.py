"""Shared data fragments: which of many predicates a row satisfies, as one number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.engine.fragments.atoms import Atom, Bools, IntervalIndex, States, atoms_of
from weft.engine.fragments.clusters import Cluster, build_clusters
from weft.engine.fragments.formula import Formula, formula_of, leaves_of, opaque_of, tree_of
from weft.engine.fragments.safety import TypeOf, typed_expressions
from weft.errors import PlanError

Int64: TypeAlias = npt.NDArray[np.int64]
Types: TypeAlias = "Callable[[Sequence[str]], Mapping[str, str]]"
"""Returns the Spark types of some expressions; expressions of unknown type are left out."""

WORD = 62
"""Bits of a code per column: a non-negative long."""
TAG = 56
"""In a plan with facets, the first bit of the facet number in a code."""


@dataclass(frozen=True)
class FragmentLimits:
    """Thresholds between the methods of finding fragments."""

    table_bits: int = 16
    """Tables have at most 2 ** table_bits entries: Spark takes seconds to parse longer literals."""
    few: int = 3
    """Clusters of at most this many predicates are not used: they are evaluated one by one."""
    lonely: bool = False
    """Whether expressions that only one predicate compares are indexed, too."""

    @classmethod
    def of_terms(cls) -> FragmentLimits:
        """Limits with which tests use the compared values wherever possible.

        Then predicates with other constants need no other expressions computed from rows.
        """
        return cls(few=0, lonely=True)


@dataclass(frozen=True, eq=False)
class FragmentPlan:
    """How a row's fragment is found.

    A fragment is identified by its code: one long per word, the same for the same signature in
    every batch, partition and process that uses this plan. A code of all zeros satisfies no
    predicate.

    >>> types = {"volume": "int"}
    >>> plan = plan_fragments([f"volume > {c}" for c in (5, 9, 20, 30)], lambda _: types)
    >>> plan.expressions
    ('volume',)
    >>> codes = plan.codes(plan.states([pa.array([1, 7, 25, None])]))
    >>> plan.members(codes).sum(axis=1)
    array([0, 1, 3, 0])
    """

    predicates: tuple[str | None, ...]
    """As given: distinct, in normalised SQL; None accepts every row."""
    atoms: Mapping[str, Atom]
    clusters: tuple[Cluster, ...]
    places: tuple[tuple[int, int], ...] = field(repr=False)
    """For each cluster, the word and the lowest bit of its class."""
    faceted: bool = False
    """Whether each word is a separate facet (see `facets`): a row has one code per word, instead
    of one code of all words."""

    @property
    def keeps_all(self) -> bool:
        """Whether rows that satisfy no predicate are kept, too."""
        return None in self.predicates

    @property
    def words(self) -> int:
        """How many longs a code has; 0 if there is nothing to distinguish."""
        return max((word for word, _ in self.places), default=-1) + 1

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """SQL of the expressions computed for every row, in the order that `states` expects."""
        return tuple(atom.sql for atom in self.atoms.values())

    def states(self, columns: Sequence[pa.Array]) -> dict[str, States]:
        """The states of rows, given the values of `expressions`."""
        pairs = zip(self.atoms.items(), columns, strict=True)
        return {name: atom.states(values) for (name, atom), values in pairs}

    def codes(self, states: Mapping[str, States]) -> tuple[Int64, ...]:
        """The code of each row's fragment, word by word."""
        assert not self.faceted, "rows have one code for every facet"
        words: list[Int64 | None] = [None] * self.words
        for cluster, (word, shift) in zip(self.clusters, self.places, strict=True):
            classes = cluster.classes(states) << shift
            held = words[word]
            words[word] = classes if held is None else held | classes
        return tuple(word for word in words if word is not None)

    def members(self, codes: Sequence[npt.ArrayLike]) -> Bools:
        """Fragments x predicates: which predicates each fragment satisfies."""
        if self.faceted:
            return self._members_by_facet(np.asarray(codes[0], dtype=np.int64))
        if len(codes) != self.words:
            raise PlanError(f"a code of {self.words} words is expected, not of {len(codes)}")
        words = [np.asarray(word, dtype=np.int64) for word in codes]
        found = np.zeros((len(words[0]) if words else 1, len(self.predicates)), dtype=np.bool_)
        for cluster, (word, shift) in zip(self.clusters, self.places, strict=True):
            classes = words[word] >> shift & ((1 << cluster.width) - 1)
            found[:, list(cluster.predicates)] = cluster.members[classes]
        found[:, [i for i, p in enumerate(self.predicates) if p is None]] = True
        return found

    def _members_by_facet(self, codes: Int64) -> Bools:
        found = np.zeros((len(codes), len(self.predicates)), dtype=np.bool_)
        facet = codes >> TAG
        for cluster, (number, shift) in zip(self.clusters, self.places, strict=True):
            rows = np.flatnonzero(facet == number)
            classes = codes[rows] >> shift & ((1 << cluster.width) - 1)
            found[rows[:, None], list(cluster.predicates)] = cluster.members[classes]
        # Serve a query without a predicate by the first facet only, so that no row counts twice.
        found[:, [i for i, p in enumerate(self.predicates) if p is None]] = (facet == 0)[:, None]
        return found

    def fragments(self, states: Mapping[str, States]) -> tuple[Int64, tuple[Int64, ...], Bools]:
        """The number of each row's fragment, and the codes and predicates of these fragments.

        Only fragments that occur are considered (OnTheFlySharing 4.3); their numbers are valid for
        these rows only, their codes everywhere.
        """
        codes = self.codes(states)
        if not codes:
            rows = len(next(iter(states.values()))) if states else 0
            return np.zeros(rows, dtype=np.int64), (), self.members(())
        if len(codes) == 1:
            distinct, numbers = np.unique(codes[0], return_inverse=True)
            return numbers.astype(np.int64), (distinct,), self.members((distinct,))
        rows_ = np.ascontiguousarray(np.stack(codes, axis=1))
        whole = rows_.view(np.dtype((np.void, rows_.shape[1] * 8))).ravel()
        _, first, numbers = np.unique(whole, return_index=True, return_inverse=True)
        kept = tuple(word[first] for word in codes)
        return numbers.astype(np.int64), kept, self.members(kept)

    def explain(self) -> str:
        """How the fragments are found, in words."""
        indexes = [f for f in self.atoms.values() if isinstance(f, IntervalIndex)]
        plain = sum(cluster.is_plain for cluster in self.clusters)
        lines = [f"{len(self.predicates)} predicates"]
        for index in indexes:
            lines.append(f"  {index.expression}: place among {len(index.boundaries)} boundaries")
        conditions = len(self.atoms) - len(indexes)
        if conditions:
            lines.append(f"  {conditions} conditions, each evaluated once")
        for cluster in self.clusters:
            if not cluster.is_plain:
                lines.append(
                    f"  {len(cluster.predicates)} predicates by a table of {len(cluster.table)} "
                    f"entries, {len(cluster.members)} classes"
                )
        if plain:
            lines.append(f"  {plain} predicates as one bit each")
        if self.faceted:
            lines.append(f"  {self.words} facets: each row is aggregated once per facet")
        return "\n".join(lines)


def plan_fragments(
    predicates: Sequence[str | None], types: Types, limits: FragmentLimits | None = None
) -> FragmentPlan:
    """Plan how the fragments of some predicates are found.

    Predicates are distinct and normalised (`weft.query.expression.normalise`); `types` is called
    once for the types of the expressions that they compare.
    """
    if len(set(predicates)) != len(predicates):
        raise PlanError("predicates must be distinct: equal ones have one place in a signature")
    limits = limits or FragmentLimits()
    given = {number: p for number, p in enumerate(predicates) if p is not None}
    trees = [tree_of(predicate) for predicate in given.values()]
    type_of: TypeOf = types(list(dict.fromkeys(typed_expressions(trees)))).get
    formulas = {number: formula_of(predicate, type_of) for number, predicate in given.items()}

    def alone(number: int) -> Formula:
        return opaque_of(given[number], type_of)

    shared = formulas if limits.lonely else _with_shared_atoms(formulas)
    atoms = atoms_of(test for formula in shared.values() for test in leaves_of(formula))
    # Predicates that fit no table are evaluated one by one, as are those in very small clusters.
    clusters, _ = build_clusters(shared, atoms, limits.table_bits)
    kept = [cluster for cluster in clusters if len(cluster.predicates) > limits.few]
    held = {number for cluster in kept for number in cluster.predicates}
    single = {number: alone(number) for number in given if number not in held}
    atoms = atoms_of(
        test
        for number, formula in {**formulas, **single}.items()
        if number in held or number in single
        for test in leaves_of(formula)
    )
    if len(held) < len(shared) or single:
        # Fewer predicates may need fewer boundaries, so the tables are built again.
        clusters, _ = build_clusters({n: formulas[n] for n in held}, atoms, limits.table_bits)
    more, _ = build_clusters(single, atoms, 1)
    clusters += more
    used = {name for cluster in clusters for name in cluster.atoms}
    atoms = {name: atom for name, atom in atoms.items() if name in used}
    return FragmentPlan(tuple(predicates), atoms, tuple(clusters), _places(clusters))


def distinct_fragments(column: pa.ChunkedArray, plan: FragmentPlan) -> tuple[Int64, Bools]:
    """The number of each row's fragment, and the predicates that each fragment satisfies."""
    codes = column.combine_chunks()
    if not pa.types.is_struct(codes.type):
        distinct, number = np.unique(codes.to_numpy(), return_inverse=True)
        return number, plan.members((distinct,))
    words = [word.to_numpy() for word in codes.flatten()]
    whole = np.ascontiguousarray(np.stack(words, axis=1)).view(np.dtype((np.void, 8 * len(words))))
    _, first, number = np.unique(whole.ravel(), return_index=True, return_inverse=True)
    return number, plan.members(tuple(word[first] for word in words))


def _with_shared_atoms(formulas: Mapping[int, Formula]) -> dict[int, Formula]:
    """The formulas whose atoms all have another user: an index for one predicate gains nothing."""
    support = {n: {test.atom for test in leaves_of(f)} for n, f in formulas.items()}
    users = Counter(name for names in support.values() for name in names)
    while True:
        lonely = [n for n, names in support.items() if any(users[name] == 1 for name in names)]
        if not lonely:
            return {number: formulas[number] for number in support}
        for number in lonely:
            users.subtract(support.pop(number))


def _places(clusters: Sequence[Cluster]) -> tuple[tuple[int, int], ...]:
    places, word, shift = [], 0, 0
    for cluster in clusters:
        if shift + cluster.width > WORD:
            word, shift = word + 1, 0
        places.append((word, shift))
        shift += cluster.width
    return tuple(places)
