"""What moving queries between trees saves, updated after every move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.plan.cost import LinearCost
from weft.plan.edges.kernels import clean
from weft.plan.search.classes import Classes
from weft.plan.search.grouping import Grouping
from weft.plan.search.rates import Rates
from weft.plan.search.trees import Progressions, Trees
from weft.plan.search.weave.bounds import bound_all

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class Moves:
    """Movable things (queries of one class in one tree), trees, and what every move would save.

    An edge rate is computed when its move is the best according to the bounds; until then it is a
    lower bound, so that the saving is an upper bound. One tree is empty, for moves to a new tree.
    """

    def __init__(
        self,
        classes: Classes,
        cost: LinearCost,
        begin: Grouping,
        rates: Rates,
        most_hard: int = 2**62,
    ) -> None:
        self.classes, self.rates, self.most_hard = classes, rates, most_hard
        self.fixed, self.per_edge = cost.fixed * classes.unit, cost.per_edge
        k = len(classes)
        both = np.unique(begin.labels * k + classes.of_query, return_inverse=True)
        self.of_query: Int64 = both[1]
        """The thing of each query."""
        self.tree, self.kind = both[0] // k, both[0] % k
        self.weight = np.bincount(self.of_query, weights=cost.weight, minlength=len(self.kind))
        self.own = classes.rate[self.kind]
        trees = len(begin) + 1  # one is empty
        self.rate = np.append(begin.edge_rate * classes.unit, 0.0)
        self.heft = np.bincount(self.tree, weights=self.weight, minlength=trees)
        single = Trees.of_classes(classes, cost.per_edge)
        self.parts = [single.progressions(kind) for kind in range(k)]
        self.sets = [self._union(np.flatnonzero(self.tree == tree)) for tree in range(trees)]
        # The common edges of two classes, which bound those of larger sets.
        self.common = np.zeros((k, k))
        upper = np.triu_indices(k, 1)
        rate = classes.rate
        self.common[upper] = rate[upper[0]] + rate[upper[1]] - np.abs(bound_all(single))
        self.common += self.common.T + np.diag(rate)
        things = len(self.kind)
        self.joined = np.empty((things, trees))
        """The rate of each tree with each thing added, or a lower bound of it."""
        self.joined_exact = np.zeros((things, trees), dtype=np.bool_)
        self.take = np.empty((things, trees))
        """By how much the tree's cost rises with the thing added."""
        self.left = np.empty(things)
        """The rate of each thing's tree without it, or a lower bound of it."""
        self.left_exact = np.zeros(things, dtype=np.bool_)
        self.give = np.empty(things)
        """By how much the cost of the thing's tree falls without it."""
        for tree in range(trees):
            self._look_at(tree)
        self.best = self.take.argmin(axis=1)

    def make(self, least: float) -> bool:
        """Make the move that saves the most, if it saves more than `least`; return whether.

        Once `most_hard` rates were hard, no move is made.
        """
        everything = np.arange(len(self.kind))
        while True:
            saved = self.give - self.take[everything, self.best]
            thing = int(saved.argmax())
            if saved[thing] <= least or self.rates.hard >= self.most_hard:
                return False
            source, goal = int(self.tree[thing]), int(self.best[thing])
            if not self.left_exact[thing]:
                rest = np.flatnonzero(self.tree == source)
                rest = rest[rest != thing]
                rate = self.rates.of_set(*self._union(rest)) if len(rest) else 0.0
                self.left[thing], self.left_exact[thing] = rate, True
                self._price_leaving(np.array([thing]))
            elif not self.joined_exact[thing, goal]:
                self.joined[thing, goal] = self.rates.added(
                    self.rate[goal],
                    self.sets[goal],
                    self.own[thing],
                    self.parts[self.kind[thing]],
                    self.joined[thing, goal],
                )
                self.joined_exact[thing, goal] = True
                self._price_joining(np.array([thing]), goal)
                self.best[thing] = self.take[thing].argmin()
            else:
                self._move(thing, source, goal)
                return True

    def labels(self) -> Int64:
        """The tree of each query."""
        labels: Int64 = self.tree[self.of_query]
        return labels

    def _move(self, thing: int, source: int, goal: int) -> None:
        if self.heft[goal] == 0.0 and (self.tree == source).sum() > 1:
            self._add_empty()  # the move used the empty one
        self.rate[goal] = self.joined[thing, goal]
        self.rate[source] = self.left[thing]
        self.tree[thing] = goal
        for tree in (source, goal):
            members = np.flatnonzero(self.tree == tree)
            self.heft[tree] = self.weight[members].sum()
            self.sets[tree] = self._union(members)
            self._look_at(tree)
        # Only rows whose best tree was one of the two have to be searched again.
        stale = (self.best == source) | (self.best == goal)
        self.best[stale] = self.take[stale].argmin(axis=1)
        everything = np.arange(len(self.kind))
        for tree in (source, goal):
            better = self.take[:, tree] < self.take[everything, self.best]
            self.best[better] = tree

    def _look_at(self, tree: int) -> None:
        """Bound the rates of a tree with each thing added, and without each of its own things."""
        everything = np.arange(len(self.kind))
        members = np.flatnonzero(self.tree == tree)
        rate = self.rate[tree]
        shared = self.common[self.kind][:, self.kind[members]]
        low = np.maximum(rate, self.own)
        if len(members):
            apart = self.own[:, None] + self.own[members] - shared
            low = np.maximum(low, apart.max(axis=1))
            low = np.maximum(low, rate + self.own - shared.sum(axis=1))
        self.joined[:, tree] = low
        # A thing adds no edges to a tree that has its class; an empty tree gets only its edges.
        within = np.isin(self.kind, self.kind[members])
        self.joined[within, tree] = rate
        self.joined_exact[:, tree] = within if len(members) else True
        self._price_joining(everything, tree)
        self.take[members, tree] = np.inf
        # Removing a thing loses at most the edges that it shares with no single other thing.
        others = shared[members]
        np.fill_diagonal(others, 0.0)
        lost = self.own[members] - others.max(axis=1, initial=0.0)
        self.left[members] = np.maximum(rate - lost, 0.0)
        self.left_exact[members] = False
        self._price_leaving(members)

    def _price_joining(self, things: Int64, tree: int) -> None:
        before = self.rate[tree] * (self.per_edge + self.heft[tree])
        weight = self.per_edge + self.heft[tree] + self.weight[things]
        self.take[things, tree] = self.joined[things, tree] * weight - before
        if self.heft[tree] == 0.0:
            self.take[things, tree] += self.fixed

    def _price_leaving(self, things: Int64) -> None:
        tree = self.tree[things]
        before = self.rate[tree] * (self.per_edge + self.heft[tree])
        weight = self.per_edge + self.heft[tree] - self.weight[things]
        self.give[things] = before - self.left[things] * weight
        alone = np.bincount(self.tree, minlength=len(self.rate))[tree] == 1
        self.give[things[alone]] = before[alone] + self.fixed
        self.left_exact[things[alone]] = True
        self.left[things[alone]] = 0.0

    def _union(self, things: Int64) -> Progressions:
        if not len(things):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        some = [self.parts[kind] for kind in self.kind[things]]
        offset = np.concatenate([offset for offset, _ in some])
        return clean(offset, np.concatenate([step for _, step in some]))

    def _add_empty(self) -> None:
        self.rate = np.append(self.rate, 0.0)
        self.heft = np.append(self.heft, 0.0)
        self.sets.append(self._union(np.empty(0, np.int64)))
        column = np.empty((len(self.kind), 1))
        self.joined = np.hstack([self.joined, column])
        self.joined_exact = np.hstack([self.joined_exact, np.zeros(column.shape, np.bool_)])
        self.take = np.hstack([self.take, column])
        self._look_at(len(self.rate) - 1)
