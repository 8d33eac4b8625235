"""A tree along the time axis: its edges, its slices, and its queries' windows as threads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from math import ceil

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from weft.engine.slicing.edges import TreeEdges
from weft.errors import PlanError
from weft.plan.explain import describe_window
from weft.plan.plan import Plan
from weft.plan.tree import Tree
from weft.plot.canvas import (
    COLOURS,
    DARK,
    FAINT,
    FILL,
    Target,
    check_target,
    finish,
    new_figure,
    shortened,
    time_unit,
)
from weft.query.duration import Duration, parse_duration
from weft.query.window import Session, Window

Int64 = npt.NDArray[np.int64]
READABLE = 60
"""Edges in view if no length is given: about ten pixels each."""
MOST_EDGES = 2_000
"""Most edges in view, whatever length is given: more would be a grey area."""
DEPTH = 4
"""Most overlapping instances of one window that are drawn; the others are left out."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Thread:
    """A window of the tree and the queries that ask for it."""

    window: Window
    queries: tuple[str, ...]

    @property
    def depth(self) -> int:
        """How many of its instances overlap, each of which is drawn in a lane of its own."""
        return ceil(self.window.range / self.window.slide)

    @property
    def label(self) -> str:
        """The query's name, or the number of queries, and the window."""
        many = len(self.queries) > 1
        name = f"{len(self.queries):,} queries" if many else shortened(self.queries[0])
        return f"{name}\n{describe_window(self.window)}"

    def instances(self, low: int, high: int) -> tuple[Int64, Int64]:
        """Starts and ends of the instances that begin in `[low, high)`, one for each lane."""
        starts, ends = self.window.instances(low, high)
        starts, ends = starts[starts >= low], ends[starts >= low]
        shown = np.arange(len(starts)) % self.depth < DEPTH
        return starts[shown], ends[shown]


