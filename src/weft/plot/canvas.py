"""What all pictures have in common: size, colours, units of time, and saving."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TypeAlias

from weft.errors import PlanError
from weft.query.duration import MICROSECONDS
from weft.query.window import Axis, Window

try:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "weft.plot draws with matplotlib, which is not installed: pip install 'weft[plot]'",
        name=error.name,
    ) from error

Target: TypeAlias = str | PathLike[str] | None
"""Where to save a picture: a path that ends in .svg or .png, or None."""

# Okabe and Ito's colours, which people with any kind of colour blindness can tell apart; their
# yellow is left out, because thin lines of it vanish on white.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
INK = "#222222"
DARK = "#707070"
FAINT = "#9A9A9A"
FILL = "#DDDDDD"
WIDTH = 8.0
"""Inches; 800 pixels at the resolution that pictures are saved with."""
DPI = 100

FORMATS = ("svg", "png")
_UNITS = {
    "day": "d",
    "hour": "h",
    "minute": "min",
    "second": "s",
    "millisecond": "ms",
    "microsecond": "µs",
}


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """An empty picture, by default of the usual width; pyplot's global state is not used."""
    return Figure(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")


def time_unit(axis: Axis, span: int) -> tuple[int, str]:
    """The unit to show a span of the axis in: its size in axis units, and its name.

    >>> time_unit("time", 3_600_000_000), time_unit("integer", 500)
    ((60000000, 'minutes'), (1, 'units'))
    """
    if axis == "integer":
        return 1, "units"
    sizes = [unit for unit in _UNITS if span >= 3 * MICROSECONDS[unit]] or ["microsecond"]
    return MICROSECONDS[sizes[0]], f"{sizes[0]}s"


def compact(window: Window) -> str:
    """A window in a few letters: its range, its slide if it has another, its offset if any.

    >>> compact(Window(range="90 minutes", slide="1 hour")), compact(Window(range=5, offset=2))
    ('1 h 30 min / 1 h', '5 + 2')
    """

    def show(length: int) -> str:
        return str(length) if window.axis == "integer" else _short(length)

    text = show(window.range)
    text += f" / {show(window.slide)}" if window.slide != window.range else ""
    return text + (f" + {show(window.phase)}" if window.phase else "")


def _short(length: int) -> str:
    terms = []
    for unit, letters in _UNITS.items():
        count, length = divmod(length, MICROSECONDS[unit])
        terms += [f"{count} {letters}"] if count else []
    return " ".join(terms)


def shortened(text: str, most: int = 26) -> str:
    """A name, shortened if necessary to fit beside its thread.

    >>> shortened("a_name_that_nobody_wants_to_read")
    'a_name_that_nobody_wants_…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def check_target(save: Target) -> None:
    """Refuse a file that cannot be written as SVG or PNG, before anything is drawn."""
    if save is not None and Path(save).suffix.lower().lstrip(".") not in FORMATS:
        raise PlanError(f"save={str(save)!r}: accepted are files that end in .svg or .png")


def finish(figure: Figure, save: Target, notes: list[str]) -> Figure:
    """Write the notes under the picture, and save the picture to a file."""
    if notes:
        figure.supxlabel("\n".join(notes), x=0.01, ha="left", fontsize=8, color="#555555")
    if save is not None:
        # Equal pictures give equal bytes, so that a committed SVG changes only if the picture does.
        with rc_context({"svg.hashsalt": "weft"}):
            svg = Path(save).suffix.lower() == ".svg"
            figure.savefig(save, dpi=DPI, metadata={"Date": None} if svg else None)
    return figure
