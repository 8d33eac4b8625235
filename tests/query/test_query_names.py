"""Names of queries, outputs and keys."""

from __future__ import annotations

import pytest

from weft.errors import QueryError
from weft.query.names import check_column_names, check_query_name


@pytest.mark.parametrize("name", ["a", "big trades", "größe", "q.1", "A" * 255, "交易"])
def test_accepted(name: str) -> None:
    assert check_query_name(name) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is not a name"),
        ("   ", "is not a name"),
        (None, "is not a name"),
        (5, "is not a name"),
        ("a" * 256, "has 256 characters: at most 255"),
        ("a\nb", "control character"),
        ("a\x00b", "control character"),
        ("a/b", "cannot name a query: accepted is any text"),
        ("..", "cannot name a query"),
        (" a", "cannot name a query"),
    ],
)
def test_refused(name: object, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        check_query_name(name)


@pytest.mark.parametrize(
    ("outputs", "keys", "message"),
    [
        (["n", "N"], [], "aggs: the name 'N' is already the name of an output"),
        (["n"], ["k", "K"], "by: the name 'K' is already the name of a key"),
        (["K"], ["k"], "aggs: the name 'K' is already the name of a key"),
        (["Window"], [], "aggs: the name 'Window' is already the window's column"),
        (["n"], ["window"], "by: the name 'window' is already the window's column"),
        ([""], [], "aggs='' is not a name"),
        ([5], [], "aggs=5 is not a name"),
    ],
)
def test_columns_differ(outputs: list[object], keys: list[object], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        check_column_names(outputs, keys)


def test_columns_may_hold_a_slash() -> None:
    check_column_names(["sum(a) / count(*)"], ["k"])
