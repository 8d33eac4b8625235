"""Cost against the number of queries, for several strategies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from weft.errors import PlanError
from weft.plan.optimizer import optimize
from weft.plot.canvas import COLOURS, INK, Target, check_target, finish, new_figure
from weft.query.query import Query
from weft.query.table import WindowTable
from weft.query.window import Window

STRATEGIES = ("no_share", "share_all", "weave")
Points = Mapping[str, Sequence[tuple[int, float]]]
"""By strategy, (queries, cost per second or unit) in order."""

_MARKS = "os^Dv*"
_DASHES = ("-", "--", "-.", ":")


def costs_by_count(
    queries: Iterable[Query | Window] | WindowTable,
    *,
    rate: float,
    strategies: Sequence[str] = STRATEGIES,
    counts: Sequence[int] | None = None,
    **options: Any,
) -> dict[str, list[tuple[int, float]]]:
    """What each strategy's plan for the first n queries costs, for each n of `counts`.

    Without `counts`, n doubles from 1 up to all queries. Options are passed to `weft.optimize`.

    >>> windows = [Window(range=r) for r in (10, 20, 30, 40)]
    >>> found = costs_by_count(windows, rate=1.0, counts=[1, 4])
    >>> [(n, round(cost, 3)) for n, cost in found["no_share"]]
    [(1, 1.1), (4, 4.208)]
    """
    given = queries if isinstance(queries, WindowTable) else list(queries)
    if not len(given):
        raise PlanError("queries=[] have no cost: give at least one")
    if not strategies:
        raise PlanError("strategies=[]: name at least one, such as 'weave'")
    chosen = sorted(set(counts)) if counts is not None else _doubling(len(given))
    for count in chosen:
        if not 1 <= count <= len(given):
            raise PlanError(f"counts has {count!r}: accepted are 1 to {len(given)} queries")
    return {
        strategy: [
            (count, optimize(_first(given, count), rate=rate, strategy=strategy, **options).cost)
            for count in chosen
        ]
        for strategy in strategies
    }


def cost_curve(
    queries: Iterable[Query | Window] | WindowTable | Points,
    *,
    rate: float | None = None,
    strategies: Sequence[str] = STRATEGIES,
    counts: Sequence[int] | None = None,
    save: Target = None,
    **options: Any,
) -> Figure:
    """Draw the cost against the number of queries, with one line per strategy.

    Pass either queries, the `rate` of the stream and options as for `costs_by_count`, or the result
    of that function.

    >>> figure = cost_curve({"no_share": [(1, 1.1), (4, 4.4)], "weave": [(1, 1.1), (4, 1.5)]})
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['no_share', 'weave']
    """
    check_target(save)
    if isinstance(queries, Mapping):
        points, per = queries, "unit of time"
    elif rate is None:
        raise PlanError("rate=None: give the rows per second (per unit on an integer axis)")
    else:
        given = queries if isinstance(queries, WindowTable) else list(queries)
        points = costs_by_count(given, rate=rate, strategies=strategies, counts=counts, **options)
        per = "second" if _on_time(given) else "unit"
    figure = new_figure(4.2)
    axes = figure.add_subplot()
    for number, (strategy, curve) in enumerate(points.items()):
        axes.plot(
            [count for count, _ in curve],
            [cost for _, cost in curve],
            label=strategy,
            color=COLOURS[number % len(COLOURS)],
            marker=_MARKS[number % len(_MARKS)],
            linestyle=_DASHES[number % len(_DASHES)],
            # Lines often coincide: those drawn first are broader, so they show at the sides.
            markersize=8 - 1.2 * number if number < 4 else 4,
            linewidth=3 - 0.6 * number if number < 4 else 1,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    work = "nanoseconds of work" if options.get("cost") == "engine" else "rows and slices combined"
    axes.set_xlabel("queries on the stream")
    axes.set_ylabel(f"cost ({work} per {per})")
    at = "" if rate is None else f" at {rate:,.6g} rows per {per}"
    axes.set_title(f"what sharing costs{at}", fontsize=11, loc="left")
    axes.grid(which="major", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    legend = axes.legend(frameon=False, fontsize=9, loc="upper left")
    for text in legend.get_texts():
        text.set_color(INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return finish(figure, save, [])


def _first(given: WindowTable | list[Query | Window], count: int) -> Any:
    import numpy as np

    return given.take(np.arange(count)) if isinstance(given, WindowTable) else given[:count]


def _on_time(given: WindowTable | list[Query | Window]) -> bool:
    if isinstance(given, WindowTable):
        return given.axis == "time"
    first = given[0]
    return (first.window if isinstance(first, Query) else first).axis == "time"


def _doubling(most: int) -> list[int]:
    counts = [1]
    while counts[-1] * 2 < most:
        counts.append(counts[-1] * 2)
    return counts if most == 1 else [*counts, most]
