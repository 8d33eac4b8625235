"""The SQL around a SELECT with a window: what a statement computes from its queries' answers.

    WITH c AS (SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), k)
    SELECT window, max(n) AS m FROM c GROUP BY window

consists of the query in parentheses and, over its answers (as table `weft_answers_0`), of

    WITH c AS (SELECT window, k, n FROM weft_answers_0)
    SELECT window, max(n) AS m FROM c GROUP BY window
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.errors import QueryError
from weft.query.quoting import quoted

ANSWERS = "weft_answers_"
"""The table name of the answers of a statement's queries, before their numbers."""


@dataclass(frozen=True)
class Finish:
    """Spark SQL over the answers of a query (`weft_answers_0`) and of others (1, 2, ...).

    On a stream the others' answers are used only here, and the SQL must stay within a window
    (`weft.stream.one_window`).
    """

    sql: str
    parts: tuple[str, ...] = ()
    """The names of the other queries, in the order of their numbers."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it may read."""
        return tuple(f"{ANSWERS}{number}" for number in range(len(self.parts) + 1))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; `of` reads it back."""
        return {"sql": self.sql, "parts": list(self.parts)}

    @classmethod
    def of(cls, given: Finish | Mapping[str, Any] | None) -> Finish | None:
        """Read what `to_dict` wrote."""
        if given is None or isinstance(given, Finish):
            return given
        if not isinstance(given, Mapping) or not isinstance(given.get("sql"), str):
            raise QueryError(f"finish={quoted(given)} is not SQL over answers")
        parts = given.get("parts", ())
        if isinstance(parts, str) or not all(isinstance(name, str) for name in parts):
            raise QueryError(f"finish.parts={quoted(parts)} is not a list of names")
        return cls(given["sql"], tuple(parts))
