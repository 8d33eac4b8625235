"""Calendar windows in plans: what they share, what it costs, how they are described."""

from __future__ import annotations

import json

import pytest

import weft
from weft.errors import PlanError, QueryError
from weft.plan.plan import Plan
from weft.plan.sql import to_sql
from weft.query.calendar import Calendar
from weft.query.query import Query
from weft.query.sql import write_query
from weft.query.window import Window

DAY = 86_400


def query(name: str, window: Window) -> Query:
    return Query(name, aggs={"n": "count(*)"}, window=window)


MONTHS = query("months", Calendar(range="1 month", zone="Europe/Berlin"))
QUARTERS = query("quarters", Calendar(range="1 quarter", slide="1 month", zone="Europe/Berlin"))
DAYS = query("days", Calendar(range="1 day"))
HOURS = query("hours", Window(range="2 hours"))


def test_windows_of_one_zone_need_the_same_slices() -> None:
    plan = weft.optimize([MONTHS, QUARTERS], rate=100.0, strategy="weave")
    (tree,) = plan.trees
    assert tree.edge_rate == pytest.approx(2 / DAY)  # at 22:00 and 23:00 UTC
    assert "quarters: 3 months every 1 month, Europe/Berlin" in plan.explain()


def test_edges_are_counted_together_with_those_of_other_windows() -> None:
    plan = weft.optimize([MONTHS, DAYS, HOURS], rate=100.0, strategy="share_all")
    (tree,) = plan.trees
    assert tree.edge_rate == pytest.approx(13 / DAY)  # only the edge at 23:00 is not an even hour
    assert weft.edge_rate([MONTHS.window, DAYS.window]) == pytest.approx(3 / DAY)


def test_no_window_is_made_from_a_calendars() -> None:
    plan = weft.optimize([MONTHS, DAYS, HOURS, query("h4", Window(range="4 hours"))],
                         rate=100.0, strategy="factor")  # fmt: skip
    covered = {name for tree in plan.trees if tree.coverage for name in tree.queries}
    assert covered == {"hours", "h4"}


def test_a_plan_is_read_back() -> None:
    plan = weft.optimize([MONTHS, QUARTERS, HOURS], rate=100.0)
    again = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again.queries == plan.queries
    assert again.explain() == plan.explain()


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(PlanError, match="'months': calendar windows have no SQL"):
        to_sql(weft.optimize([MONTHS], rate=1.0))
    with pytest.raises(QueryError, match=r"'months' cannot be written.*group by date_trunc"):
        write_query(MONTHS)
