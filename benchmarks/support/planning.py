"""How long planning takes with every method of counting edges, in one run, and the work it does.

`bitset`, `f1` and `f1_table` run WeaveShare as published, with its cost lookup and two improvements
that its authors did not have: queries with equal edges are merged first, and the lookup table keeps
the best of each row. `exact` is `weave`. All break ties by the same rule, so they must find the
same plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from time import process_time

import numpy as np

from benchmarks.support.harness import Row, Rows, check
from benchmarks.support.weaving import check_rates
from benchmarks.support.workloads import Setting
from weft.errors import BudgetError
from weft.plan.cost import LinearCost
from weft.plan.search.baselines import weave_paper
from weft.plan.search.classes import collapse
from weft.plan.search.grouping import Grouping
from weft.plan.search.weave import search as weave
from weft.query.table import WindowTable

METHODS = ("bitset", "f1", "f1_table", "exact")
FIGURE_14 = Setting(250, max_slide=16, rate=100, skew=0.7, max_overlap=10)
"""The setting of WeaveShare section 8.4; the paper does not say which slides it used."""

_LONG = 0.2  # longer runs are measured once
QUICK_LIMITS = {"bitset": 3 * 10**8, "f1": 2 * 10**7, "f1_table": 2 * 10**7}
FULL_LIMITS = {"bitset": 3 * 10**10, "f1": 2 * 10**9, "f1_table": 2 * 10**9}


@dataclass(frozen=True)
class Run:
    """How long a method took, and the plan that it found."""

    seconds: float
    grouping: Grouping | None
    """None if the method ran past its budget; the seconds are those until then."""


def point(head: Row, setting: Setting, limits: dict[str, int]) -> Rows:
    """Run all methods on one workload; plans that must be the same and differ are an error.

    Times are seconds of processor time, warm, and if short the best of a few. `faster` is the
    speedup over `f1`; where `f1` ran past its budget, it is a lower bound.
    """
    table = setting.table()
    cost = LinearCost(setting.rate, 0.0, table.overlap)
    classes = len(collapse(table, cost.weight))
    runs = {method: _measure(method, table, cost, limits) for method in METHODS}
    name = " ".join(f"{key}={value}" for key, value in head.items())
    comments = compared(name, runs, table, cost)
    rows = []
    for method, measured in runs.items():
        f1, found = runs["f1"], measured.grouping
        known = found is not None and (f1.grouping is not None or method == "exact")
        rows.append(
            head
            | {
                "edge_sets": classes,
                "method": method,
                "seconds": round(measured.seconds, 6),
                "faster": round(f1.seconds / measured.seconds, 2) if known else None,
                "at_least": known and f1.grouping is None,
                "cost": None if found is None else found.cost(cost),
                "trees": None if found is None else len(found),
                "status": "past its budget" if found is None else "ok",
                "comment": comments.get(method),
            }
        )
    return rows


def _measure(method: str, table: WindowTable, cost: LinearCost, limits: dict[str, int]) -> Run:
    """The shortest of a few runs."""
    best = Run(float("inf"), None)
    spent = 0.0
    for _ in range(5):
        began = process_time()
        try:
            if method == "exact":
                grouping: Grouping | None = weave.search(table, cost)
            else:
                grouping = weave_paper.search(table, cost, edges=method, limit=limits[method])
        except BudgetError:
            grouping = None
        seconds = max(process_time() - began, 1e-6)
        best = Run(min(best.seconds, seconds), grouping)
        spent += seconds
        if spent > _LONG:
            break
    return best


def compared(
    name: str, runs: dict[str, Run], table: WindowTable, cost: LinearCost
) -> dict[str, str]:
    """Fail if plans differ that must be the same; for others, return why they differ, by method."""
    exact = runs["exact"].grouping
    assert exact is not None  # it has no budget to run past
    check_rates(table, cost, exact, f"{name}: exact")
    price = exact.cost(cost)
    comments: dict[str, str] = {}
    for method, measured in runs.items():
        other = measured.grouping
        if other is None:
            continue
        more = other.cost(cost) / price - 1.0
        if abs(more) <= 1e-9:
            continue
        same = np.array_equal(exact.labels, other.labels)
        one_tree = any("was taken" in note for note in exact.report.notes) and more > 0.0
        check(
            not same and (one_tree or abs(more) <= 1e-3),
            f"{name}: {method} costs {other.cost(cost)!r}, exact {price!r}",
        )
        comments[method] = (
            "exact took one tree for all, which weave compares with at last"
            if one_tree
            else "savings that tie were told apart by rounding"
        )
    return comments


def figure_14(full: bool) -> Iterator[Row]:
    """Add the paper's three optimisations one by one; they must not change the plan."""
    setting = FIGURE_14 if full else replace(FIGURE_14, queries=80)
    table = setting.table()
    cost = LinearCost(setting.rate, 0.0, table.overlap)
    first, plan = None, None
    for name, lookup, bitmap, smaller in (
        ("naive", False, False, False),
        ("cost lookup", True, False, False),
        ("and edge bitmap", True, True, False),
        ("and probe with the smaller", True, True, True),
    ):
        began = process_time()
        grouping, counts = weave_paper.run(
            table, cost, lookup=lookup, bitmap=bitmap, smaller=smaller, probe=True
        )
        seconds = process_time() - began
        plan = grouping.labels if plan is None else plan
        check(np.array_equal(plan, grouping.labels), f"figure 14: {name} changed the plan")
        first = first or counts.comparisons
        yield {
            "queries": setting.queries,
            "variant": name,
            "seconds": round(seconds, 6),
            "pairs": counts.evaluations,
            "comparisons": counts.comparisons,
            "fewer": round(first / max(counts.comparisons, 1), 1),
            "cost": grouping.cost(cost),
            "trees": len(grouping),
        }


def warm_up() -> None:
    """Compile everything before anything is measured."""
    for fragments in (False, True):
        setting = Setting(400, 30, 5.0, 0.5, 10, fragments=fragments)
        table = setting.table()
        cost = LinearCost(setting.rate, 0.0, table.overlap)
        for method in METHODS:
            with suppress(BudgetError):  # even then, the code has been compiled
                weave_paper.search(table, cost, edges=method, limit=10**6)
        weave.search(table, cost)
        weave.search(table, LinearCost(1e-3, 0.0, table.overlap))
