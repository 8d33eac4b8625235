"""Queries with lateness in the catalogue are added, moved and dropped by their own frontiers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from test_late_conditions import true_of

from weft.engine.query_windows import FAR, QueryWindows
from weft.engine.state.as_of import Moment, WindowAt
from weft.query.query import Query
from weft.query.window import Window
from weft.spark.streaming.starting import reconciled
from weft.stream.burst import Burst
from weft.stream.catalogue import Catalogue, Settings
from weft.stream.evolve import first_catalogue, next_catalogue
from weft.stream.late_rows import late_condition
from weft.stream.planning import stream_plan
from weft.stream.progress import Progress
from weft.stream.usage import Load, usage_of

SETTINGS = Settings("t", "integer", "10", (0, 1), 2, "append")
SEEN = Progress(batch=3, max_event_time=1002, frontier=990)


def query(name: str, range_: int, slide: int | None = None, **more: object) -> Query:
    window = Window(range=range_, slide=slide or range_)
    return Query(name, aggs={"n": "count(*)"}, window=window, by=["k"], **more)


def streaming(*queries: Query, strategy: str = "share_all") -> Catalogue:
    return first_catalogue(stream_plan(queries, strategy=strategy), SETTINGS)


LONG = query("long", 300, 5)


def test_backfill_begins_with_the_first_window_that_is_open_for_the_query():
    now = streaming(LONG)
    for lateness, first in ((0, 975), (40, 935), (5000, 695)):  # slices are kept from 695 on
        late = query("late", 20, 5, lateness=lateness)
        after = next_catalogue(now, now.planned.add([late]), SEEN, backfill=["late"])
        assert after.entry("late").complete_from == first
        assert Catalogue.from_dict(after.to_dict()) == after
    plain = next_catalogue(now, now.planned.add([query("late", 20, 5, lateness=40)]), SEEN)
    assert plain.entry("late").complete_from == 1005


def test_slices_that_a_patient_query_holds_are_there_to_be_backfilled_from():
    now = streaming(query("patient", 20, 5, lateness=100))
    after = next_catalogue(now, now.planned.add([query("new", 60, 5)]), SEEN, backfill=["new"])
    assert after.entry("new").complete_from == 935  # open; the patient one keeps from 875 on


def test_history_goes_back_to_the_first_window_that_is_open_for_the_query():
    now = streaming(query("short", 20, 5))
    late = query("late", 300, 5, lateness=100)
    waiting = next_catalogue(now, now.planned.add([late]), SEEN, history=["late"])
    past, shared = waiting.entry("late").assignments
    assert (past.since, past.until, shared.since) == (595, 1005, 1005)
    later = Progress(batch=6, max_event_time=1100, frontier=1090)
    done = Burst.of(waiting, [{"op": "history", "name": "late", "place": f"{past.store}-abc"}])
    assert done.made_of(waiting, later, {}).entry("late").complete_from == 695
    # On a new stream the seam decides: windows before it get no row, however late.
    plan = stream_plan([late])
    new = first_catalogue(plan, SETTINGS, history=["late"], seam=1003)
    assert new.entry("late").assignments[0].since == 705


def test_a_store_that_was_left_stays_until_the_last_window_is_closed_for_the_query():
    late, other = query("a", 10, lateness=200), query("b", 7, lateness=200)
    together = streaming(late, other)
    plan = stream_plan([late, other], strategy="no_share")
    apart = next_catalogue(together, plan, SEEN)
    (moved,) = (entry for entry in apart.entries if len(entry.assignments) == 2)
    handed = moved.assignments[0].until
    for frontier, count in ((handed + 199, 2), (handed + 230, 1)):
        later = Progress(batch=9, max_event_time=frontier + 10, frontier=frontier)
        found = next_catalogue(apart, plan, later).entry(moved.query.name)
        assert len(found.assignments) == count


def test_another_lateness_is_another_query():
    a = query("a", 10)
    now = streaming(LONG, a)
    assert reconciled(now, {q.name: q for q in now.queries}, [a], SEEN) is now
    late = a.late_by(30)
    changed = reconciled(now, {q.name: q for q in now.queries}, [late], SEEN)
    assert changed.entry("a").query.lateness == 30
    assert changed.entry("a").number not in {entry.number for entry in now.entries}
    assert changed.entry("long") == now.entry("long")


@pytest.mark.parametrize("seed", range(20))
def test_the_sql_of_late_rows_says_what_the_buckets_count(seed: int) -> None:
    drawn = random.Random(seed)
    window = Window(range=drawn.randint(1, 30), slide=drawn.randint(1, 30))
    since = drawn.choice([-FAR, drawn.randint(-50, 50)])
    service = QueryWindows.of(window, since=since, lateness=drawn.randint(0, 60))
    times = list(range(-120, 120))
    for frontier in (0, 17, drawn.randint(0, 110)):
        said = true_of(late_condition(service, window, "t", frontier), [{"t": t} for t in times])
        assert said == service.is_late(np.array(times), frontier).tolist()


def test_a_window_is_open_for_as_long_as_its_query_says():
    windows = QueryWindows.of(Window(range=10), lateness=30)
    moment = Moment(frontier=100, max_event_time=105)
    assert [WindowAt(s, s + 10).is_open(windows, moment) for s in (50, 60, 70)] == [
        False,
        False,
        True,
    ]


def test_what_a_patient_query_holds_is_charged_to_it():
    now = streaming(query("a", 20), query("b", 20, lateness=60))
    (store,) = {entry.assignments[0].store for entry in now.entries}
    figures = [{"stores": {str(store): {"bytes": 800}}, "answers": {}}]
    used = usage_of(now, figures, Load())
    assert [used[entry.number].state_bytes for entry in now.entries] == [100, 700]
