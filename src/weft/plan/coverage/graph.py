"""The coverage graph: which windows can be computed from which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.plan.coverage.relation import Instances, Semantics, check_semantics
from weft.query.table import Int64, WindowTable
from weft.query.window import Window

Intp = npt.NDArray[np.intp]

# Pairs compared at once, which limits memory to some 100 MB for any number of windows.
_BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges as columns: `window[e]` can be computed from `upstream[e]` with `count[e]` pieces."""

    window: Intp
    upstream: Intp
    count: Int64

    def __len__(self) -> int:
        return len(self.count)


@dataclass(frozen=True, eq=False)
class CoverageGraph:
    """Windows and the edges from upstream to window (FactorWindows section 2.3).

    The raw stream is the root that the paper adds in section 4.1: it feeds every window and is
    not a node here, so an edge from it is written as "no upstream". `roots` are the windows that
    only it feeds. A window has no edge to itself, and equal windows are one node, so the graph
    has no cycles.

    >>> graph = CoverageGraph.of([Window(range=r) for r in (20, 30, 40)], "partitioned")
    >>> graph.edges()
    ((0, 2, 2),)
    >>> graph.roots
    (0, 1)
    >>> graph.downstream(0)
    (2,)
    """

    windows: tuple[Window, ...]
    semantics: Semantics
    instances: Instances
    columns: Edges

    @classmethod
    def of(
        cls, windows: Sequence[Window], semantics: Semantics, instances: Instances = "fewest"
    ) -> CoverageGraph:
        """The graph of distinct windows, which must all be on one axis."""
        check_semantics(semantics, instances)
        distinct = tuple(dict.fromkeys(windows))
        table = WindowTable.of_windows(distinct)
        blocks = list(edge_blocks(table, table, semantics, instances))
        columns = Edges(
            *(
                np.concatenate([getattr(block, name) for block in blocks])
                for name in ("window", "upstream", "count")
            )
        )
        return cls(distinct, semantics, instances, columns)

    def edges(self) -> tuple[tuple[int, int, int], ...]:
        """Every edge as `(upstream, window, pieces)`, in order of window and upstream."""
        columns = self.columns
        return tuple(
            zip(
                columns.upstream.tolist(),
                columns.window.tolist(),
                columns.count.tolist(),
                strict=True,
            )
        )

    @property
    def roots(self) -> tuple[int, ...]:
        """The windows that only the raw stream feeds."""
        fed = np.zeros(len(self.windows), dtype=np.bool_)
        fed[self.columns.window] = True
        return tuple(np.flatnonzero(~fed).tolist())

    def downstream(self, node: int | None) -> tuple[int, ...]:
        """The windows that `node` feeds; for the raw stream (None), the roots."""
        if node is None:
            return self.roots
        return tuple(self.columns.window[self.columns.upstream == node].tolist())


def edge_blocks(
    upstream: WindowTable, windows: WindowTable, semantics: Semantics, instances: Instances
) -> Iterator[Edges]:
    """The edges from `upstream` to `windows`, a block of windows at a time and in order.

    There is no edge between equal windows. There is always at least one block, possibly empty.

    >>> small, large = WindowTable(range=[10]), WindowTable(range=[20, 25])
    >>> [block.count.tolist() for block in edge_blocks(small, large, "covered", "fewest")]
    [[2]]
    """
    # Most pairs fail "slide divides slide", and slides repeat: test once per pair of slides.
    slides_up, code_up = np.unique(upstream.slide, return_inverse=True)
    slides, code = np.unique(windows.slide, return_inverse=True)
    divides = slides[:, None] % slides_up[None, :] == 0
    phase_up, phase = upstream.start, windows.start
    size = max(1, _BLOCK // max(1, len(upstream)))
    for low in range(0, max(1, len(windows)), size):
        rows = slice(low, low + size)
        maybe = divides[code[rows]][:, code_up]
        maybe &= windows.range[rows, None] >= upstream.range[None, :]
        row, up = np.nonzero(maybe)
        row += low
        long, short = windows.range[row], upstream.range[up]
        step = upstream.slide[up]
        count = pieces(long, short, step, semantics, instances)
        count[(phase[row] - phase_up[up]) % step != 0] = 0
        count[(long == short) & (windows.slide[row] == step)] = 0  # itself, where phases agree
        keep = count > 0
        yield Edges(row[keep], up[keep], count[keep])


def piece_matrix(
    upstream: WindowTable, windows: WindowTable, semantics: Semantics, instances: Instances
) -> Int64:
    """The pieces of each upstream (column) in an instance of each window (row); 0: not fed by it.

    Like `edge_blocks`, but for few windows on both sides.

    >>> small, large = WindowTable(range=[10, 5]), WindowTable(range=[20, 25])
    >>> piece_matrix(small, large, "covered", "fewest")
    array([[2, 4],
           [0, 5]])
    """
    step, slide = upstream.slide[None, :], windows.slide[:, None]
    short, long = upstream.range[None, :], windows.range[:, None]
    count = pieces(long, short, step, semantics, instances)
    count[(windows.start[:, None] - upstream.start[None, :]) % step != 0] = 0
    count[slide % step != 0] = 0
    count[(long == short) & (slide == step)] = 0
    return count


def pieces(
    long: Int64, short: Int64, slide: Int64, semantics: Semantics, instances: Instances
) -> Int64:
    """How many instances of range `short` and this slide make up one of range `long`; 0 if none.

    Assumes aligned starts. `link` computes the same for one pair, and explains it.
    """
    span = long - short
    if semantics == "partitioned":
        fits = long % short == 0
        fits &= (span == 0) | (short == slide if instances == "all" else short % slide == 0)
        return np.where(fits, long // short, 0)
    fits = (span >= 0) & (span % slide == 0) & ((span == 0) | (slide <= short))
    step = slide if instances == "all" else np.maximum(short // slide, 1) * slide
    return np.where(fits, 1 - (-span // step), 0)
