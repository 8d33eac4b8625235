"""WeaveShare as published, with switches for its three optimisations and for how to count edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.errors import BudgetError
from weft.plan.cost import LinearCost
from weft.plan.edges.bitset import bitset_count
from weft.plan.edges.exact import merged_rate
from weft.plan.edges.f1 import f1_sum
from weft.plan.edges.gcd_table import gcd_table
from weft.plan.edges.kernels import merge
from weft.plan.search.baselines.probing import probe_bitmap, probe_queries
from weft.plan.search.classes import collapse, tolerance
from weft.plan.search.grouping import Grouping, SearchReport
from weft.plan.search.rates import BITS, GROUPS, NODES, Rates
from weft.plan.search.trees import GONE, Trees
from weft.plan.search.weave.bounds import rows
from weft.plan.search.weave.weaving import EVALUATE, MERGE, UNSEEN, Progress, roots, select
from weft.query.table import WindowTable

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

MATRIX = 10_000
"""Most trees for which the paper's table of pairs fits in memory."""
_EXACT, _F1, _BITSET, _BITMAP, _QUERIES = range(5)
_EVALUATIONS, _WORK, _COMPARISONS, _PAST = range(4)


@dataclass(frozen=True)
class Counts:
    """What the paper's algorithm did."""

    evaluations: int
    """Edge rates of pairs computed."""
    work: int
    """Nodes, groups or bits, depending on how edges are counted."""
    comparisons: int
    """Edges of one tree looked up in another (figure 14); 0 where no bit set is probed."""


def search(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "exact",
    seed: int = 0,
    progress: Progress | None = None,
    lookup: bool = True,
    bitmap: bool = True,
    smaller: bool = True,
    probe: bool = False,
    collapsed: bool = True,
    limit: int | None = None,
) -> Grouping:
    """Compute what merging saves for every pair of trees, merge the best, and start over.

    `lookup` keeps computed pairs in a table (WeaveShare section 8.1), so that an iteration
    computes only the pairs of the tree that it merged. `collapsed` first puts queries with equal
    edges into one tree; the papers do not, but a million queries are infeasible without it.
    `probe`, `bitmap` and `smaller` are explained at `run`. `limit` bounds the work of the whole
    search, in groups of F1 or ticks of a bit set; one pair may use up all of it. Without a limit,
    each pair has the budget of `edge_rate`. Ties are broken as by `weave`.

    >>> table = WindowTable(range=[16, 10, 8], slide=[4, 5, 4])
    >>> cost = LinearCost(fixed=1.2, per_edge=0.0, weight=table.overlap)
    >>> search(table, cost, edges="f1").labels
    array([0, 1, 0])
    """
    grouping, counts = run(
        table,
        cost,
        edges=edges,
        lookup=lookup,
        bitmap=bitmap,
        smaller=smaller,
        probe=probe,
        collapsed=collapsed,
        limit=limit,
        progress=progress,
    )
    if not probe:
        return grouping
    notes = (*grouping.report.notes, f"{counts.comparisons:,} comparisons of edges")
    return replace(grouping, report=replace(grouping.report, notes=notes))


