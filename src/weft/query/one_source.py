"""Checks that queries answered together read one table and use one time column."""

from __future__ import annotations

from collections.abc import Iterable

from weft.errors import EngineError
from weft.query.query import Query


def check_source(query: Query, others: Iterable[Query], time: str, place: str) -> None:
    """Refuse a query whose SQL names another table than others, or another time column.

    `place` says, for errors, where the others run: on a loom, or a stream.
    """
    if query.source is None:
        return
    asked = query.source.time
    if asked is not None and asked.strip("`").lower() != time.lower():
        raise EngineError(
            f"query {query.name!r}: its window is over {asked!r}, but the {place}'s time column "
            f"is {time!r}"
        )
    tables = {q.source.table.lower(): q for q in others if q.source is not None}
    if tables and query.source.table.lower() not in tables:
        table, other = next(iter(tables.items()))
        raise EngineError(
            f"query {query.name!r} is from table {query.source.table!r}, query {other.name!r} "
            f"from {table!r}: a {place} has one source"
        )


def check_absent(query: Query, columns: Iterable[str]) -> None:
    """Refuse a query in which the alias of a SELECT item is also a column, which Spark prefers."""
    if query.source is None or not query.source.absent:
        return
    known = {column.casefold() for column in columns}
    for name in query.source.absent:
        if name in known:
            raise EngineError(
                f"query {query.name!r}: {name!r} names both a column and an item of SELECT, and "
                f"Spark would take the column: give the item another name"
            )
