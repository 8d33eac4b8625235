"""Algorithms 2 to 4: add the best factor window below every window."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from weft.plan.coverage.candidates import common_slide, with_pieces
from weft.plan.coverage.cost import raw_instance_cost
from weft.plan.coverage.forest import Forest
from weft.plan.coverage.graph import CoverageGraph, piece_matrix
from weft.plan.coverage.relation import Instances, Semantics
from weft.query.table import WindowTable
from weft.query.window import Window


def overlap_sum(downstream: WindowTable) -> float:
    """λ: in how many instances of the downstream windows, in total, an instant lies.

    FactorWindows equation 4 is a sum of n / m over a period; per unit of time n is 1 / slide and
    m is 1 / range, so each term is range / slide, the overlap.

    >>> overlap_sum(WindowTable(range=[20, 30], slide=[20, 10]))
    4.0
    """
    return float(downstream.overlap.sum())


def helps(factor_range: int, upstream_range: float, overlap: float) -> bool:
    """Algorithm 3: whether a tumbling factor window does not raise the cost.

    Between a tumbling upstream of range r_W and downstream windows of overlap sum λ > 1, this
    holds if and only if `r_f / r_W >= λ / (λ - 1)` (equation 8). The cases of algorithm 3 follow
    if no window has gaps: with two or more windows λ >= 2, and r_f is at least 2 r_W, so it helps;
    with one tumbling window λ = 1, so it does not; with one window of overlap 2 or more it does.
    The raw stream is an upstream with one row per instance: `upstream_range = 1 / rate`.

    >>> helps(10, 1.0, overlap=2.0), helps(2, 1.0, overlap=2.0), helps(10, 1.0, overlap=1.0)
    (True, True, False)
    """
    return factor_range * (overlap - 1.0) >= overlap * upstream_range


def best_tumbling(upstream: Window | None, downstream: WindowTable, rate: float) -> Window | None:
    """Algorithm 4: the best tumbling factor window, if any helps.

    Every candidate's range divides the longest one, so lines 11 to 13 leave only that one, and
    theorem 9 is not needed: the cost with a candidate is λ / r_f plus a term that does not depend
    on the candidate. So only the longest candidate is computed.

    >>> best_tumbling(None, WindowTable(range=[20, 30]), rate=1.0)
    Window(range=10, slide=10)
    """
    longest = math.gcd(common_slide(downstream), int(np.gcd.reduce(downstream.range)))
    below = 1.0 / rate if upstream is None else float(upstream.range)
    if longest == below or not helps(longest, below, overlap_sum(downstream)):
        return None
    return Window.of_units(longest, longest, int(downstream.start[0]) % longest, downstream.axis)


def benefits(
    upstream: Window | None,
    downstream: WindowTable,
    *,
    rate: float,
    semantics: Semantics,
    instances: Instances,
) -> tuple[WindowTable, npt.NDArray[np.float64]]:
    """The candidates and what each saves per unit of time (equation 2 negated, as a rate).

    >>> found, saved = benefits(
    ...     None, WindowTable(range=[20, 30]), rate=1.0, semantics="partitioned", instances="all"
    ... )
    >>> [(r, round(float(s) * 120)) for r, s in zip(found.range.tolist(), saved)]
    [(10, 96), (5, 72), (2, 0), (1, -120)]
    """
    found, serves, takes = with_pieces(
        upstream, downstream, semantics=semantics, instances=instances
    )
    if upstream is None:
        before = raw_instance_cost(downstream, rate)
        own = raw_instance_cost(found, rate)
    else:
        above = WindowTable.of_windows([upstream])
        before = piece_matrix(above, downstream, semantics, instances)[:, 0].astype(np.float64)
        own = takes.astype(np.float64)
    saved = ((before[:, None] - serves) / downstream.slide[:, None]).sum(axis=0)
    return found, np.asarray(saved - own / found.slide, dtype=np.float64)


def best_factor(
    upstream: Window | None,
    downstream: WindowTable,
    *,
    rate: float,
    semantics: Semantics,
    instances: Instances,
) -> Window | None:
    """The candidate that saves most between an upstream and all of downstream; None if none saves.

    `FindBestFactorWindow` of algorithm 2: algorithm 4 where it applies, else the best of all
    candidates. On a tie it is the first, which has the longest slide.

    >>> best_factor(
    ...     None, WindowTable(range=[10, 14], slide=[2, 2]),
    ...     rate=3.0, semantics="covered", instances="fewest",
    ... )
    Window(range=2, slide=2)
    """
    tumbles = upstream is None or upstream.range == upstream.slide
    one_range = bool((downstream.range == downstream.range[0]).all())
    if semantics == "partitioned" and instances == "all" and tumbles and not one_range:
        return best_tumbling(upstream, downstream, rate)
    found, saved = benefits(
        upstream, downstream, rate=rate, semantics=semantics, instances=instances
    )
    if not len(found):
        return None
    best = int(saved.argmax())
    return found[best] if saved[best] > 0 else None


def add_factors(forest: Forest, graph: CoverageGraph) -> int:
    """Algorithm 2: add the best factor window below the raw stream and below every window.

    `graph` is that of the forest's windows. A factor window may feed any window that it can, not
    only those that it was found for. Factor windows that do not pay in the end are dropped, which
    line 6 alone would not do. Returns the number of factor windows added, including dropped ones.
    """
    columns, windows = graph.columns, graph.windows
    order = np.argsort(columns.upstream, kind="stable")
    first = np.searchsorted(columns.upstream[order], np.arange(len(windows) + 1))
    below = [columns.window[order[first[i] : first[i + 1]]] for i in range(len(windows))]
    roots = np.array(graph.roots, dtype=np.intp)
    known = set(windows)
    found: dict[Window, None] = {}
    for upstream, fed in [(None, roots), *zip(windows, below, strict=True)]:
        if not len(fed):
            continue
        factor = best_factor(
            upstream,
            forest.table.take(fed),
            rate=forest.rate,
            semantics=forest.semantics,
            instances=forest.instances,
        )
        if factor is not None and factor not in known:
            found[factor] = None
    if found:
        forest.add(WindowTable.of_windows(found))
        forest.prune()
    return len(found)
