"""Windows: edges, equality, axes."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import WindowError
from weft.query.window import Session, Window


@given(st.integers(1, 50), st.integers(1, 50), st.integers(-60, 60))
def test_progressions_are_the_edges(range_: int, slide: int, offset: int) -> None:
    """Compared with the starts and ends of windows within a hundred slides of zero, listed."""
    window = Window(range=range_, slide=slide, offset=offset)
    starts = {offset + k * slide for k in range(-200, 200)}
    edges = starts | {start + range_ for start in starts}
    drawn = {edge for edge in edges if abs(edge) < 50 * slide}
    steps = {at for o, s in window.progressions() for at in range(o - 100 * s, o + 100 * s, s)}
    assert drawn == {at for at in steps if abs(at) < 50 * slide}


def test_a_window_without_slide_tumbles() -> None:
    assert Window(range="1 hour") == Window(range=timedelta(hours=1), slide="60 minutes")


def test_windows_with_equal_instances_are_equal() -> None:
    assert Window(range=10, slide=5, offset=-2) == Window(range=10, slide=5, offset=13)
    assert hash(Window(range=10, slide=5, offset=-2)) == hash(Window(range=10, slide=5, offset=3))


def test_axes_are_not_equal() -> None:
    assert Window(range=60_000_000) != Window(range="1 minute")
    assert Window.of_units(60_000_000, 60_000_000) == Window(range="1 minute")


def test_gaps_are_accepted() -> None:
    assert Window(range="1 minute", slide="1 hour").overlap == pytest.approx(1 / 60)


def test_keywords_only() -> None:
    with pytest.raises(TypeError):
        Window("1 hour", "10 minutes")  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"range": 0}, "range=0 must be longer than nothing"),
        ({"range": "1 hour", "slide": "-5 minutes"}, "slide='-5 minutes' must be longer"),
        ({"range": "1 hour", "slide": 5}, "mix integers with durations"),
        ({"range": "1 month"}, "is not a fixed length"),
    ],
)
def test_refused(given: dict[str, str | int], message: str) -> None:
    with pytest.raises(WindowError, match=message):
        Window(**given)


@pytest.mark.parametrize(
    "window",
    [Window(range="12 minutes", slide="5 minutes", offset="1 minute"), Window(range=10, slide=3)],
)
def test_to_dict_and_repr_are_read_back(window: Window) -> None:
    assert Window.from_dict(json.loads(json.dumps(window.to_dict()))) == window
    assert eval(repr(window)) == window


def test_sessions_of_any_gap_are_cut_by_lengths_that_divide_each_other() -> None:
    cuts = [Session(gap=f"{n} seconds").cut.range for n in range(1, 4000, 7)]
    for shorter, longer in pairwise(sorted(set(cuts))):
        assert longer % shorter == 0
    for n, cut in zip(range(1, 4000, 7), cuts, strict=True):
        assert cut <= n * 1_000_000 < 7 * cut


@pytest.mark.parametrize("gap", ["0 seconds", "-1 minute", 5, "1 month", "soon"])
def test_a_gap_is_a_duration(gap: object) -> None:
    with pytest.raises(WindowError, match="gap="):
        Session(gap=gap)  # type: ignore[arg-type]


def test_a_session_is_read_back_and_is_no_window() -> None:
    session = Session(gap="90 seconds")
    assert Window.from_dict(session.to_dict()) == session != Window(range="90 seconds")
    assert eval(repr(session)) == session
    assert {session: 1}[Session(gap="1 minute 30 seconds")] == 1


def test_a_session_with_a_maximum_is_read_back_and_is_no_other() -> None:
    plain, session = Session(gap="90 seconds"), Session(gap="90 seconds", maximum="1 hour")
    assert Window.from_dict(session.to_dict()) == session != plain
    assert plain.to_dict() == {"gap": 90_000_000}  # as in catalogues from before maxima
    assert eval(repr(session)) == session
    assert {session: 1} == {Session(gap=timedelta(seconds=90), maximum="60 minutes"): 1}
    assert session != Session(gap="90 seconds", maximum="2 hours")


def test_slices_of_sessions_end_at_multiples_of_the_maximum() -> None:
    found = [
        Session(gap=f"{gap} seconds", maximum=f"{gap + more} seconds").cut
        for gap in range(1, 700, 13)
        for more in range(0, 4000, 97)
    ]
    assert all(cut.range == cut.slide and not cut.phase for cut in found)
    lengths = sorted({cut.range for cut in found})
    assert all(larger % smaller == 0 for smaller, larger in pairwise(lengths))
    assert Session(gap="1 hour", maximum="90 minutes").cut == Window(range="15 minutes")
    assert Session(gap="1 hour", maximum="1 hour 7 seconds").cut == Window(range="1 second")


@pytest.mark.parametrize(
    ("maximum", "message"),
    [
        (600, "maximum=600: sessions are over time, so a maximum is a duration"),
        ("0 seconds", "maximum='0 seconds' must be longer than nothing"),
        ("-1 hour", "maximum='-1 hour' must be longer than nothing"),
        ("4 minutes", "maximum='4 minutes' is shorter than gap='5 minutes'"),
        ("a while", "maximum='a while'"),
    ],
)
def test_a_maximum_that_no_session_could_have_is_refused(maximum: object, message: str) -> None:
    with pytest.raises(WindowError, match=message):
        Session(gap="5 minutes", maximum=maximum)  # type: ignore[arg-type]
