"""The lines are the costs that `optimize` gives."""

from __future__ import annotations

import pytest

import weft
from weft.errors import PlanError
from weft.plot import cost_curve, costs_by_count

SIZES = [(16, 4), (10, 5), (8, 4), (12, 9), (10, 6), (7, 3)]
WINDOWS = [weft.Window(range=range_, slide=slide) for range_, slide in SIZES]


def test_points_are_the_costs_of_plans() -> None:
    figure = cost_curve(WINDOWS, rate=1.2, strategies=["no_share", "weave"])
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert list(lines) == ["no_share", "weave"]
    for strategy, line in lines.items():
        assert list(line.get_xdata()) == [1, 2, 4, 6]
        costs = [weft.optimize(WINDOWS[:n], rate=1.2, strategy=strategy).cost for n in (1, 2, 4, 6)]
        assert list(line.get_ydata()) == costs


def test_axes_say_what_and_per_what() -> None:
    table = weft.WindowTable.of_windows([weft.Window(range=r) for r in ("1 minute", "2 minutes")])
    axes = cost_curve(table, rate=50.0).axes[0]
    assert axes.get_xlabel() == "queries on the stream"
    assert axes.get_ylabel() == "cost (rows and slices combined per second)"
    assert axes.get_title(loc="left") == "what sharing costs at 50 rows per second"
    timed = cost_curve(WINDOWS, rate=50.0, cost="engine").axes[0]
    assert timed.get_ylabel() == "cost (nanoseconds of work per unit)"


def test_points_found_before_are_drawn_as_they_are(tmp_path) -> None:
    found = costs_by_count(WINDOWS, rate=1.2, counts=[6, 3, 3])
    figure = cost_curve(found, save=tmp_path / "cost.svg")
    for line in figure.axes[0].lines:
        assert list(zip(line.get_xdata(), line.get_ydata(), strict=True)) == found[line.get_label()]
    assert [count for count, _ in found["weave"]] == [3, 6]
    assert (tmp_path / "cost.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"queries": [], "rate": 1.0}, "at least one"),
        ({"queries": WINDOWS}, "rate=None"),
        ({"queries": WINDOWS, "rate": 1.0, "counts": [7]}, "1 to 6 queries"),
        ({"queries": WINDOWS, "rate": 1.0, "strategies": []}, "name at least one"),
        ({"queries": WINDOWS, "rate": 1.0, "strategies": ["magic"]}, "strategy='magic'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given: dict, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        cost_curve(**given)
