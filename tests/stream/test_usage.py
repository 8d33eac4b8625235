"""The resources that queries use, and which queries are over their limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_burst import RUNNING, add, drop, made

from weft.errors import EngineError
from weft.query.query_limits import QueryLimits
from weft.sinks.contract import write_each
from weft.stream.micro_batch import _Output, by_window, most_of
from weft.stream.usage import Usage, excesses


def limit(name, **limits):
    return {"op": "limit", "name": name, "limits": limits or None}


def test_a_query_with_other_limits_is_the_same_query_to_a_change_after_that():
    """The query keeps its number, its first window, its pause and its limits."""
    limited = made([limit("a", groups=5), {"op": "pause", "name": "a"}])
    then = made([add("z")], limited, batch=9)
    before, after = limited.entry("a"), then.entry("a")
    assert (after.number, after.complete_from, after.paused) == (
        before.number,
        before.complete_from,
        before.paused,
    )
    assert after.query.limits == QueryLimits(groups=5)


def test_limits_of_a_query_that_went_are_not_those_of_the_next_with_its_name():
    again = made([limit("a", groups=5), drop("a"), add("a", 7)])
    assert again.entry("a").query.limits is None


def test_a_reason_from_outside_is_a_short_line():
    paused = made([{"op": "pause", "name": "a", "why": "\x1b[31m" + "x\n" * 400}])
    why = paused.entry("a").why
    assert why is not None
    assert len(why) <= 300
    assert why.isprintable()
    assert made([{"op": "pause", "name": "a", "why": {"a": 1}}]).entry("a").why is None


def over(catalogue, batches=100, **usage):
    found = {entry.number: Usage(**usage) for entry in catalogue.entries}
    return {one.number: (one.over, one.why) for one in excesses(catalogue, found, batches)}


def test_a_paused_query_has_its_limit_of_state_all_the_same():
    limited = made([limit("a", groups=5, state_bytes=10, over="pause")])
    number = limited.entry("a").number
    assert over(limited, groups=6)[number][0] == "pause"
    paused = made([{"op": "pause", "name": "a"}], limited, batch=9)
    assert over(paused, groups=6) == {}
    assert over(paused, groups=6, state_bytes=11)[number][0] == "fail"


def test_the_last_query_that_runs_may_have_all_the_time():
    limited = made([limit("a", share=0.5), limit("b", share=0.5)])
    assert len(over(limited, share=0.6)) == 2
    assert over(limited, batches=3, share=0.6) == {}
    paused = made([{"op": "pause", "name": "b"}], limited, batch=9)
    assert over(paused, share=0.9) == {}


def test_limits_of_the_stream_hold_beside_those_of_a_query():
    settings = replace(RUNNING.settings, limits=QueryLimits(groups=5, answers=7))
    limited = made([limit("a", groups=9)], replace(RUNNING, settings=settings))
    query = limited.entry("a").query
    assert query.trusted
    assert limited.limits_of(query) == QueryLimits(groups=9, answers=7)
    stranger = type(query).from_dict(query.to_dict(), trusted=False)
    assert limited.limits_of(stranger) == QueryLimits(groups=5, answers=7)


def test_groups_are_counted_by_window_over_all_pieces_of_an_answer():
    output = _Output(0)
    starts = np.repeat(np.array([0, 60]), [3, 2])
    assert output.count(1, by_window(starts, 60)) == 3
    assert output.count(1, by_window(starts, 60)) == 6
    assert most_of(output.groups[1]) == {"0": 6, "60": 4}
    assert by_window(np.array([0, 10**15]), 60) == {0: 1, 10**15: 1}


def test_where_some_answers_cannot_be_written_it_is_said_whose():
    def write(number):
        if number == 2:
            raise ValueError("no")

    with pytest.raises(EngineError, match=r"\[weft query 2\] its answers cannot be written: Value"):
        write_each([1, 2], write)
    with pytest.raises(ValueError, match="no"):  # no other succeeded: perhaps it is the sink
        write_each([2], write)
    with pytest.raises(EngineError, match="weft query 2"):
        write_each([2], write, lambda errors: True)
    with pytest.raises(ValueError, match="no"):  # the sink failed in between
        write_each([1, 2], write, lambda errors: False)
