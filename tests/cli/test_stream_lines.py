"""What `weft stream` says of queries that come, go, pause and fail."""

from __future__ import annotations

from types import SimpleNamespace

from weft.cli.stream import differences, sentence, states
from weft.stream.status import QueryStatus


def status(*queries: QueryStatus) -> SimpleNamespace:
    return SimpleNamespace(queries=queries)


def query(name: str, **more) -> QueryStatus:
    return QueryStatus(name, 1, None, 0, 0, 0.0, (), **more)


def test_each_change_of_a_query_is_one_line():
    first = status(query("a"), query("b"), query("c"))
    second = status(query("a"), query("b", paused=True), query("d"), query("c", failed="c failed"))
    third = status(query("a"), query("b"), query("c"))
    said = [sentence(*found) for found in differences(states(first), second)]
    assert said == ["paused: query 'b'", "added: query 'd'", "c failed"]
    said = [sentence(*found) for found in differences(states(second), third)]
    assert said == ["resumed: query 'b'", "resumed: query 'c'", "dropped: query 'd'"]
    assert list(differences(states(third), third)) == []
