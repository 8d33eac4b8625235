"""The picture shows the tree's edges, slices and windows, as its data shows."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from matplotlib.figure import Figure

import weft
from weft.engine.slicing.edges import TreeEdges
from weft.errors import PlanError
from weft.plot import plan_timeline
from weft.plot.timeline import MOST_EDGES, READABLE

MINUTE = 60_000_000
SIZES = [("12 minutes", "5 minutes"), ("1 hour", "10 minutes"), ("10 minutes", "10 minutes")]


def drawn(figure: Figure, gid: str) -> np.ndarray:
    """The segments of the lines with an id, as (lines, ends, xy)."""
    (found,) = [one for one in figure.axes[0].collections if one.get_gid() == gid]
    return np.array(found.get_segments())


def slices(figure: Figure) -> list[tuple[float, float]]:
    (found,) = [one for one in figure.axes[0].collections if one.get_gid() == "slices"]
    boxes = [path.vertices[:, 0] for path in found.get_paths()]
    return [(box.min(), box.max()) for box in boxes]


def labels(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def notes(figure: Figure) -> str:
    return figure.get_supxlabel()


def plan_of(sizes: list[tuple[str, str]]) -> weft.Plan:
    windows = [weft.Window(range=range_, slide=slide) for range_, slide in sizes]
    return weft.optimize(windows, rate=375.0, strategy="share_all")


def test_the_lines_are_the_trees_edges() -> None:
    plan = plan_of(SIZES)
    figure = plan_timeline(plan, length="1 hour")
    edges = TreeEdges.of_windows(plan.trees[0].table).edges_between(0, 60 * MINUTE + 1)
    assert drawn(figure, "edges")[:, 0, 0].tolist() == (edges / MINUTE).tolist()
    assert len(edges) == 25


def test_the_boxes_are_the_slices_between_them() -> None:
    found = slices(plan_timeline(plan_of([("12 minutes", "5 minutes")]), length="10 minutes"))
    assert found == [(0.0, 2.0), (2.0, 5.0), (5.0, 7.0), (7.0, 10.0)]


def test_a_thread_is_its_windows_instances() -> None:
    figure = plan_timeline(plan_of([("12 minutes", "5 minutes")]), length="20 minutes")
    lines = drawn(figure, "windows 1")
    assert lines[:, :, 0].tolist() == [[0.0, 12.0], [5.0, 17.0], [10.0, 20.0], [15.0, 20.0]]
    lanes = lines[:, 0, 1]
    assert len(set(lanes)) == 3  # three deep: the fourth is where the first was
    assert lanes[3] == lanes[0]


def test_it_begins_where_asked() -> None:
    figure = plan_timeline(plan_of(SIZES), start=datetime(2026, 1, 5, 9, 33), length="20 minutes")
    assert figure.axes[0].get_xlabel() == "minutes after 2026-01-05 09:33:00 UTC"
    starts = drawn(figure, "windows 2")[:, 0, 0]
    assert starts.tolist() == [2.0, 7.0, 12.0, 17.0]  # 09:35, 09:40, ...
    # 12 minutes every 5 end at 2 past; 10:02 - 5 k is 09:37 and so on
    assert drawn(figure, "edges")[:4, 0, 0].tolist() == [2.0, 4.0, 7.0, 9.0]


def test_units_of_an_integer_axis() -> None:
    plan = weft.optimize([weft.Window(range=100, slide=25)], rate=5.0)
    figure = plan_timeline(plan, start=1000)
    assert figure.axes[0].get_xlabel() == "units after 1,000"
    assert drawn(figure, "edges")[:, 0, 0].tolist() == [0, 25, 50, 75, 100, 125]


def test_equal_windows_are_one_thread() -> None:
    queries = [
        weft.Query(name, aggs={"n": "count(*)"}, window=weft.Window(range=r))
        for name, r in (("a", "1 hour"), ("b", "1 hour"), ("alone", "5 minutes"))
    ]
    figure = plan_timeline(weft.optimize(queries, rate=9.0, strategy="share_all"))
    assert labels(figure) == [
        "slices",
        "alone\n5 minutes every 5 minutes",
        "2 queries\n1 hour every 1 hour",
    ]


def test_a_thousand_queries_say_what_is_left_out() -> None:
    random = np.random.default_rng(0)
    table = weft.WindowTable(
        range=random.integers(1, 90, 1000) * MINUTE,
        slide=random.integers(1, 20, 1000) * MINUTE,
        axis="time",
    )
    figure = plan_timeline(weft.optimize(table, rate=1000.0, strategy="share_all"), threads=8)
    assert len(labels(figure)) == 9
    distinct = len(set(table))
    shown = sum(int(label.split()[0]) for label in labels(figure)[1:])
    assert f"{distinct - 8} more windows, of {1000 - shown} queries" in notes(figure)
    assert len(drawn(figure, "edges")) == READABLE + 1
    assert "the first 61 edges" in notes(figure)


def test_more_edges_than_pixels_are_cut_off() -> None:
    figure = plan_timeline(plan_of([("10 seconds", "10 seconds")]), length="2 days")
    assert len(drawn(figure, "edges")) == MOST_EDGES + 1
    assert "the first 2,001 edges" in notes(figure)


@pytest.mark.parametrize("name", ["plan.svg", "plan.png"])
def test_it_is_saved(name: str, tmp_path) -> None:
    target = tmp_path / name
    plan_timeline(plan_of(SIZES), save=target)
    head = target.read_bytes()[:100]
    assert b"<?xml" in head if name.endswith("svg") else head.startswith(b"\x89PNG")
    first = target.read_bytes()
    plan_timeline(plan_of(SIZES), save=target)
    assert target.read_bytes() == first


def test_what_cannot_be_drawn_is_refused(tmp_path) -> None:
    plan = plan_of(SIZES)
    for wrong, message in (
        ({"save": tmp_path / "plan.gif"}, r"end in \.svg or \.png"),
        ({"tree": 2}, "trees 1 to 1"),
        ({"threads": 0}, "threads=0"),
        ({"length": "0 seconds"}, "longer than nothing"),
        ({"start": "noon"}, "accepted are a datetime"),
    ):
        with pytest.raises(PlanError, match=message):
            plan_timeline(plan, **wrong)
    covered = weft.optimize([weft.Window(range=10)], rate=1.0, strategy="coverage")
    with pytest.raises(PlanError, match="coverage_graph draws it"):
        plan_timeline(covered)
