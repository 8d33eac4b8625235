"""The coverage graph: which window is computed from which, and from how many pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from weft.errors import PlanError
from weft.plan.coverage import CoveragePlan
from weft.plan.coverage.explain import walk
from weft.plan.coverage.graph import CoverageGraph
from weft.plan.plan import Plan
from weft.plot.canvas import (
    COLOURS,
    FAINT,
    INK,
    WIDTH,
    Target,
    check_target,
    compact,
    finish,
    new_figure,
)

ASKED, FACTOR = COLOURS[0], COLOURS[5]
_ROW = 0.42
"""Inches from a window to the one below it."""
_COLUMN = 1.35
"""Least inches from one step to the next."""
_WIDE, _HIGH = 0.7, 0.74
"""The size of a window's box, as parts of a column and a row."""
FEW = 12
"""With more windows than this, arrows that the plan does not use would be a tangle."""


@dataclass(frozen=True)
class WindowBox:
    """A window in the picture, or a placeholder for windows that are left out."""

    label: str
    upstream: int | None
    """The index of the node that feeds it; None if the rows do."""
    pieces: int | None
    factor: bool = False
    window: int | None = None
    """Its number in the coverage plan; None for a placeholder."""


def coverage_graph(
    plan: Plan | CoveragePlan, *, tree: int | None = None, most: int = 30, save: Target = None
) -> Figure:
    """Draw a plan's windows, each to the right of the one that it is computed from.

    Arrows show the number of pieces that make one window. If there are few windows, grey arrows
    show the other windows that could have fed it. Factor windows, which no query asked for, have a
    dashed frame. If a `Plan` has several trees, `tree` picks the one to draw (default: the one with
    the most windows). Of more than `most` windows, only those that feed most others are drawn.

    >>> from weft import Window, optimize
    >>> plan = optimize([Window(range=r) for r in (20, 30, 40)], rate=1.0, strategy="factor")
    >>> figure = coverage_graph(plan)
    >>> [text.get_text() for text in figure.axes[0].texts][-4:]
    ['10\\nfactor window', '20', '40', '30']
    """
    check_target(save)
    if most < 1:
        raise PlanError(f"most={most!r} must be 1 or more")
    coverage, notes = _chosen(plan, tree)
    nodes = _nodes(coverage, most)
    where = _places(nodes)
    height = 1.3 + _ROW * max(1, len({y for _, y in where}))
    figure = new_figure(height, max(WIDTH, _COLUMN * (1 + max(x for x, _ in where))))
    axes = figure.add_subplot()
    _draw(axes, coverage, nodes, where)
    hidden = len(coverage.windows) - sum(node.window is not None for node in nodes)
    if hidden:
        notes.append(f"{hidden:,} of {len(coverage.windows):,} windows are not drawn one by one")
    key = ["a box is a window: range / slide; on an arrow, the pieces that make one window"]
    if len(nodes) <= FEW:
        key.append("grey arrows could feed a window and were not taken")
    factors = len(coverage.factors)
    heading = f"{len(coverage.asked):,} windows asked for"
    if factors:
        heading += f", {factors:,} factor window{'' if factors == 1 else 's'}"
    share = 100 * coverage.cost / coverage.cost_without_sharing
    axes.set_title(
        f"{heading}: {share:.2g}% of the cost of each from the rows", fontsize=11, loc="left"
    )
    return finish(figure, save, key + notes)


def _chosen(plan: Plan | CoveragePlan, tree: int | None) -> tuple[CoveragePlan, list[str]]:
    if isinstance(plan, CoveragePlan):
        if tree is not None:
            raise PlanError(f"tree={tree!r}: a coverage plan has no trees to pick from")
        return plan, []
    if not plan.coverages:
        raise PlanError(
            f"a plan by strategy {plan.strategy!r} is made of slices and has no coverage graph: "
            f"plan with strategy='coverage' or 'factor', or draw it with plan_timeline"
        )
    if tree is None:
        sizes = {number: len(one.windows) for number, one in plan.coverages.items()}
        number = max(sizes, key=lambda one: (sizes[one], -one))
        notes = [f"tree {number + 1} of {len(plan.trees):,}"] if len(plan.trees) > 1 else []
        return plan.coverages[number], notes
    if tree - 1 not in plan.coverages:
        listed = ", ".join(str(number + 1) for number in sorted(plan.coverages)[:8])
        raise PlanError(f"tree={tree!r} has no coverage graph: those that have are {listed}")
    return plan.coverages[tree - 1], []


def _nodes(coverage: CoveragePlan, most: int) -> list[WindowBox]:
    """The windows that feed most others, each after its upstream, and placeholders for the rest."""
    order = [node for node, _, _ in walk(coverage.upstream)]
    fed = [1] * len(order)
    for node in reversed(order):
        up = coverage.upstream[node]
        if up is not None:
            fed[up] += fed[node]
    # A window feeds strictly more windows than any window that it feeds, so every prefix of this
    # order contains the upstreams of its windows.
    kept = set(sorted(order, key=lambda node: -fed[node])[:most])
    asked, factors = Counter(coverage.index), set(coverage.factors)
    nodes: list[WindowBox] = []
    place: dict[int | None, int | None] = {None: None}
    left_out: Counter[int | None] = Counter()
    for node in order:
        up = coverage.upstream[node]
        if node not in kept:
            if up is None or up in kept:
                left_out[up] += fed[node]
            continue
        place[node] = len(nodes)
        label = compact(coverage.windows[node])
        if node in factors:
            label += "\nfactor window"
        elif asked[node] > 1:
            label += f"\n{asked[node]:,} queries"
        pieces = coverage.pieces[node]
        nodes.append(WindowBox(label, place[up], pieces, node in factors, node))
    for up, count in left_out.items():
        nodes.append(WindowBox(f"{count:,} more\nwindows", place[up], None))
    return nodes


