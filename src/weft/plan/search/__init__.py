"""Searches for a partition of queries into trees: the one in `weave/`, and `baselines/` beside it.

A search gets only a table of windows and a linear cost; which queries may share, and what a cost
means, is decided before. Imports only `query` and the earlier parts of `plan`. The building blocks
of all searches are here: `grouping` (what they return), `classes` (queries with equal edges count
as one), `trees` and `rates` (the edge rates of trees, and of trees after a merge).
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
"""Searches by name; each takes `(table, cost, *, edges, seed, progress, **options)`."""

__all__ = ["SEARCHES", "Grouping", "SearchReport"]
