"""Queries with history in the catalogue: which of them wait, and what answers which windows."""

from __future__ import annotations

import pytest

from weft.errors import CheckpointError, EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.stream.burst import Burst
from weft.stream.catalogue import Catalogue, Settings
from weft.stream.evolve import first_catalogue, next_catalogue, with_history
from weft.stream.planning import stream_plan
from weft.stream.progress import Progress

AGGS = {"n": "count(*)"}
SHORT = Query("short", aggs=AGGS, window=Window(range=20, slide=5), by=["k"])
LONG = Query("long", aggs=AGGS, window=Window(range=300, slide=5), by=["k"])
APART = Query("apart", aggs=AGGS, window=Window(range=70), by=["g"])
SEEN = Progress(batch=3, max_event_time=1002, frontier=990)
SETTINGS = Settings("t", "integer", "10", (0, 1), 2, "append")


def streaming(*queries: Query) -> Catalogue:
    return first_catalogue(stream_plan(queries, strategy="share_all"), SETTINGS)


def added(now: Catalogue, query: Query) -> Catalogue:
    return next_catalogue(now, now.planned.add([query]), SEEN, history=[query.name])


def stores(catalogue: Catalogue) -> dict[int, tuple[int | None, tuple[str, int] | None]]:
    return {store.number: (store.seam, store.history) for store in catalogue.stores}


def test_a_shared_query_has_a_store_of_its_own_until_the_seam_is_behind_its_windows():
    waiting = added(streaming(SHORT), LONG)
    entry = waiting.entry("long")
    past, shared = entry.assignments
    assert (past.since, past.until) == (695, 1005)  # ends after 990; starts after the last row
    assert (shared.store, shared.since) == (waiting.entry("short").assignments[0].store, 1005)
    assert stores(waiting) == {shared.store: (None, None), past.store: (1003, None)}
    assert waiting.silent(4) == {entry.number}
    later = Progress(batch=6, max_event_time=1100, frontier=1090)
    change = {"op": "history", "name": "long", "place": "2-abc"}
    done = Burst.of(waiting, [change]).made_of(waiting, later, {})
    assert done.entry("long").complete_from == 795
    assert stores(done)[past.store] == (1003, ("2-abc", 7))
    assert not done.silent(7)
    assert Catalogue.from_dict(done.to_dict()) == done


def test_a_query_in_a_tree_of_its_own_has_one_store():
    waiting = added(streaming(SHORT), APART)
    (only,) = waiting.entry("apart").assignments
    assert stores(waiting)[only.store] == (1003, None)
    assert only.since == 980


def test_history_that_comes_after_all_its_windows_have_closed_is_not_needed():
    waiting = added(streaming(SHORT), LONG)
    late = Progress(batch=99, max_event_time=3000, frontier=2990)
    done = with_history(waiting, {"long": "2-abc"}, late)
    assert len(done.entry("long").assignments) == 1
    assert len(done.stores) == 1


def test_on_a_new_stream_the_stores_are_those_of_the_plan():
    plan = stream_plan([SHORT, LONG], strategy="share_all")
    made = first_catalogue(plan, SETTINGS, history=["short", "long"], seam=500)
    assert stores(made) == {1: (500, None)}
    assert [entry.complete_from for entry in made.entries] == [485, 205]
    done = with_history(made, {"short": "1-a", "long": "1-a"}, Progress())
    assert [entry.complete_from for entry in done.entries] == [485, 205]


def test_what_is_refused():
    now = streaming(SHORT)
    for place in ("../../etc", "a/b", ""):
        with pytest.raises(CheckpointError, match="is not the name of a history"):
            Burst.of(now, [{"op": "history", "name": "short", "place": place}])
    change = {"op": "history", "name": "short", "place": "1-a"}
    with pytest.raises(EngineError, match="'short' does not wait for history"):
        Burst.of(now, [change]).made_of(now, SEEN, {})