def run(
    table: WindowTable,
    cost: LinearCost,
    *,
    edges: str = "bitset",
    lookup: bool = True,
    bitmap: bool = True,
    smaller: bool = True,
    collapsed: bool = False,
    probe: bool = False,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[Grouping, Counts]:
    """`search`, and counts of its work.

    With `probe` the common edges of two trees are found as in the paper, by looking up every edge
    of one tree in the other: in a bit set (`bitmap`) or in each of its queries. The edges looked
    up are those of the tree with fewer edges (`smaller`) or those of the second tree.
    """
    began = perf_counter()
    rates = Rates(edges)  # refuses unknown ways of counting
    classes = collapse(table, cost.weight, equal=collapsed)
    if len(classes) > MATRIX:
        raise BudgetError(
            f"{len(classes):,} trees to begin with have too many pairs for a table of them: at "
            f"most {MATRIX:,}; strategy 'weave' with edges='exact' would do it"
        )
    trees = Trees.of_classes(classes, cost.per_edge)
    tie = tolerance(classes if collapsed else collapse(table, cost.weight), cost)
    least = tie - cost.fixed * classes.unit
    method = {"exact": _EXACT, "bitset": _BITSET}.get(edges, _F1)
    if probe:
        method = _BITMAP if bitmap else _QUERIES
    pairs = _Pairs(trees, method, edges == "f1_table", smaller, limit)
    pairs.fill(trees.alive(), later_only=True)
    ended = np.arange(len(trees), dtype=np.int64)
    merges = 0
    while True:
        code, i, j = select(
            pairs.bound, pairs.row, pairs.row_best, trees.weight, trees.charge,
            cost.per_edge, least, tie,
        )  # fmt: skip
        if code == EVALUATE:  # only with `exact`, which defers hard pairs until they matter
            at = pairs.row[i] + j
            pairs.bound[at] = -rates.together(trees, i, j, pairs.bound[at])
            continue
        if code != MERGE:
            break
        pairs.unite(i, j)
        ended[j] = i
        merges += 1
        if progress is not None and merges % 16 == 0:
            progress(merges, len(trees), "merging trees")
        if lookup:
            pairs.fill(np.array([i]), later_only=False)
        else:
            pairs.fill(trees.alive(), later_only=True)
    left = trees.alive()
    place = np.empty(len(trees), dtype=np.int64)
    place[left] = np.arange(len(left))
    counts = Counts(
        int(pairs.counts[_EVALUATIONS]) + rates.evaluations,
        int(pairs.counts[_WORK]) + rates.work,
        int(pairs.counts[_COMPARISONS]),
    )
    report = SearchReport(
        strategy="weave_paper",
        edges=edges,
        evaluations=counts.evaluations,
        merges=len(table) - len(left),
        iterations=len(table) - len(left) + 1,
        seconds=perf_counter() - began,
        stop_reason="no merge saves anything" if len(left) > 1 else "one tree is left",
        exact=rates.sampled == 0,
        notes=rates.notes(),
    )
    labels = place[roots(ended)][classes.of_query]
    return Grouping(labels, trees.rate[left] / classes.unit, report), counts


class _Pairs:
    """The table of all pairs' edge rates; as in `bounds`, exact rates are stored negated."""

    def __init__(
        self, trees: Trees, method: int, table: bool, smaller: bool, limit: int | None
    ) -> None:
        self.trees, self.method, self.smaller = trees, method, smaller
        self.most = GROUPS if method == _F1 else BITS
        if limit is not None and method == _F1:
            self.most = limit
        self.limit = 10**15 if limit is None else limit
        self.table = gcd_table() if table else gcd_table(0)[:0]
        self.counts = np.zeros(4, dtype=np.int64)
        n = len(trees)
        self.row, self.row_best = rows(n), np.full(n, UNSEEN)
        self.bound = np.empty(n * (n - 1) // 2, dtype=np.float64)
        self.length = np.where(trees.low == trees.high, 1, 2)
        self.start = np.cumsum(self.length) - self.length
        self.used = int(self.length.sum())
        self.offset, self.step = np.empty((2, 2 * self.used), dtype=np.int64)
        last = self.start + self.length - 1
        self.offset[last], self.step[last] = trees.high, trees.step
        self.offset[self.start], self.step[self.start] = trees.low, trees.step

    def unite(self, i: int, j: int) -> None:
        """Merge tree j into tree i."""
        if self.method == _QUERIES:  # comparing query by query needs all of them
            taken = np.concatenate([self._place(i), self._place(j)])
            both = self.offset[taken], self.step[taken]
        self.trees.unite(i, j, -self.bound[self.row[i] + j])
        if self.method != _QUERIES:
            both = self.trees.progressions(i)
        size = len(both[0])
        if self.used + size > len(self.step):
            self.offset = np.concatenate([self.offset, np.empty_like(self.offset), both[0]])
            self.step = np.concatenate([self.step, np.empty_like(self.step), both[1]])
        self.start[i], self.length[i] = self.used, size
        self.used += size
        place = self._place(i)
        self.offset[place], self.step[place] = both
        self.row_best[j] = GONE

    def fill(self, trees: Int64, later_only: bool) -> None:
        """Compute the pairs of these trees, all or only those with later ones."""
        for i in trees:
            _fill_row(
                self.bound, self.row, self.row_best, i, later_only,
                self.start, self.length, self.offset, self.step,
                self.trees.rate, self.trees.weight, self.trees.charge, self.trees.per_edge,
                self.method, self.smaller, self.table, self.limit, self.most, self.counts,
            )  # fmt: skip
            if self.counts[_PAST]:
                raise BudgetError(
                    f"the search ran past its budget of {self.limit:,} steps, or one pair past "
                    f"its own, after {self.counts[_EVALUATIONS]:,} pairs; edges='exact' would do it"
                )

    def _place(self, tree: int) -> Int64:
        return np.arange(self.start[tree], self.start[tree] + self.length[tree])


@njit(cache=True, error_model="numpy")
def _fill_row(
    bound: Float64,
    row: Int64,
    row_best: Float64,
    i: int,
    later_only: bool,
    start: Int64,
    length: Int64,
    offset: Int64,
    step: Int64,
    rate: Float64,
    weight: Float64,
    charge: Float64,
    per_edge: float,
    method: int,
    smaller: bool,
    table: Int32,
    limit: int,
    most: int,
    counts: Int64,
) -> None:
    """Compute the pairs of tree i, with at most `most` steps per pair and `limit` in all."""
    best = GONE
    off_i, step_i = offset[start[i] :][: length[i]], step[start[i] :][: length[i]]
    for k in range(i + 1 if later_only else 0, len(rate)):
        if k == i or charge[k] == GONE:
            continue
        off_k, step_k = offset[start[k] :][: length[k]], step[start[k] :][: length[k]]
        # As in the paper, the edges of the second tree are looked up in the first.
        first = k < i
        if smaller and method >= _BITMAP and (rate[i] < rate[k]) != first:
            first = not first
        if method == _EXACT:
            first = length[i] < length[k]
        x_off, x_step, x_rate = (off_k, step_k, rate[k]) if first else (off_i, step_i, rate[i])
        y_off, y_step, y_rate = (off_i, step_i, rate[i]) if first else (off_k, step_k, rate[k])
        work = 0
        if method == _EXACT:
            both, work = merged_rate(x_rate, x_off, x_step, y_off, y_step, NODES)
        elif method == _BITMAP:
            both, work, looked = probe_bitmap(x_off, x_step, y_off, y_step, most)
            counts[_COMPARISONS] += looked
        elif method == _QUERIES:
            both, work, looked = probe_queries(x_rate, x_off, x_step, y_off, y_step, most)
            counts[_COMPARISONS] += looked
        else:
            u_off, u_step = merge(x_off, x_step, y_off, y_step)
            if method == _F1:
                both, work = f1_sum(u_off, u_step, table, most)
            else:
                both, work = bitset_count(u_off, u_step, most)
        counts[_EVALUATIONS] += 1
        counts[_WORK] += work
        if counts[_WORK] > limit or (both < 0.0 and method != _EXACT):
            counts[_PAST] = 1
            return
        low = max(x_rate, y_rate)
        # A rate past the budget is left as a bound.
        bound[row[i] + k if i < k else row[k] + i] = -max(both, low) if both >= 0.0 else low
        score = charge[i] + charge[k] - max(both, low) * (per_edge + weight[i] + weight[k])
        if k > i:
            best = max(best, score)
        else:
            row_best[k] = max(row_best[k], score)
    row_best[i] = best