def _places(nodes: Sequence[WindowBox]) -> list[tuple[float, float]]:
    """x is the distance from the rows; y is centred between the windows that a window feeds."""
    below: dict[int | None, list[int]] = {}
    for number, node in enumerate(nodes):
        below.setdefault(node.upstream, []).append(number)
    where: list[tuple[float, float]] = [(0.0, 0.0)] * len(nodes)
    leaves = 0
    stack = [(number, 1.0, False) for number in reversed(below.get(None, []))]
    while stack:
        number, depth, done = stack.pop()
        children = below.get(number, [])
        if not children:
            where[number] = (depth, float(leaves))
            leaves += 1
        elif done:
            spread = [where[child][1] for child in children]
            where[number] = (depth, (min(spread) + max(spread)) / 2)
        else:
            stack.append((number, depth, True))
            stack += [(child, depth + 1.0, False) for child in reversed(children)]
    return where


def _draw(
    axes: Axes,
    coverage: CoveragePlan,
    nodes: Sequence[WindowBox],
    where: Sequence[tuple[float, float]],
) -> None:
    depth, bottom = max(x for x, _ in where), max(y for _, y in where)
    first = [y for node, (_, y) in zip(nodes, where, strict=True) if node.upstream is None]
    root = (0.0, (min(first) + max(first)) / 2)
    taken = {(node.upstream, number) for number, node in enumerate(nodes)}
    if len(nodes) <= FEW:
        for up, down in sorted(_possible(coverage, nodes) - taken):
            _arrow(axes, where[up], where[down], "possible")
    for number, node in enumerate(nodes):
        tail, head = root if node.upstream is None else where[node.upstream], where[number]
        _arrow(axes, tail, head, "taken")
        if node.pieces is not None:
            x = 0.4 * (tail[0] + _WIDE / 2) + 0.6 * (head[0] - _WIDE / 2)
            y = 0.4 * tail[1] + 0.6 * head[1]
            axes.text(x, y, f"{node.pieces:,}", fontsize=7.5, ha="center", va="center",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    _box(axes, root, "rows", INK)
    for node, place in zip(nodes, where, strict=True):
        colour = FAINT if node.window is None else FACTOR if node.factor else ASKED
        _box(axes, place, node.label, colour, "--" if node.factor else "-")
    axes.set_xlim(-0.5, depth + 0.5)
    axes.set_ylim(bottom + 0.6, -0.6)
    axes.set_yticks([])
    axes.set_xticks(range(int(depth) + 1))
    axes.set_xlabel("steps from the rows")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _box(axes: Axes, place: tuple[float, float], label: str, colour: str, line: str = "-") -> None:
    corner = (place[0] - _WIDE / 2, place[1] - _HIGH / 2)
    axes.add_patch(
        FancyBboxPatch(
            corner, _WIDE, _HIGH, boxstyle="round,pad=0,rounding_size=0.06", mutation_aspect=2.0,
            facecolor="white", edgecolor=colour, linestyle=line, linewidth=1.4,
        )
    )  # fmt: skip
    longest = max(map(len, label.split("\n")))
    size = min(8.0, 8.0 * 15 / longest)
    axes.text(*place, label, fontsize=size, ha="center", va="center", linespacing=1.1)


def _possible(coverage: CoveragePlan, nodes: Sequence[WindowBox]) -> set[tuple[int, int]]:
    """Pairs of drawn windows of which one could feed the other."""
    drawn = [(number, node.window) for number, node in enumerate(nodes) if node.window is not None]
    windows = [coverage.windows[window] for _, window in drawn]
    graph = CoverageGraph.of(windows, coverage.semantics, coverage.instances)
    return {(drawn[up][0], drawn[down][0]) for up, down, _ in graph.edges()}


def _arrow(
    axes: Axes,
    tail: tuple[float, float],
    head: tuple[float, float],
    kind: Literal["taken", "possible"],
) -> None:
    """An arrow from the right of one box to the left of another; grey arrows bend around boxes."""
    style = "arc3,rad=0" if kind == "taken" else "arc3,rad=-0.25"
    arrow = FancyArrowPatch(
        (tail[0] + _WIDE / 2, tail[1]),
        (head[0] - _WIDE / 2, head[1]),
        arrowstyle="-|>",
        mutation_scale=9 if kind == "taken" else 6,
        connectionstyle=style,
        color=INK if kind == "taken" else FAINT,
        linewidth=1.2 if kind == "taken" else 0.6,
        shrinkA=0,
        shrinkB=0,
        zorder=0.9 if kind == "taken" else 0.8,
        gid=kind,
    )
    axes.add_patch(arrow)
