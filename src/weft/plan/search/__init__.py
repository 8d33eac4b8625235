"""Searches for a partition of queries into trees, one strategy a file.

A search sees a table of windows and a linear cost, nothing else; what may share with what, and
what a cost stands for, is settled before. Imports only `query` and the earlier parts of `plan`.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.plan.search import (
    exhaustive,
    insert_then_weave,
    local_search,
    no_share,
    randomly,
    share_all,
    weave,
    weave_paper,
)
from weft.plan.search.grouping import Grouping, SearchReport

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
