"""Boxes are the plan's windows, arrows show what feeds what; placeholders count the rest."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.figure import Figure

import weft
from weft.errors import PlanError
from weft.plot import coverage_graph


def boxes(figure: Figure) -> dict[str, tuple[float, float]]:
    return {t.get_text(): t.get_position() for t in figure.axes[0].texts}


def arrows(figure: Figure, kind: str) -> set[tuple[str, str]]:
    """The labels of the boxes at both ends of each arrow."""
    at = [(place, label) for label, place in boxes(figure).items() if not label.isdigit()]
    found = set()
    for patch in figure.axes[0].patches:
        if patch.get_gid() == kind:
            (x0, y0), (x1, y1) = patch._posA_posB
            tail = min(at, key=lambda one: abs(one[0][0] + 0.35 - x0) + abs(one[0][1] - y0))
            head = min(at, key=lambda one: abs(one[0][0] - 0.35 - x1) + abs(one[0][1] - y1))
            found.add((tail[1].split("\n")[0], head[1].split("\n")[0]))
    return found


def minutes(*ranges: int) -> weft.Plan:
    windows = [weft.Window(range=f"{r} minutes") for r in ranges]
    return weft.optimize(windows, rate=1.0, strategy="factor")


def test_arrows_are_the_plans_upstreams() -> None:
    plan = minutes(20, 30, 40)
    coverage = plan.coverages[0]
    figure = coverage_graph(plan)
    names = ["20 min", "30 min", "40 min", "10 min"]
    assert arrows(figure, "taken") == {
        ("rows" if up is None else names[up], names[node])
        for node, up in enumerate(coverage.upstream)
    }
    assert arrows(figure, "possible") == {("10 min", "40 min")}
    assert "10 min\nfactor window" in boxes(figure)
    pieces = sorted(t.get_text() for t in figure.axes[0].texts if t.get_text().isdigit())
    assert pieces == sorted(str(count) for count in coverage.pieces if count is not None)


def test_a_window_is_a_step_right_of_what_feeds_it() -> None:
    where = boxes(coverage_graph(minutes(20, 30, 40)))
    assert [where[name][0] for name in ("rows", "10 min\nfactor window", "20 min", "40 min")] == [
        0.0,
        1.0,
        2.0,
        3.0,
    ]


def test_a_thousand_windows_are_counted_if_not_drawn() -> None:
    random = np.random.default_rng(1)
    table = weft.WindowTable(
        range=random.integers(1, 400, 1000) * 60_000_000,
        slide=random.integers(1, 20, 1000) * 60_000_000,
        axis="time",
    )
    plan = weft.optimize(table, rate=1000.0, strategy="coverage")
    number, coverage = max(plan.coverages.items(), key=lambda item: len(item[1].windows))
    figure = coverage_graph(plan, most=25)
    texts = [text.get_text() for text in figure.axes[0].texts]
    hidden = sum(int(found[1].replace(",", "")) for text in texts
                 if (found := re.match(r"([\d,]+) more\nwindows", text)))  # fmt: skip
    assert hidden == len(coverage.windows) - 25
    assert f"{hidden:,} of {len(coverage.windows):,} windows" in figure.get_supxlabel()
    assert not arrows(figure, "possible")
    if len(plan.trees) > 1:
        assert f"tree {number + 1} of" in figure.get_supxlabel()


def test_what_cannot_be_drawn_is_refused() -> None:
    plan = minutes(20, 30)
    woven = weft.optimize([weft.Window(range=10)], rate=1.0, strategy="weave")
    for wrong, message in (
        ((woven, {}), "made of slices"),
        ((plan, {"tree": 9}), "tree=9"),
        ((plan, {"most": 0}), "most=0"),
        ((plan.coverages[0], {"tree": 1}), "no trees to pick from"),
        ((plan, {"save": "x.pdf"}), "x.pdf"),
    ):
        with pytest.raises(PlanError, match=message):
            coverage_graph(wrong[0], **wrong[1])
