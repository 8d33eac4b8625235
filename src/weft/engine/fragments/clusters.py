"""Clusters: predicates over few atoms, with a table from atom states to the predicates satisfied.

The cross product of all atoms is far too large for one table, although few of its combinations
occur. But a predicate depends on only two or three atoms, and predicates that depend on the same
ones can share a table. Each predicate is in one cluster, so the classes of a row, one per cluster,
determine its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from weft.engine.fragments.atoms import Atom, Bools, States
from weft.engine.fragments.formula import AllOf, AnyOf, Formula, Test, leaves_of

Int32: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Cluster:
    """Some predicates, their atoms, and the class of every combination of states.

    An atom's states are first mapped to coarse states: those that these predicates distinguish.
    The coarse states, `widths` bits each and the first atom in the lowest bits, are the position
    in `table`. Class 0 satisfies none of the predicates.
    """

    predicates: tuple[int, ...]
    atoms: tuple[str, ...]
    coarse: tuple[States, ...]
    """For each atom, the coarse state of each state."""
    widths: tuple[int, ...]
    table: Int32
    members: Bools
    """Classes x predicates."""

    @property
    def width(self) -> int:
        """The bits that a class takes."""
        return max(1, (len(self.members) - 1).bit_length())

    @property
    def is_plain(self) -> bool:
        """Whether there is one atom, whose coarse state is the class."""
        if len(self.atoms) > 1:
            return False
        used = int(self.coarse[0].max()) + 1
        return bool(np.array_equal(self.table[:used], np.arange(used)))

    def classes(self, states: Mapping[str, States]) -> States:
        """The class of each row, given the states of the atoms."""
        code, shift = np.int64(0), 0
        for name, coarse, width in zip(self.atoms, self.coarse, self.widths, strict=True):
            code = code | coarse[states[name]] << shift
            shift += width
        found: States = self.table[code].astype(np.int64)
        return found


@dataclass
class _Draft:
    """A cluster under construction: the coarse states of each atom that its tests distinguish."""

    coarse: dict[str, States] = field(default_factory=dict)
    predicates: list[int] = field(default_factory=list)

    def refined(self, wanted: Sequence[tuple[str, Bools]]) -> dict[str, States]:
        """The coarse states after adding further tests."""
        found = dict(self.coarse)
        for name, truth in wanted:
            old = found.get(name)
            pairs = truth.astype(np.int64) if old is None else old * 2 + truth
            found[name] = np.unique(pairs, return_inverse=True)[1]
        return found


def bits(coarse: Mapping[str, States]) -> int:
    """The bits of a position in the table of these coarse states."""
    return sum(_width(states) for states in coarse.values())


def _width(states: States) -> int:
    return int(states.max()).bit_length()


def build_clusters(
    formulas: Mapping[int, Formula], atoms: Mapping[str, Atom], most_bits: int
) -> tuple[list[Cluster], list[int]]:
    """Clusters of the predicates, each with a table of at most `2 ** most_bits` entries.

    The second list has the predicates that would need a larger table even alone.
    """
    truths: dict[Test, Bools] = {}
    wanted: dict[int, list[tuple[str, Bools]]] = {}
    for number, formula in formulas.items():
        found = list(dict.fromkeys(leaves_of(formula)))
        for test in found:
            if test not in truths:
                truths[test] = atoms[test.atom].truth(test)
        wanted[number] = [(test.atom, truths[test]) for test in found]
    drafts: list[_Draft] = []
    unfit: list[int] = []
    for number in _in_order(wanted, atoms):
        if bits(_Draft().refined(wanted[number])) > most_bits:
            unfit.append(number)
            continue
        support = {name for name, _ in wanted[number]}
        # Try the latest drafts only: neighbours in this order mostly have the same atoms.
        for draft in reversed(drafts[-_TRIED:]):
            fresh = support - draft.coarse.keys()
            if fresh == support:
                continue
            widest = max((atoms[name].count for name in fresh), default=0)
            limit = most_bits if not fresh else _SMALL if widest > _FLAG else _MEDIUM
            refined = draft.refined(wanted[number])
            if bits(refined) <= min(limit, most_bits):
                break
        else:
            draft = _Draft()
            drafts.append(draft)
            refined = draft.refined(wanted[number])
        draft.coarse = refined
        draft.predicates.append(number)
    return [_finish(draft, formulas, truths) for draft in drafts], unfit


_TRIED = 16
# Limits, in bits, of a table that further atoms are added to: one table is better than two, unless
# two atoms with many states multiply. The limit is larger for atoms with two or three states.
_SMALL, _MEDIUM, _FLAG = 10, 14, 3


def _in_order(
    wanted: Mapping[int, list[tuple[str, Bools]]], atoms: Mapping[str, Atom]
) -> list[int]:
    """Predicates with the largest atoms first, those with the same atoms adjacent.

    Ties are ordered by where the tests change their result, so that a cluster that cannot hold all
    of them gets those with equal or similar constants.
    """

    def key(number: int) -> tuple[list[tuple[int, str]], tuple[int, ...]]:
        sized = sorted({(-atoms[name].count, name) for name, _ in wanted[number]})
        return sized, tuple(int(truth.argmax() + truth.sum()) for _, truth in wanted[number])

    return sorted(wanted, key=key)


def _finish(
    draft: _Draft, formulas: Mapping[int, Formula], truths: Mapping[Test, Bools]
) -> Cluster:
    names = tuple(draft.coarse)
    coarse = tuple(draft.coarse[name] for name in names)
    widths = tuple(_width(states) for states in coarse)
    # One axis per atom in reverse order, so that the first atom is in the lowest bits.
    axes = {name: len(names) - 1 - position for position, name in enumerate(names)}
    one_of = {name: np.unique(draft.coarse[name], return_index=True)[1] for name in names}

    def on_grid(test: Test) -> Bools:
        of_coarse = truths[test][one_of[test.atom]]
        padded = np.zeros(1 << _width(draft.coarse[test.atom]), dtype=np.bool_)
        padded[: len(of_coarse)] = of_coarse
        shape = [1] * len(names)
        shape[axes[test.atom]] = len(padded)
        return padded.reshape(shape)

    full = tuple(1 << width for width in reversed(widths))
    packed = []
    for start in range(0, len(draft.predicates), 8):
        eight = [
            np.broadcast_to(_evaluate(formulas[number], on_grid), full).ravel()
            for number in draft.predicates[start : start + 8]
        ]
        packed.append(np.packbits(np.array(eight), axis=0, bitorder="little")[0])
    table, members = _classes(np.array(packed), len(draft.predicates), _used(coarse, widths))
    return Cluster(tuple(draft.predicates), names, coarse, widths, table, members)


def _used(coarse: Sequence[States], widths: Sequence[int]) -> Bools:
    """Which positions of the table can occur."""
    grids = [np.arange(1 << w) <= states.max() for states, w in zip(coarse, widths, strict=True)]
    return reduce(lambda low, high: (high[:, None] & low[None, :]).ravel(), grids)


def _classes(packed: npt.NDArray[np.uint8], count: int, used: Bools) -> tuple[Int32, Bools]:
    """The class of every position, and the predicates of every class."""
    packed[:, ~used] = 0
    rows = np.ascontiguousarray(packed.T)
    nothing = np.zeros((1, rows.shape[1]), dtype=np.uint8)
    rows = np.concatenate((nothing, rows))  # class 0 exists even if no position has it
    whole = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    members = np.unpackbits(rows[first], axis=1, bitorder="little")[:, :count].astype(np.bool_)
    # np.unique sorts bytes, so the empty signature comes first.
    return inverse.ravel()[1:].astype(np.int32), members


def _evaluate(formula: Formula, truth: Callable[[Test], Bools]) -> Bools:
    if isinstance(formula, (AllOf, AnyOf)):
        combine = np.logical_and if isinstance(formula, AllOf) else np.logical_or
        return reduce(combine, (_evaluate(part, truth) for part in formula.parts))
    return truth(formula)
