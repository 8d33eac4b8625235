"""Algorithm 1: every window from its cheapest upstream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.plan.coverage.cost import Float64, raw_instance_cost
from weft.plan.coverage.graph import Edges, Intp, edge_blocks
from weft.plan.coverage.relation import Instances, Semantics
from weft.query.table import WindowTable

RAW = -1
"""The index that means the raw stream where an upstream is given by its index."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Each window's best and second-best upstream and what an instance costs from them.

    Costs are inputs per instance: rows from the raw stream, pieces from an upstream. The raw
    stream serves every window, so there is always a best; the second is the best of the others,
    with an infinite cost where there are none.
    """

    best: Intp
    cost: Float64
    second: Intp
    second_cost: Float64


def choose(
    upstream: WindowTable,
    windows: WindowTable,
    *,
    rate: float,
    semantics: Semantics,
    instances: Instances,
) -> Choices:
    """The cheapest upstream of every window, and the next (FactorWindows algorithm 1).

    Each window can be decided alone: all windows are computed anyway, so the cheapest upstream of
    each makes the cheapest forest over these windows. On a tie it is the raw stream, then the
    upstream that comes first.

    >>> table = WindowTable(range=[10, 20, 30, 40])
    >>> made = choose(table, table, rate=1.0, semantics="covered", instances="all")
    >>> made.best.tolist(), made.cost.tolist()
    ([-1, 0, 0, 1], [10.0, 2.0, 3.0, 2.0])
    """
    size = len(windows)
    made = Choices(
        best=np.full(size, RAW, dtype=np.intp),
        cost=raw_instance_cost(windows, rate),
        second=np.full(size, RAW, dtype=np.intp),
        second_cost=np.full(size, np.inf),
    )
    for edges in edge_blocks(upstream, windows, semantics, instances):
        _take_best_two(made, edges)
    return made


def _take_best_two(made: Choices, edges: Edges) -> None:
    """Update the choices with the edges of a block, which holds all edges of its windows."""
    # An upstream with more pieces than the window has rows is never used.
    useful = np.flatnonzero(edges.count < made.cost[edges.window])
    order = useful[np.lexsort((edges.count[useful], edges.window[useful]))]
    window, count = edges.window[order], edges.count[order]
    starts = np.ones(len(order), dtype=np.bool_)
    starts[1:] = window[1:] != window[:-1]
    head = np.flatnonzero(starts)
    owner = window[head]
    made.second[owner], made.second_cost[owner] = made.best[owner], made.cost[owner]
    made.best[owner], made.cost[owner] = edges.upstream[order[head]], count[head]
    after = head + 1
    has_next = np.append(window, -1)[after] == owner
    owner, after = owner[has_next], after[has_next]
    made.second[owner], made.second_cost[owner] = edges.upstream[order[after]], count[after]
