"""The source that a query in SQL names: a table or a relation, and its time column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.query.names import quoted_name

NO_NULLS, UTC, IN_ZONE = "no nulls", "utc", "in "


@dataclass(frozen=True)
class Relation:
    """A FROM clause that is more than a table: a join, a subquery, or a name defined by WITH.

    Spark makes a DataFrame from it, which queries share; `columns` are those that they need.

    >>> Relation("a JOIN b USING (k)", (("a.ts", "ts"), ("k", "k"))).sql
    'SELECT a.ts AS `ts`, k AS `k` FROM a JOIN b USING (k)'
    """

    rows: str
    """The text after FROM, including WHERE if that has a subquery."""
    columns: tuple[tuple[str, str], ...]
    """SQL over it, with the names by which queries refer to it."""
    definitions: str = ""
    """`WITH ...`, if it needs any."""

    @property
    def sql(self) -> str:
        """The relation as a statement."""
        listed = ", ".join(f"{sql} AS {quoted_name(name)}" for sql, name in self.columns)
        return f"{self.definitions} SELECT {listed} FROM {self.rows}".strip()

    def with_columns(self, columns: Iterable[tuple[str, str]]) -> Relation:
        """The same with more columns."""
        return replace(self, columns=tuple(dict.fromkeys((*self.columns, *columns))))


@dataclass(frozen=True)
class Source:
    """A table or a relation, and its event-time column."""

    table: str
    time: str | None
    """None if the dialect leaves it to the stream."""
    absent: tuple[str, ...] = ()
    """Names, in lower case, that the text defines for something other than the table's columns."""
    relation: Relation | None = None
    needs: tuple[str, ...] = ()
    """Preconditions: `NO_NULLS` for the rows' time; `UTC`, or `IN_ZONE` followed by a name, for the
    session's time zone."""

    @property
    def key(self) -> tuple[str, str]:
        """Equal for sources with the same DataFrame; ignores the time column."""
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
