"""Windows of windows: the edges in Spark's plans are recognised, and anything else is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_one_window import (
    END,
    EXPRESSION,
    KEY,
    START,
    TEN,
    alias,
    answers,
    attribute,
    grouped,
    minus,
    node,
    project,
)

from weft.stream.one_window import Leaves, Stays, judge
from weft.stream.outer_window import DAY, MINUTE, Outer, outer_edge
from weft.stream.plan_tree import Node

HOUR = 60 * MINUTE
MOMENT = attribute(7, "t")


def literal(value: int) -> list[Any]:
    return node(f"{EXPRESSION}Literal", value=str(value))


def interval(value: int, kind: str = "interval second") -> list[Any]:
    return node(f"{EXPRESSION}Literal", value=str(value), dataType=kind)


def of(kind: str, *children: list[Any]) -> list[Any]:
    return node(f"{EXPRESSION}{kind}", *children)


def start(
    size: int = HOUR,
    offset: int = 0,
    *,
    less: int = 0,
    below: int = 0,
    added: int | None = None,
    since: list[Any] = MOMENT,
) -> list[Any]:
    """The start as Spark's `window` computes it."""
    rest = of("Remainder", of("Subtract", since, literal(offset)), literal(size))
    more = of("Add", rest, literal(size if added is None else added))
    case = of("CaseWhen", of("LessThan", rest, literal(below)), more, rest)
    moved = of("Subtract", of("Subtract", MOMENT, case), literal(less))
    return of("KnownNullable", of("PreciseTimestampConversion", moved))


def end(size: int = HOUR, offset: int = 0, *, later: int | None = None) -> list[Any]:
    _, _, *begins = start(size, offset)  # without the conversions around it
    moved = of("Add", begins, literal(size if later is None else later))
    return of("PreciseTimestampConversion", moved)


@pytest.mark.parametrize(("size", "offset"), [(HOUR, 0), (HOUR, 420), (86_400, -5)])
def test_the_edges_of_windows_are_read(size: int, offset: int) -> None:
    for which, edge in (("start", start(size, offset)), ("end", end(size, offset))):
        found = outer_edge(Node.tree(edge))
        assert found is not None
        assert (found.outer, found.which, found.moment.id) == (Outer(size, offset), which, 7)


@pytest.mark.parametrize(
    "other",
    [
        start(less=HOUR),  # the window before, as overlapping windows have it
        start(below=1),
        start(added=2 * HOUR),
        start(since=attribute(8)),
        end(later=2 * HOUR),
        MOMENT,
        of("Subtract", MOMENT, literal(0)),
        of("Add", MOMENT, literal(HOUR)),
    ],
)
def test_what_is_no_edge_is_not_read(other: list[Any]) -> None:
    assert outer_edge(Node.tree(other)) is None


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6), st.integers(-(10**6), 10**6))
def test_a_window_goes_where_its_last_moment_is(until: int, size: int, offset: int) -> None:
    edge = Outer(size, offset).edge(until)
    assert (edge - offset) % size == 0
    assert edge - size <= until - 1 < edge


def test_groups_by_outer_windows_are_held() -> None:
    of_moment = project(answers(TEN), alias(7, minus(END, 1)), attribute(3))
    plan = grouped(project(of_moment, alias(9, start()), attribute(3)), attribute(9))
    assert judge(plan, [TEN]) == Stays(None, Outer(HOUR, 0))


def test_what_is_of_one_inner_window_too_is_not_held() -> None:
    both = project(answers(TEN), alias(7, minus(END, 1)), alias(6, END), attribute(3))
    plan = project(both, alias(9, start()), attribute(6), attribute(3))
    assert judge(grouped(plan, attribute(9), attribute(6)), [TEN]) == Stays(None)


@pytest.mark.parametrize(
    ("moment", "lag"),
    [
        (END, 0),
        (minus(END, 1), 1),
        (START, 10 * MINUTE),
        (of("TimestampAddInterval", END, interval(-1000)), 1000),
        (of("TimestampAddInterval", END, interval(1000)), None),
        (of("TimestampAddInterval", END, interval(-DAY)), None),
        (of("TimestampAddInterval", END, interval(-1, "interval month")), None),
        (of("TimestampAddInterval", START, interval(-1000)), None),
        (KEY, None),
    ],
)
@pytest.mark.parametrize("length", [10 * MINUTE, None])
def test_windows_are_held_by_any_moment_that_their_ends_tell(
    moment: list[Any], lag: int | None, length: int | None
) -> None:
    tens = replace(TEN, length=length)
    rows = project(answers(tens), alias(7, moment), attribute(3))
    plan = grouped(project(rows, alias(9, start()), attribute(3)), attribute(9))
    found = judge(plan, [tens])
    if lag is None or (moment == START and length is None):
        assert isinstance(found, Leaves)
        assert "an aggregate over answers of several windows" in found.reason
    else:
        assert found == Stays(None, Outer(HOUR, (lag - 1) % HOUR))


@pytest.mark.parametrize(
    ("unit", "zone", "outer"),
    [
        ("HOUR", "UTC", Outer(HOUR, 10 * MINUTE - 1)),
        ("week", "Etc/UTC", Outer(7 * DAY, 4 * DAY + 10 * MINUTE - 1)),
        (None, "UTC", Outer(DAY, 10 * MINUTE - 1)),
        ("month", "UTC", None),
        ("hour", "Europe/Berlin", None),
        (None, "Europe/Berlin", None),
    ],
)
def test_truncated_times_hold_answers_by_the_clocks_of_utc(
    unit: str | None, zone: str, outer: Outer | None
) -> None:
    tens = replace(TEN, length=10 * MINUTE)
    if unit is None:
        made = node(f"{EXPRESSION}Cast", START, timeZoneId=zone, dataType="date")
    else:
        named = node(f"{EXPRESSION}Literal", value=unit)
        made = node(f"{EXPRESSION}TruncTimestamp", named, START, timeZoneId=zone)
    plan = grouped(project(answers(tens), alias(9, made), attribute(3)), attribute(9))
    found = judge(plan, [tens])
    assert isinstance(found, Leaves) if outer is None else found == Stays(None, outer)


@given(st.integers(-5000, 5000), st.integers(1, 500), st.integers(-600, 600), st.integers(0, 700))
def test_what_comes_together_has_its_moments_in_one_outer_window(
    until: int, size: int, offset: int, lag: int
) -> None:
    edge = Outer(size, offset).lagging(lag).edge(until)
    outer_end = edge - lag + 1
    assert (outer_end - offset) % size == 0
    assert outer_end - size <= until - lag < outer_end
