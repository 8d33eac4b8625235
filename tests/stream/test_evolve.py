"""Catalogues as queries are added, dropped and moved: which store answers which windows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weft.engine.query_windows import FAR
from weft.errors import CheckpointError
from weft.plan.optimizer import optimize
from weft.plan.plan import Plan
from weft.query.query import Query
from weft.query.window import Window
from weft.spark.streaming.starting import reconciled
from weft.stream.catalogue import Catalogue, Settings
from weft.stream.catalogue_files import KEPT, CatalogueFiles
from weft.stream.evolve import first_catalogue, next_catalogue
from weft.stream.progress import Progress, ProgressFile

MINUTE = 60_000_000
SETTINGS = Settings("ts", "timestamp", "5 minutes", (3, 4), 2, "append")


def query(name: str, range_: int, slide: int | None = None, **more) -> Query:
    window = Window(range=f"{range_} minutes", slide=f"{slide or range_} minutes")
    return Query(name, **{"aggs": {"n": "count(*)"}, "by": ["k"], "window": window, **more})


def planned(*queries: Query, strategy: str = "share_all"):
    return optimize(list(queries), rate=1000.0, strategy=strategy)


def at(high: int, frontier: int) -> Progress:
    return Progress(batch=3, max_event_time=high * MINUTE, frontier=frontier * MINUTE)


def test_queries_of_a_new_checkpoint_are_complete_from_the_beginning():
    catalogue = first_catalogue(planned(query("a", 10), query("b", 4, 2)), SETTINGS)
    assert [entry.complete_from for entry in catalogue.entries] == [None, None]
    assert len(catalogue.stores) == 1
    assert catalogue.stores[0].cuts() == ((0, 2 * MINUTE),)


def test_a_new_query_begins_after_everything_seen():
    a = query("a", 10)
    now = first_catalogue(planned(a), SETTINGS)
    after = next_catalogue(now, planned(a, query("b", 4)), at(high=101, frontier=95))
    assert after.number == 2
    assert after.entry("b").complete_from == 104 * MINUTE
    assert after.entry("a") == now.entry("a")


def test_backfill_begins_with_the_first_open_window_of_kept_slices():
    hour = query("hour", 60, 5)
    now = first_catalogue(planned(hour), SETTINGS)
    changed = planned(hour, query("b", 20, 10))
    after = next_catalogue(now, changed, at(high=101, frontier=95), backfill=["B"])
    # open at 95: windows from 80 on; slices are kept from 40 on, cut every 5 minutes
    assert after.entry("b").complete_from == 80 * MINUTE


@pytest.mark.parametrize(
    "newcomer",
    [
        query("b", 20, 10, aggs={"s": "sum(x)"}),
        query("b", 20, 10, where="x > 5"),
        query("b", 20, 10, by=["k", "g"]),
        query("b", 3),
    ],
    ids=["part", "predicate", "key", "edges"],
)
def test_backfill_of_what_was_never_kept_starts_clean(newcomer):
    hour = query("hour", 60, 5)
    now = first_catalogue(planned(hour), SETTINGS)
    plan = optimize([hour, newcomer], rate=1000.0, strategy="share_all", keys="union")
    after = next_catalogue(now, plan, at(high=101, frontier=95), backfill=["b"])
    assert after.entry("b").complete_from > 101 * MINUTE


def test_a_dropped_part_that_comes_back_gets_a_new_number():
    a, b = query("a", 10), query("b", 10, aggs={"s": "sum(x)"})
    first = first_catalogue(planned(a, b), SETTINGS)
    second = next_catalogue(first, planned(a), at(101, 95))
    third = next_catalogue(second, planned(a, b), at(201, 195), backfill=["b"])
    numbers = [
        {e.value.kind: e.number for e in catalogue.stores[0].parts}
        for catalogue in (first, second, third)
    ]
    assert "sum" not in numbers[1]
    assert numbers[2]["sum"] not in numbers[0].values()
    assert third.entry("b").complete_from == 210 * MINUTE
    assert third.entry("b").number != first.entry("b").number


def test_a_query_that_moves_is_handed_over_without_a_gap():
    a, b = query("a", 10), query("b", 7)
    together = first_catalogue(planned(a, b), SETTINGS)
    apart = next_catalogue(together, planned(a, b, strategy="no_share"), at(101, 95))
    moved = [entry for entry in apart.entries if len(entry.assignments) == 2]
    assert len(moved) == 1
    old, new = moved[0].assignments
    assert old.store != new.store
    assert (old.since, new.until) == (-FAR, FAR)
    assert old.until == new.since > 101 * MINUTE
    assert moved[0].complete_from is None
    later = next_catalogue(apart, planned(a, b, strategy="no_share"), at(301, 295))
    assert all(len(entry.assignments) == 1 for entry in later.entries)
    assert len(later.stores) == 2


def test_queries_without_the_buckets_keys_get_a_store_of_their_own():
    a, whole = query("a", 10), query("whole", 10, by=[])
    now = first_catalogue(planned(a), SETTINGS)
    plan = optimize([a, whole], rate=1000.0, strategy="share_all", keys="union")
    after = next_catalogue(now, plan, at(101, 95))
    assert len(after.stores) == 2


def test_files_hold_the_catalogue_and_refuse_what_they_do_not_know(tmp_path):
    files = CatalogueFiles(str(tmp_path))
    assert files.latest() is None
    catalogue = first_catalogue(planned(query("a", 10, where="x > 5")), SETTINGS)
    files.write(catalogue)
    second = next_catalogue(catalogue, planned(query("b", 10)), at(101, 95))
    files.write(second)
    found = files.latest()
    assert found == second
    assert Catalogue.from_dict(found.to_dict()) == second
    path = tmp_path / "weft" / "catalogue" / "00000002.json"
    copy = path.parent / "copies" / path.name
    for one in (path, copy):
        one.write_text(one.read_text().replace("count", "sum"))
    with pytest.raises(CheckpointError, match="damaged"):
        files.latest()
    with pytest.raises(CheckpointError, match="version 7"):
        Catalogue.from_dict({**catalogue.to_dict(), "version": 7})
    with pytest.raises(CheckpointError, match="layout 7"):
        Catalogue.from_dict({**catalogue.to_dict(), "layout": 7})


def test_progress_only_goes_forward(tmp_path):
    file = ProgressFile(str(tmp_path))
    assert file.read() == Progress()
    file.write(Progress(4, 10, 5).at_least(8, None, 3))
    assert file.read() == Progress(4, 10, 5)


def test_a_restart_with_the_old_list_of_queries_changes_nothing(tmp_path):
    a, b, c = query("a", 10), query("b", 7), query("c", 5)
    files = CatalogueFiles(str(tmp_path))
    first = first_catalogue(planned(a, b), SETTINGS)
    files.write(first)
    now = next_catalogue(first, first_plan(first).drop(["b"]).add([c]), at(101, 95))
    files.write(now)
    assert set(files.ever()) == {"a", "b", "c"}
    assert reconciled(now, files.ever(), [a, b], at(101, 95)) is now
    assert reconciled(now, files.ever(), [], at(101, 95)) is now
    more = reconciled(now, files.ever(), [a, b, query("d", 3)], at(101, 95))
    assert [q.name for q in more.queries] == ["a", "c", "d"]
    other = query("A", 20)
    changed = reconciled(now, files.ever(), [other], at(101, 95))
    assert changed.entry("a").query == other
    assert changed.entry("a").number not in {entry.number for entry in now.entries}


def test_a_catalogue_keeps_the_order_of_outputs(tmp_path):
    """It is the order of the answers' columns, and so part of a query's meaning."""
    asked = query("a", 10, aggs={"n": "count(*)", "hi": "max(x)", "lo": "min(x)"})
    files = CatalogueFiles(str(tmp_path))
    files.write(first_catalogue(planned(asked), SETTINGS))
    now = files.latest()
    assert list(now.queries[0].aggs) == ["n", "hi", "lo"]
    assert reconciled(now, files.ever(), [asked], at(101, 95)) is now


def test_catalogues_that_are_long_past_leave_their_queries_only(tmp_path):
    a, b = query("a", 10), query("b", 7)
    files = CatalogueFiles(str(tmp_path))
    first = first_catalogue(planned(a, b), SETTINGS)
    files.write(first)
    now = next_catalogue(first, first_plan(first).drop(["b"]), at(101, 95))
    for number in range(2, 3 * KEPT):
        now = replace(now, number=number, batch=number)
        files.write(now)
        assert KEPT <= len(files.numbers()) <= 2 * KEPT or number <= KEPT
    assert files.latest() == now
    assert files.at(10**9) == now
    assert 1 not in files.numbers()
    assert files.ever() == {"a": a, "b": b}
    assert reconciled(now, files.ever(), [a, b], at(101, 95)) is now
    (tmp_path / "weft" / "past.json").unlink()  # there is a copy
    assert set(files.ever()) == {"a", "b"}


def test_a_catalogue_that_may_run_again_stays_however_many_follow(tmp_path):
    files = CatalogueFiles(str(tmp_path))
    first = first_catalogue(planned(query("a", 10)), SETTINGS)
    files.write(first)
    for number in range(2, 3 * KEPT):
        files.write(replace(first, number=number, batch=51))
    assert files.at(50) == first


def first_plan(catalogue: Catalogue) -> Plan:
    return Plan.from_dict(catalogue.plan)
