"""Progressions split into digits that are independent of each other.

Every step is written as a product of powers of pairwise coprime bases. By the Chinese remainder
theorem the digits of an instant in different bases are independent, and a progression requires
one residue in each of its bases: a node of that base's trie (level, residue). Digits that no other
progression depends on are summed out at once and become weight, as in `exact`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from weft.plan.edges.progressions import Int64

_TRIED = tuple(p for p in range(2, 1000) if all(p % q for q in range(2, math.isqrt(p) + 1)))


@dataclass(frozen=True, eq=False)
class Trie:
    """The residues of one base that progressions require, with all their prefixes.

    Node i is `residue` modulo `base ** level`, and bit i of a mask; parents come before their
    children, and -1 is the root, which every instant passes.
    """

    base: int
    parent: tuple[int, ...]
    children: dict[int, int]
    """Node (or root) to the mask of its children."""
    deeper: dict[int, int]
    """Node (or root) to the mask of what lies below its children."""

    def within(self, node: int, mask: int) -> int:
        """The class that a node belongs to on the axis for `mask`; 0 if in none of its nodes.

        The axis has one class for each node of the mask, excluding deeper nodes, and class 0.
        """
        while node >= 0:
            if mask >> node & 1:
                return 1 + (mask & ((1 << node) - 1)).bit_count()
            node = self.parent[node]
        return 0


@dataclass(frozen=True, eq=False)
class Digits:
    """Weighted progressions as nodes of tries.

    `asks[i]` maps base numbers to nodes: an instant that passes all of them is covered with
    probability `weight[i]`. Independently, every instant is covered with probability `always`.
    """

    tries: tuple[Trie, ...]
    asks: tuple[dict[int, int], ...]
    weight: tuple[Fraction, ...]
    always: Fraction


def digits_of(offset: Int64, step: Int64) -> Digits:
    """Split cleaned progressions into digits.

    >>> digits = digits_of(np.array([0, 1, 5]), np.array([4, 6, 9]))
    >>> [trie.base for trie in digits.tries], digits.asks
    ([2, 3], ({0: 0}, {0: 1, 1: 0}, {1: 1}))
    """
    weights, always = sum_out_private(offset, step)
    factored = {s: _powers(s) for _, s in weights}
    exponents = _refine(factored)
    found: dict[int, set[tuple[int, int]]] = {}
    asked = []
    for a, s in weights:
        wanted = {base: (level, a % base**level) for base, level in exponents[s].items()}
        asked.append(wanted)
        for base, (level, residue) in wanted.items():
            nodes = found.setdefault(base, set())
            nodes.update((up, residue % base**up) for up in range(1, level + 1))
    bases = sorted(found)
    index = [{node: i for i, node in enumerate(sorted(found[base]))} for base in bases]
    number = {base: i for i, base in enumerate(bases)}
    asks = tuple(
        {number[base]: index[number[base]][node] for base, node in sorted(wanted.items())}
        for wanted in asked
    )
    tries = tuple(_trie(base, nodes) for base, nodes in zip(bases, index, strict=True))
    return Digits(tries, asks, tuple(weights.values()), always)


def sum_out_private(offset: Int64, step: Int64) -> tuple[dict[tuple[int, int], Fraction], Fraction]:
    """Weighted progressions (offset, step) without the digits that only one of them depends on.

    The second value is the density covered by the progressions of which no digits are left.

    >>> sum_out_private(np.array([0, 1, 0]), np.array([4, 6, 5]))
    ({(0, 2): Fraction(1, 2), (1, 2): Fraction(1, 3)}, Fraction(1, 5))
    """
    weights = {(int(a), int(s)): Fraction(1) for a, s in zip(offset, step, strict=True)}
    always = Fraction(0)
    while True:
        shared = _shared_parts([s for _, s in weights])
        if all(s == m for s, m in shared.items()):
            break
        reduced: dict[tuple[int, int], Fraction] = {}
        for (a, s), w in weights.items():
            m = shared[s]
            more, key = w * m / s, (a % m, m)
            known = reduced.get(key, Fraction(0))
            reduced[key] = known + more * (1 - known)
        more = reduced.pop((0, 1), Fraction(0))
        always += more * (1 - always)
        weights = reduced
    return weights, always


def _trie(base: int, index: dict[tuple[int, int], int]) -> Trie:
    parent = [
        index[level - 1, residue % base ** (level - 1)] if level > 1 else -1
        for level, residue in index
    ]
    children: dict[int, int] = {}
    deeper: dict[int, int] = {}
    for node, up in enumerate(parent):
        children[up] = children.get(up, 0) | 1 << node
        while up >= 0:
            up = parent[up]
            deeper[up] = deeper.get(up, 0) | 1 << node
    return Trie(base, tuple(parent), children, deeper)


def _shared_parts(steps: list[int]) -> dict[int, int]:
    """The factor that each step shares with the others: the lcm of the gcds."""
    sizes, counts = np.unique(np.array(steps, np.int64), return_counts=True)
    shared = {}
    for size, count in zip(sizes, counts, strict=True):
        # A divisor of `size` throughout, so it cannot overflow.
        common = size if count > 1 else np.lcm.reduce(np.gcd(size, sizes[sizes != size]), initial=1)
        shared[int(size)] = int(common)
    return shared


@lru_cache(maxsize=65_536)
def _powers(number: int) -> tuple[dict[int, int], int]:
    """The small primes of a number with their exponents, and the remaining factor."""
    powers: dict[int, int] = {}
    for prime in _TRIED:
        if prime * prime > number:
            break
        while number % prime == 0:
            powers[prime] = powers.get(prime, 0) + 1
            number //= prime
    if 1 < number < _TRIED[-1] ** 2:
        powers[number] = powers.get(number, 0) + 1
        number = 1
    return powers, number


def _refine(factored: dict[int, tuple[dict[int, int], int]]) -> dict[int, dict[int, int]]:
    """Exponents over bases that are pairwise coprime; large parts need not be prime for that."""
    coprime: list[int] = []
    waiting = [rest for _, rest in factored.values()]
    while waiting:
        number = waiting.pop()
        if number == 1:
            continue
        for i, other in enumerate(coprime):
            common = math.gcd(number, other)
            if common > 1:
                del coprime[i]
                waiting += [number // common, common, other // common]
                break
        else:
            coprime.append(number)
    exponents = {}
    for step, (powers, rest) in factored.items():
        full = dict(powers)
        for base in coprime:
            while rest % base == 0:
                full[base] = full.get(base, 0) + 1
                rest //= base
        exponents[step] = full
    return exponents
