"""A query's table in PostgreSQL: its columns, its creation, and the upsert of rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from weft.errors import EngineError
from weft.sinks.names import named

WINDOW = ("window_start", "window_end")
_LONGEST = 63
"""Most bytes of a name; PostgreSQL truncates longer ones, so that two may become equal."""
_STAGED = "weft_staged"


@dataclass(frozen=True)
class Table:
    """The table of a query's answers: a name with or without a schema, columns and their types."""

    query: str
    place: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]

    @classmethod
    def of(
        cls, pattern: str, name: str, number: int, schema: pa.Schema, keys: tuple[str, ...]
    ) -> Table:
        """The table of a query with these columns; the window becomes two columns.

        >>> window = pa.struct([("start", pa.int64()), ("end", pa.int64())])
        >>> table = Table.of("weft.{query}", "q", 1, pa.schema([("window", window)]), ())
        >>> table.place, table.columns
        (('weft', 'q'), (('window_start', 'bigint'), ('window_end', 'bigint')))
        """
        place = placed(pattern, name, number)
        columns: list[tuple[str, str]] = []
        for field in schema:
            if field.name == "window":
                inner = [field.type.field(n).type for n in ("start", "end")]
                columns += [(n, sql_type(t)) for n, t in zip(WINDOW, inner, strict=True)]
            else:
                columns.append((field.name, sql_type(field.type)))
        names = [column for column, _ in columns]
        for text in (*place, *names):
            if len(text.encode()) > _LONGEST or not text:
                raise EngineError(
                    f"query {name!r}: {text!r} cannot be a name in PostgreSQL, which takes 1 to "
                    f"{_LONGEST} bytes"
                )
        twice = {column for column in names if names.count(column) > 1}
        if twice:
            raise EngineError(f"query {name!r}: two columns would be named {twice.pop()!r}")
        return cls(name, place, tuple(columns), (*WINDOW, *keys))

    def create(self, connection: Any) -> None:
        """Create the table if it does not exist."""
        from psycopg import sql

        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))
            for name, kind in self.columns
        )
        statement = sql.SQL(
            "CREATE TABLE IF NOT EXISTS {} ({}, UNIQUE NULLS NOT DISTINCT ({}))"
        ).format(sql.Identifier(*self.place), columns, _listed(self.keys))
        connection.execute(statement)

    def check(self, connection: Any) -> None:
        """Refuse an existing table with other columns."""
        from psycopg import sql

        place = sql.Identifier(*self.place)
        known = connection.execute("SELECT to_regclass(%s)", [place.as_string(connection)])
        if known.fetchone()[0] is None:
            return
        found = connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(place)).description
        there, wanted = [column.name for column in found], [name for name, _ in self.columns]
        if there != wanted:
            raise EngineError(
                f"query {self.query!r}: the table {'.'.join(self.place)} is there with the columns "
                f"{', '.join(there)}, and its answers have {', '.join(wanted)}: rename or drop it, "
                f"or name tables with {{number}}"
            )

    def upsert(self, connection: Any, answers: pa.Table) -> None:
        """Insert answers; they replace existing ones of the same window and group."""
        from psycopg import sql

        place, staged = sql.Identifier(*self.place), sql.Identifier(_STAGED)
        names = [name for name, _ in self.columns]
        connection.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} (LIKE {}) ON COMMIT DROP").format(staged, place)
        )
        with (
            connection.cursor() as cursor,
            cursor.copy(sql.SQL("COPY {} FROM STDIN").format(staged)) as copy,
        ):
            for row in zip(*self._values(answers), strict=True):
                copy.write_row(row)
        rest = [name for name in names if name not in self.keys]
        changed = sql.SQL(", ").join(
            sql.SQL("{0} = EXCLUDED.{0}").format(sql.Identifier(name)) for name in rest
        )
        connection.execute(
            sql.SQL(
                "INSERT INTO {} ({}) SELECT * FROM {} ORDER BY {} ON CONFLICT ({}) DO {}"
            ).format(
                place,
                _listed(names),
                staged,
                _listed(self.keys),  # ordered rows, so that concurrent tasks wait, not deadlock
                _listed(self.keys),
                sql.SQL("UPDATE SET {}").format(changed) if rest else sql.SQL("NOTHING"),
            )
        )
        connection.execute(sql.SQL("DROP TABLE {}").format(staged))

    def _values(self, answers: pa.Table) -> list[list[Any]]:
        found: list[list[Any]] = []
        for field in answers.schema:
            column = answers.column(field.name)
            if field.name == "window":
                pairs = column.combine_chunks()
                found += [pairs.field(name).to_pylist() for name in ("start", "end")]
            else:
                convert = _converter(field.type)
                values = column.to_pylist()
                found.append(values if convert is None else [convert(v) for v in values])
        return found


def placed(pattern: str, name: str, number: int) -> tuple[str, ...]:
    """A table's schema, if it has one, and its name.

    >>> placed("weft.{query}", "a.b", 1)
    ('weft', 'a.b')
    """
    return tuple(named(part, name, number) for part in pattern.rsplit(".", 1))


def _listed(names: Any) -> Any:
    from psycopg import sql

    return sql.SQL(", ").join(sql.Identifier(name) for name in names)


_TYPES: dict[str, str] = {
    "bool": "boolean", "int8": "smallint", "int16": "smallint", "int32": "integer",
    "int64": "bigint", "float": "real", "double": "double precision", "string": "text",
    "large_string": "text", "binary": "bytea", "large_binary": "bytea", "date32[day]": "date",
}  # fmt: skip


def sql_type(kind: pa.DataType) -> str:
    """The PostgreSQL type for an Arrow type; JSON for nested types.

    >>> sql_type(pa.decimal128(10, 2)), sql_type(pa.timestamp("us", "UTC"))
    ('numeric(10, 2)', 'timestamp with time zone')
    >>> sql_type(pa.list_(pa.int64()))
    'jsonb'
    """
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return f"timestamp {'with' if kind.tz else 'without'} time zone"
    if pa.types.is_duration(kind):
        return "interval"
    return _TYPES.get(str(kind), "jsonb")


def _converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    if sql_type(kind) == "jsonb":
        return lambda value: None if value is None else json.dumps(value, default=str)
    if sql_type(kind) == "text":
        return _text
    return None


def _text(value: str | None) -> str | None:
    """Replaces the zero character, which PostgreSQL cannot store, by the replacement character."""
    return value.replace("\x00", "\ufffd") if value and "\x00" in value else value
