"""Where a query in SQL says that its rows come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.query.names import quoted_name

NO_NULLS, UTC, IN_ZONE = "no nulls", "utc", "in "


@dataclass(frozen=True)
class Relation:
    """FROM where it says more than a table: a join, a subquery, what WITH defines.

    Spark makes a DataFrame of it, which queries then share; `columns` are what they need of it.

    >>> Relation("a JOIN b USING (k)", (("a.ts", "ts"), ("k", "k"))).sql
    'SELECT a.ts AS `ts`, k AS `k` FROM a JOIN b USING (k)'
    """

    rows: str
    """What stands after FROM; WHERE with it, if that has a subquery."""
    columns: tuple[tuple[str, str], ...]
    """SQL over it, and the names that the queries know."""
    definitions: str = ""
    """`WITH ...`, if it needs any."""

    @property
    def sql(self) -> str:
        """The whole as a statement."""
        listed = ", ".join(f"{sql} AS {quoted_name(name)}" for sql, name in self.columns)
        return f"{self.definitions} SELECT {listed} FROM {self.rows}".strip()

    def with_columns(self, columns: Iterable[tuple[str, str]]) -> Relation:
        """The same with more columns."""
        return replace(self, columns=tuple(dict.fromkeys((*self.columns, *columns))))


@dataclass(frozen=True)
class Source:
    """A table, or a relation made of some, and its column of event time."""

    table: str
    time: str | None
    """None where the dialect leaves it to the stream."""
    absent: tuple[str, ...] = ()
    """Names, in lower case, that the text gives to something else than a column of the table."""
    relation: Relation | None = None
    needs: tuple[str, ...] = ()
    """What must hold: `NO_NULLS` of the rows' time; of the session, that its time zone is `UTC`, or
    the one whose name follows `IN_ZONE`."""

    @property
    def key(self) -> tuple[str, str]:
        """Equal for sources that are one DataFrame; the time is not asked."""
        if self.relation is None:
            return "", self.table.replace("`", "").casefold()
        return self.relation.definitions, self.relation.rows

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        found: dict[str, Any] = {"table": self.table, "time": self.time}
        if self.absent:
            found["absent"] = list(self.absent)
        if self.needs:
            found["needs"] = list(self.needs)
        if self.relation is not None:
            columns = [list(column) for column in self.relation.columns]
            found["relation"] = {**self.relation.__dict__, "columns": columns}
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Source:
        """Read what `to_dict` wrote."""
        said = data.get("relation")
        relation = None
        if said is not None:
            columns = tuple((str(sql), str(name)) for sql, name in said["columns"])
            relation = Relation(said["rows"], columns, said.get("definitions", ""))
        absent, needs = tuple(data.get("absent", ())), tuple(data.get("needs", ()))
        return cls(data["table"], data["time"], absent, relation, needs)