def plan_timeline(
    plan: Plan,
    tree: int = 1,
    *,
    start: int | datetime = 0,
    length: Duration | None = None,
    threads: int = 12,
    save: Target = None,
) -> Figure:
    """Draw a tree's edges and slices, and under them the windows that need these edges.

    The picture begins at `start`, a datetime or axis units (microseconds since the epoch), and is
    `length` long. Queries with equal windows are one thread. Of more than `threads` windows, those
    that most queries ask for are drawn, and the picture says how many were left out; its edges are
    always those of the whole tree.

    >>> from weft import Window, optimize
    >>> plan = optimize([Window(range=12, slide=5), Window(range=10, slide=5)], rate=9.0)
    >>> figure = plan_timeline(plan, length=20)
    >>> figure.axes[0].get_xlabel()
    'units after 0'
    """
    check_target(save)
    found = _sliced_tree(plan, tree)
    shown, hidden = _threads(plan, found, threads)
    low = _units(start, plan)
    high, edges, notes = _view(plan, found, shown, low, length)
    unit, unit_name = time_unit(plan.request.table.axis, high - low)
    lanes = [min(thread.depth, DEPTH) for thread in shown]
    figure = new_figure(1.5 + sum(0.24 + 0.16 * count for count in lanes))
    axes = figure.add_subplot()
    place, ticks = 0.0, [-0.5]
    _draw_slices(axes, edges, low, unit)
    for number, (thread, count) in enumerate(zip(shown, lanes, strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        top = place + 0.75
        _draw_thread(axes, thread, number, low, high, unit, top, colour)
        ticks.append(top + (count - 1) * 0.5)
        place = top + count
    axes.vlines(
        (edges - low) / unit, -1.0, place, colors=FAINT, linewidth=0.6, zorder=1, gid="edges"
    )
    _dress(axes, found, shown, ticks, place, (high - low) / unit)
    axes.set_xlabel(f"{unit_name} after {_instant(low, plan)}")
    if any(thread.depth > DEPTH for thread in shown):
        notes.append(f"where windows lie more than {DEPTH} deep, {DEPTH} at a time are drawn")
    if hidden:
        asked = sum(len(thread.queries) for thread in hidden)
        notes.append(f"not drawn: {len(hidden):,} more windows, of {asked:,} queries")
    return finish(figure, save, notes)


def _sliced_tree(plan: Plan, number: int) -> Tree:
    if not 1 <= number <= len(plan.trees):
        raise PlanError(f"tree={number!r}: this plan has trees 1 to {len(plan.trees)}")
    tree = plan.trees[number - 1]
    if tree.coverage is not None:
        raise PlanError(
            f"tree={number!r} is computed window from window and has no slices: "
            f"coverage_graph draws it"
        )
    if plan.queries and isinstance(plan.queries[int(tree.rows[0])].window, Session):
        raise PlanError(f"tree={number!r} has sessions, which end with rows, not at edges")
    return tree


def _threads(plan: Plan, tree: Tree, most: int) -> tuple[list[Thread], list[Thread]]:
    """The windows to draw, shorter ones first, and those left out."""
    if most < 1:
        raise PlanError(f"threads={most!r} must be 1 or more")
    names: dict[Window, list[str]] = {}
    for position, name in enumerate(tree.queries):
        row = int(tree.rows[position])
        window = plan.queries[row].window if plan.queries else tree.table[position]
        names.setdefault(window, []).append(name)
    asked = Counter({window: len(queries) for window, queries in names.items()})
    order = [window for window, _ in asked.most_common()]
    listed = [Thread(window, tuple(names[window])) for window in order]
    by_length = sorted(listed[:most], key=lambda one: (one.window.range, one.window.slide))
    return by_length, listed[most:]


def _units(start: int | datetime, plan: Plan) -> int:
    if isinstance(start, datetime):
        if plan.request.table.axis == "integer":
            raise PlanError(f"start={start!r}: windows are on an integer axis; give an integer")
        at = start if start.tzinfo else start.replace(tzinfo=timezone.utc)
        return (at - _EPOCH) // timedelta(microseconds=1)
    if isinstance(start, bool) or not isinstance(start, int):
        raise PlanError(f"start={start!r}: accepted are a datetime or an integer of axis units")
    return start


def _instant(low: int, plan: Plan) -> str:
    if plan.request.table.axis == "integer":
        return f"{low:,}"
    try:
        at = _EPOCH + timedelta(microseconds=low)
    except OverflowError:  # a time outside the years that datetime has
        return f"{low} µs"
    return f"{at.replace(tzinfo=None).isoformat(sep=' ')} UTC"


def _view(
    plan: Plan, tree: Tree, shown: list[Thread], low: int, length: Duration | None
) -> tuple[int, npt.NDArray[np.int64], list[str]]:
    """Where the picture ends, the edges in it, and a note if it ends earlier than asked for."""
    if length is None:
        wanted = max(one.window.range + one.window.slide for one in shown)
    else:
        wanted = parse_duration(length, "length")
        if wanted <= 0:
            raise PlanError(f"length={length!r} must be longer than nothing")
    most = READABLE if length is None else MOST_EDGES
    rate = float(plan.edge_rates[tree.number - 1])
    # A short view may have fewer edges than its share of the period; one period more has enough.
    slack = max(one.window.slide for one in shown)
    span = min(wanted, ceil(most / rate) + slack)
    edges = TreeEdges.of_windows(dict.fromkeys(tree.table)).edges_between(low, low + span + 1)
    edges = edges[: most + 1]
    if span == wanted and len(edges) <= most:
        return low + wanted, edges, []
    return int(edges[-1]), edges, [f"the first {len(edges):,} edges; length= shows more or less"]


def _draw_slices(axes: Axes, edges: npt.NDArray[np.int64], low: int, unit: int) -> None:
    """Boxes between neighbouring edges, every other one filled."""
    at = (edges - low) / unit
    bars = list(zip(at[:-1].tolist(), np.diff(at).tolist(), strict=True))
    filled = [FILL if number % 2 else DARK for number in range(len(bars))]
    axes.broken_barh(bars, (-0.8, 0.6), facecolors=filled, edgecolor="none", gid="slices")


def _draw_thread(
    axes: Axes, thread: Thread, number: int, low: int, high: int, unit: int, top: float, colour: str
) -> None:
    """Draw the window's instances, overlapping ones below each other, cut off at the right edge."""
    starts, ends = thread.instances(low, high)
    lane = top + np.arange(len(starts)) % min(thread.depth, DEPTH)
    begin, end = (
        (starts - low) / unit,
        (np.minimum(ends, high) - low) / unit,
    )
    axes.hlines(
        lane, begin, end, colors=colour, linewidth=3.0, zorder=2, gid=f"windows {number + 1}"
    )
    whole = ends <= high
    for marks, rows in ((begin, lane), (end[whole], lane[whole])):
        axes.vlines(marks, rows - 0.3, rows + 0.3, colors=colour, linewidth=1.5, zorder=3)


def _dress(
    axes: Axes, tree: Tree, shown: list[Thread], ticks: list[float], bottom: float, right: float
) -> None:
    count = len(tree.queries)
    queries = f"{count:,} {'query' if count == 1 else 'queries'}"
    axes.set_title(f"tree {tree.number}: {queries} on one set of slices", fontsize=11, loc="left")
    axes.set_xlim(0, right)
    axes.set_ylim(bottom, -1.2)
    axes.set_yticks(ticks, ["slices", *(thread.label for thread in shown)], fontsize=8.5)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
