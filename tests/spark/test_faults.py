"""The checks by which fault runs and the soak are judged; `make chaos` does the runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.support.memory import memory
from tests.faults.__main__ import FAMILIES, run
from tests.faults.outcome import (
    RIGHT,
    STOPPED,
    Outcome,
    Wrong,
    stopped_by,
    table,
    write_between,
)
from tests.faults.soak import Sample, Soak
from weft.errors import EngineError

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def test_a_table_is_put_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- faults -->\nold\n<!-- end of faults -->\nb\n")
    text = table([("disk", Outcome("full", "a|b", RIGHT, 1234))])
    write_between(page, "faults", text)
    write_between(page, "faults", text)
    assert page.read_text().count("| disk | full | a\\|b | right answers | 1,234 |") == 1
    assert page.read_text().startswith("a\n")
    assert page.read_text().endswith("b\n")
    with pytest.raises(EngineError, match="no place for 'soak'"):
        write_between(page, "soak", text)


def test_the_page_has_a_place_for_every_table():
    for marker in ("faults", "soak", "fuzz"):
        assert f"<!-- {marker} -->\n" in PAGE.read_text()
        assert f"<!-- end of {marker} -->" in PAGE.read_text()


def test_a_stop_must_say_why():
    assert stopped_by("x /a/b/c.json is damaged", "is damaged") == "x c.json is damaged"
    with pytest.raises(Wrong, match="does not say 'is damaged'"):
        stopped_by("something else", "is damaged")


def test_growth_is_seen():
    now = memory()
    flat = [Sample(now, 1000, 5)] * 40
    Soak(60.0, 1, 1, 1, flat).check()
    grown = [Sample(now, 1000 + at * 10_000_000, 5) for at in range(40)]
    with pytest.raises(Wrong, match="state_bytes grew from"):
        Soak(60.0, 1, 1, 1, grown).check()


def test_what_goes_wrong_is_told_and_not_written(tmp_path, monkeypatch):
    def right(rig):
        yield Outcome("small", "nothing", RIGHT, 7)

    def wrong(rig):
        yield Outcome("half", "nothing", STOPPED, 7)
        raise Wrong("3 rows missing")

    monkeypatch.setattr("tests.faults.__main__.FAMILIES", {"a": right, "b": wrong})
    told: list[str] = []
    outcomes, failed = run(tmp_path, ["b", "a"], done=lambda name, found: told.append(name))
    assert told == ["a"]
    assert [(name, outcome.fault) for name, outcome in outcomes] == [("a", "small")]
    assert failed == ["b: Wrong: 3 rows missing"]


def test_every_family_is_documented():
    assert all(family.__doc__ for family in FAMILIES.values())
