"""Edge rates of windows: one call for every method."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, overload

import numpy as np

from weft.errors import PlanError
from weft.plan.edges import gcd_table
from weft.plan.edges.bitset import MEMORY, bitset_rate
from weft.plan.edges.f1 import f1_rate
from weft.plan.edges.hard import hard_rate
from weft.plan.edges.kernels import union_rate
from weft.plan.edges.progressions import Pieces, Progressions, Windows, as_table
from weft.plan.edges.rate import Rate
from weft.plan.edges.rational import exact_fraction
from weft.query.duration import MICROSECONDS
from weft.query.table import WindowTable

Method = Literal["exact", "f1", "f1_table", "bitset"]
METHODS: tuple[Method, ...] = ("exact", "f1", "f1_table", "bitset")

NODES = 3_000
"""Default limit of the recursion's nodes: beyond it, elimination is faster."""


def measure(
    windows: Windows,
    method: Method = "exact",
    *,
    fractions: bool = False,
    budget: int | None = None,
    pieces: Pieces = "pairs",
    table_memory: int = gcd_table.MEMORY,
) -> Rate:
    """The edge rate of some windows, with how it was computed.

    `exact` (the default) recurses up to `budget` nodes, then eliminates digits, then samples;
    `Rate.how` says which one gave the answer. `f1` and `f1_table` raise `BudgetError` past `budget`
    groups, `bitset` past `budget` bytes. `fractions` returns an exact `Fraction`, which is never
    sampled: past `budget` cells `exact` raises `BudgetError` too. `pieces="panes"` cuts at every
    gcd(range, slide) instead of at starts and ends. `table_memory` limits the GCD table, in bytes.

    >>> from weft import Window
    >>> rate = measure([Window(range=12, slide=9), Window(range=10, slide=6)], fractions=True)
    >>> rate.value, rate.how, rate.exact
    (Fraction(4, 9), 'elimination', True)
    """
    if method not in METHODS:
        raise PlanError(f"method={method!r}: accepted are {', '.join(METHODS)}")
    if budget is not None and budget < 0:
        raise PlanError(f"budget={budget!r} must not be negative")
    edges = Progressions.of_windows(windows, pieces)
    if method == "bitset":
        return bitset_rate(edges, MEMORY if budget is None else budget, fractions=fractions)
    if method != "exact":
        table = gcd_table.gcd_table(table_memory) if method == "f1_table" else None
        return f1_rate(edges, table, budget, fractions=fractions)
    if fractions:
        return exact_fraction(edges) if budget is None else exact_fraction(edges, budget)
    return exact_rate(edges, NODES if budget is None else budget)


def exact_rate(edges: Progressions, nodes: int = NODES) -> Rate:
    """The edge rate by recursion, past its budget by elimination, past that by sampling.

    >>> edges = Progressions.of_arrays([0, 0, 1, 3], [12, 18, 20, 15])
    >>> exact_rate(edges).how, exact_rate(edges, nodes=0).how
    ('recursion', 'elimination')
    """
    value, used = union_rate(edges.offset, edges.step, nodes)
    if value < 0.0:
        return hard_rate(edges.offset, edges.step).per(edges.unit)
    return Rate(value, "closed form" if used == 1 else "recursion", used).per(edges.unit)


@overload
def edge_rate(
    windows: Windows,
    method: Method = ...,
    *,
    fractions: Literal[False] = ...,
    budget: int | None = ...,
    pieces: Pieces = ...,
    table_memory: int = ...,
) -> float: ...
@overload
def edge_rate(
    windows: Windows,
    method: Method = ...,
    *,
    fractions: Literal[True],
    budget: int | None = ...,
    pieces: Pieces = ...,
    table_memory: int = ...,
) -> Fraction: ...
def edge_rate(
    windows: Windows,
    method: Method = "exact",
    *,
    fractions: bool = False,
    budget: int | None = None,
    pieces: Pieces = "pairs",
    table_memory: int = gcd_table.MEMORY,
) -> float | Fraction:
    """The edges per second (per unit on an integer axis) of some windows together.

    The options are those of `measure`, which also returns how the answer was found, and whose rate
    is per unit of the axis (per microsecond on a time axis).

    >>> from weft import Window
    >>> windows = [Window(range=12, slide=9), Window(range=10, slide=6)]
    >>> round(edge_rate(windows) * 18)  # WeaveShare example 2
    8
    >>> edge_rate(windows, fractions=True)
    Fraction(4, 9)
    """
    table = as_table(windows)
    rate = measure(
        table,
        method,
        fractions=fractions,
        budget=budget,
        pieces=pieces,
        table_memory=table_memory,
    )
    return rate.value * (MICROSECONDS["second"] if table.axis == "time" else 1)


def weaveability(x: Windows, y: Windows, method: Method = "exact") -> float:
    """Common edges as a share of all edges (WeaveShare definition 1): 1 weaves perfectly.

    >>> from weft import Window
    >>> x, y = Window(range=12, slide=9), Window(range=10, slide=6)
    >>> round(weaveability([x], [y]), 9)  # WeaveShare example 2: 2 of 8
    0.25
    """
    tables = [as_table(x), as_table(y)]
    if not all(len(table) for table in tables):
        raise PlanError("weaveability is between two sets of windows; one of them is empty")
    if tables[0].axis != tables[1].axis:
        raise PlanError("weaveability: x and y are not on one axis (time or integers)")
    both = WindowTable(
        range=np.concatenate([table.range for table in tables]),
        slide=np.concatenate([table.slide for table in tables]),
        offset=np.concatenate([table.offset for table in tables]),
        axis=tables[0].axis,
    )
    union = edge_rate(both, method)
    common = edge_rate(tables[0], method) + edge_rate(tables[1], method) - union
    return max(common, 0.0) / union
