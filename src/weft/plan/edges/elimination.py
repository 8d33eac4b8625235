"""Exact coverage by summing out one digit at a time (bucket elimination).

Each progression is a table over the few residue classes that it distinguishes. Summing out the
children of one trie node joins only the tables that depend on them, so that the size of the joint
table depends on how progressions are entangled, not on how many there are. Tables hold the
probability of being covered, and only non-negative terms are added.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.plan.edges.digits import Digits

CELLS = 5_000_000
"""Default limit of the largest table, in cells."""
WORK = 1_000_000_000
"""Default limit of cells written in all: a few seconds."""
_GOOD_ENOUGH = 100_000_000  # with this much work, looking for a better order does not pay
_TRIES = 4
_EFFORT = 1_000_000  # tables looked at in search of an order: a second or two

Scope = dict[int, int]
"""Base number to the mask of the nodes that a table distinguishes."""
Table = npt.NDArray[Any]


@dataclass(frozen=True, order=True)
class Step:
    """Sum out the children of `node` in base number `base`, from the tables in `bucket`."""

    base: int
    node: int
    bucket: tuple[int, ...]


Candidate = tuple[float, int, int, Step]
"""Growth of the tables, cells written, cells left, and the step."""


@dataclass(frozen=True)
class Order:
    """The order in which to sum out, the largest table and the cells written in all.

    Tables are numbered: first one per progression, then one per step. `effort` is the work to
    find the order, which is not `complete` if the effort or a table became too large.
    """

    steps: tuple[Step, ...]
    peak: int
    work: int
    effort: int
    complete: bool

    def fits(self, work: int = WORK) -> bool:
        """Whether the order can be run with that much work."""
        return self.complete and self.work <= work


def find_order(digits: Digits, cells: int = CELLS) -> Order:
    """A cheap order: greedy by growth; if that is expensive, the best of some random variations.

    Orders are judged by masks alone, which takes milliseconds. An order that exceeds `cells` is
    abandoned there and is not complete.
    """
    best = _greedy(digits, cells, _EFFORT, None)
    left = _EFFORT - best.effort
    for seed in range(_TRIES):
        if left <= best.effort or (best.fits() and best.work <= _GOOD_ENOUGH):
            break
        other = _greedy(digits, cells, left, random.Random(seed))
        left -= other.effort
        best = min(best, other, key=lambda order: (not order.complete, order.work))
    return best


def _greedy(digits: Digits, cells: int, most: int, varied: random.Random | None) -> Order:
    """Always sum out next the node by which the tables grow least."""
    scopes: dict[int, Scope] = {
        i: {base: 1 << node for base, node in asks.items()} for i, asks in enumerate(digits.asks)
    }
    looking: list[set[int]] = [set() for _ in digits.tries]
    for i, scope in scopes.items():
        for base in scope:
            looking[base].add(i)
    best: dict[int, Candidate | None] = {}
    changed = set(range(len(digits.tries)))
    steps: list[Step] = []
    peak = work = effort = 0
    while True:
        for base in sorted(changed):
            effort += len(looking[base])
            best[base] = _cheapest(digits, base, scopes, looking[base], varied)
        choice = min((c for c in best.values() if c is not None), default=None)
        if choice is None:
            return Order(tuple(steps), peak, work, effort, complete=True)
        _, cost, size, step = choice
        peak, work = max(peak, size), work + cost
        if peak > cells or effort > most:
            return Order(tuple(steps), peak, work, effort, complete=False)
        new = len(digits.asks) + len(steps)
        steps.append(step)
        scopes[new] = _after(digits, step, scopes)
        changed = {step.base}
        for i in step.bucket:
            for base in scopes.pop(i):
                looking[base].discard(i)
                changed.add(base)
        for base in scopes[new]:
            looking[base].add(new)


def _cheapest(
    digits: Digits,
    base: int,
    scopes: dict[int, Scope],
    looking: set[int],
    varied: random.Random | None,
) -> Candidate | None:
    """The best node of one base whose children can be summed out."""
    trie = digits.tries[base]
    seen = 0
    buckets: dict[int, set[int]] = {}
    for i in looking:
        seen |= scopes[i][base]
        for node in _nodes(scopes[i][base]):
            buckets.setdefault(trie.parent[node], set()).add(i)
    found: Candidate | None = None
    for node, members in buckets.items():
        if seen & trie.deeper.get(node, 0):
            continue
        bucket = tuple(sorted(members))
        step = Step(base, node, bucket)
        before = sum(_cells(scopes[i]) for i in bucket)
        after = _cells(_after(digits, step, scopes))
        joint = _union(scopes, bucket)
        slices = joint.pop(base).bit_count() + 2
        growth = float(after - before)
        if varied is not None:
            growth = math.log(after) - 0.3 * math.log(before) + varied.uniform(0.0, 0.5)
        candidate = (growth, _cells(joint) * slices * len(bucket), after, step)
        if found is None or candidate < found:
            found = candidate
    return found


def _nodes(mask: int) -> list[int]:
    """The nodes of a mask, in order."""
    nodes = []
    while mask:
        nodes.append((mask & -mask).bit_length() - 1)
        mask &= mask - 1
    return nodes


def _cells(scope: Scope) -> int:
    return math.prod(mask.bit_count() + 1 for mask in scope.values())


def _union(scopes: dict[int, Scope], bucket: tuple[int, ...]) -> Scope:
    joint: Scope = {}
    for i in bucket:
        for base, mask in scopes[i].items():
            joint[base] = joint.get(base, 0) | mask
    return joint


def _after(digits: Digits, step: Step, scopes: dict[int, Scope]) -> Scope:
    """The scope of the table that a step produces: what it distinguishes."""
    joint = _union(scopes, step.bucket)
    mask = joint.pop(step.base) & ~digits.tries[step.base].children[step.node]
    if step.node >= 0:
        mask |= 1 << step.node
    if mask:
        joint[step.base] = mask
    return joint


class Floats:
    """Probabilities as floating-point numbers."""

    dtype: npt.DTypeLike = np.float64

    def number(self, value: Fraction) -> float:
        """A fraction in this arithmetic."""
        return float(value)

    def either(self, x: Table, y: Table) -> Table:
        """The probability of one or both of two independent events."""
        return x + y * (1.0 - x)

    def add(self, x: Table, y: Table) -> Table:
        """The probability of one of two events that exclude each other."""
        return x + y

    def scale(self, x: Table, by: Fraction) -> Table:
        """The probability of an event and of an independent one of probability `by`."""
        return x * float(by)


def run_order(digits: Digits, order: Order, field: Any) -> Any:
    """The density covered, in the arithmetic of `field`, by summing out in the order found."""
    scopes: dict[int, Scope] = {}
    tables: dict[int, Table] = {}
    for i, (asks, weight) in enumerate(zip(digits.asks, digits.weight, strict=True)):
        scopes[i] = {base: 1 << node for base, node in sorted(asks.items())}
        tables[i] = np.zeros((2,) * len(asks), field.dtype)
        tables[i][(1,) * len(asks)] = field.number(weight)
    for number, step in enumerate(order.steps, start=len(digits.asks)):
        scope = dict(sorted(_after(digits, step, scopes).items()))
        tables[number] = _sum_out(digits, step, scope, scopes, tables, field)
        scopes[number] = scope
        for i in step.bucket:
            del scopes[i], tables[i]
    covered = np.asarray(field.number(digits.always), field.dtype)
    for table in tables.values():
        covered = field.either(covered, table)
    return covered[()]


def _sum_out(
    digits: Digits,
    step: Step,
    scope: Scope,
    scopes: dict[int, Scope],
    tables: dict[int, Table],
    field: Any,
) -> Table:
    """The table that a step produces, with the axes of `scope`."""
    trie = digits.tries[step.base]
    joint = _union(scopes, step.bucket)
    mask = joint.pop(step.base)
    axes = sorted(joint)
    bucket = sorted(step.bucket, key=lambda i: tables[i].size)
    aligned = [_align(digits, joint, axes, step.base, scopes[i], tables[i]) for i in bucket]

    def at(node: int) -> Table:
        covered = np.zeros((1,) * len(axes), field.dtype)
        for i, table in zip(bucket, aligned, strict=True):
            covered = field.either(covered, table[trie.within(node, scopes[i][step.base])])
        return covered

    children = _nodes(mask & trie.children[step.node])
    summed = field.scale(at(step.node), Fraction(trie.base - len(children), trie.base))
    for child in children:
        summed = field.add(summed, field.scale(at(child), Fraction(1, trie.base)))
    shape = [joint[base].bit_count() + 1 for base in axes]
    if step.base not in scope:
        return np.broadcast_to(summed, shape)
    kept = [-1, *_nodes(scope[step.base])]
    parts = [summed if node == step.node else at(node) for node in kept]
    place = sorted([*axes, step.base]).index(step.base)
    return np.stack([np.broadcast_to(part, shape) for part in parts], axis=place)


def _align(
    digits: Digits, joint: Scope, axes: list[int], first: int, scope: Scope, table: Table
) -> Table:
    """A table with base `first` as its first axis and the others spread over the joint classes."""
    own = list(scope)
    table = np.moveaxis(table, own.index(first), 0)
    own.remove(first)
    for axis, base in enumerate(own, start=1):
        if scope[base] != joint[base]:
            nodes = [-1, *_nodes(joint[base])]
            spread = [digits.tries[base].within(node, scope[base]) for node in nodes]
            table = np.take(table, spread, axis=axis)
    shape = [joint[base].bit_count() + 1 if base in scope else 1 for base in axes]
    return table.reshape([table.shape[0], *shape])
