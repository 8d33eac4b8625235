"""Draws the rows of a benchmark as lines, bars or a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.support.harness import Row, pick


@dataclass(frozen=True)
class Picture:
    """How to draw rows: `y` over `x`, with a line for each value of `series` and a panel for each
    value of `panel`. If `y` has several columns, each is a line named after its column."""

    x: str
    y: str | tuple[str, ...]
    series: str | None = None
    panel: str | None = None
    kind: Literal["lines", "bars", "points", "map"] = "lines"
    log: str = ""
    """Which axes are logarithmic: any of x and y."""
    where: dict[str, Any] = field(default_factory=dict)
    xlabel: str | None = None
    ylabel: str | None = None


def draw(picture: Picture, rows: Sequence[Row], title: str, path: Path) -> None:
    """Draw the picture into an SVG file, whose bytes depend only on the rows."""
    from matplotlib import rc_context

    from weft.plot.canvas import finish, new_figure

    shown = pick(rows, **picture.where)
    panels = _values(shown, picture.panel) if picture.panel else [None]
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "weft", "font.size": 9}):
        figure = new_figure(3.4 * down if down > 1 else 3.8)
        for place, value in enumerate(panels):
            axes = figure.add_subplot(down, across, place + 1)
            some = shown if picture.panel is None else pick(shown, **{picture.panel: value})
            (_map if picture.kind == "map" else _curves)(axes, picture, some)
            if value is not None:
                axes.set_title(f"{picture.panel} {_text(value)}", fontsize=9)
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
        finish(figure, path, [])


def _curves(axes: Any, picture: Picture, rows: Sequence[Row]) -> None:
    from weft.plot.canvas import COLOURS, INK

    columns = (picture.y,) if isinstance(picture.y, str) else picture.y
    names = _values(rows, picture.series) if picture.series else [None]
    curves = []
    for name in names:
        some = rows if name is None else pick(rows, **{str(picture.series): name})
        for column in columns:
            points = [(row[picture.x], row[column]) for row in some if row.get(column) is not None]
            if points:
                label = _text(name) if name is not None else column.replace("_", " ")
                curves.append((label, points))
    ticks = list(dict.fromkeys(x for _, points in curves for x, _ in points))
    for place, (label, points) in enumerate(curves):
        colour = (*COLOURS, INK, "#999999")[place % (len(COLOURS) + 2)]
        if picture.kind == "bars":
            width = 0.8 / len(curves)
            at = [ticks.index(x) + (place - (len(curves) - 1) / 2) * width for x, _ in points]
            axes.bar(at, [y for _, y in points], width, color=colour, label=label)
        else:
            line = "none" if picture.kind == "points" else "-"
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, marker="o", markersize=3, linestyle=line, linewidth=1.2,
                      color=colour, label=label)  # fmt: skip
    if picture.kind == "bars":
        axes.set_xticks(range(len(ticks)), [_text(tick) for tick in ticks])
    elif "x" in picture.log:
        axes.set_xscale("symlog" if any(tick == 0 for tick in ticks) else "log")
    if "y" in picture.log:
        axes.set_yscale("log")
    axes.set_xlabel(picture.xlabel or picture.x.replace("_", " "))
    axes.set_ylabel(picture.ylabel or " and ".join(column.replace("_", " ") for column in columns))
    if len(curves) > 1:
        axes.legend(fontsize=7, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _map(axes: Any, picture: Picture, rows: Sequence[Row]) -> None:
    """Draw a field for every pair of `x` and `y`, coloured and labelled by `series`."""
    from weft.plot.canvas import COLOURS

    assert isinstance(picture.y, str)
    xs, ys = _values(rows, picture.x), _values(rows, picture.y)
    names = sorted(_values(rows, picture.series))
    for row in rows:
        at = xs.index(row[picture.x]), ys.index(row[picture.y])
        name = row[str(picture.series)]
        colour = COLOURS[names.index(name) % len(COLOURS)]
        axes.add_patch(_square(at, colour))
        axes.text(*at, _text(name).replace("_", "\n"), fontsize=6, ha="center", va="center")
    axes.set_xticks(range(len(xs)), [_text(x) for x in xs])
    axes.set_yticks(range(len(ys)), [_text(y) for y in ys])
    axes.set_xlim(-0.5, len(xs) - 0.5)
    axes.set_ylim(-0.5, len(ys) - 0.5)
    axes.set_xlabel(picture.xlabel or picture.x.replace("_", " "))
    axes.set_ylabel(picture.ylabel or picture.y.replace("_", " "))


def _square(at: tuple[int, int], colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((at[0] - 0.5, at[1] - 0.5), 1, 1, facecolor=colour, alpha=0.45)


def _values(rows: Sequence[Row], column: str | None) -> list[Any]:
    """The distinct values of a column, in order of appearance."""
    return list(dict.fromkeys(row[str(column)] for row in rows))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, (int, float)) else str(value).replace("_", " ")
