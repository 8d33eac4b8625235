"""Searches for a partition of queries into trees: the one in `weave/`, and `baselines/` beside it.

A search sees a table of windows and a linear cost, nothing else; what may share with what, and
what a cost stands for, is settled before. Imports only `query` and the earlier parts of `plan`.
What all searches are made of is here: `grouping` (what they return), `classes` (queries with equal
edges are one), `trees` and `rates` (the edge rates of trees and of merged ones).
"""

from __future__ import annotations

from collections.abc import Callable

from weft.plan.search.baselines import (
    exhaustive,
    insert_then_weave,
    local_search,
    no_share,
    randomly,
    share_all,
    weave_paper,
)
from weft.plan.search.grouping import Grouping, SearchReport
from weft.plan.search.weave import search as weave

SEARCHES: dict[str, Callable[..., Grouping]] = {
    "no_share": no_share.search,
    "share_all": share_all.search,
    "random": randomly.search,
    "insert_then_weave": insert_then_weave.search,
    "local_search": local_search.search,
    "exhaustive": exhaustive.search,
    "weave": weave.search,
    "weave_paper": weave_paper.search,
}
"""Each takes `(table, cost, *, edges="exact", seed=0, progress=None, **options)`."""

__all__ = ["SEARCHES", "Grouping", "SearchReport"]
