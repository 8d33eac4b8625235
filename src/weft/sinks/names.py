"""Names made from a pattern: `{query}` and `{number}` filled in, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from weft.errors import EngineError
from weft.sinks.contract import SinkQuery

_FIELD = re.compile(r"\{(query|number)\}")


def named(pattern: str, query: str, number: int) -> str:
    """A pattern with a query's name and number; other braces stay as they are.

    >>> named("lake.{query}_{number}", "{number}", 3)
    'lake.{number}_3'
    """
    values: Mapping[str, str] = {"query": query, "number": str(number)}
    return _FIELD.sub(lambda match: values[match[1]], pattern)


def check_distinct(queries: Iterable[SinkQuery], place: Callable[[SinkQuery], str]) -> None:
    """Refuse queries if two of them would be written to the same place."""
    taken: dict[str, str] = {}
    for query in queries:
        other = taken.setdefault(place(query), query.name)
        if other != query.name:
            raise EngineError(
                f"queries {other!r} and {query.name!r} would both be written to {place(query)}"
            )
