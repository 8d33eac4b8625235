"""PostgreSQL: a table per query with a row per window and group, written by upsert."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from weft.errors import EngineError
from weft.sinks.contract import Figures, MicroBatch, Sink, SinkQuery, write_each
from weft.sinks.names import check_distinct
from weft.sinks.postgres_table import Table, placed
from weft.sinks.wire import FIGURES, WRITTEN, figures_in, from_wire, written

OLDEST = 15
"""The first PostgreSQL version with UNIQUE NULLS NOT DISTINCT."""


class PostgresSink(Sink):
    """A table per query, named by `table` with `{query}` and optionally `{number}` filled in.

    Missing tables are created: `window_start` and `window_end`, the keys, the aggregates, unique by
    window and keys (nulls are equal, hence PostgreSQL 15 or newer). Every task writes its answers
    over one connection in one transaction, by COPY into a temporary table and INSERT ... ON
    CONFLICT DO UPDATE; nothing goes through the driver. `url` is a libpq connection string. Needs
    the package psycopg on the workers.
    """

    guarantee: ClassVar[str] = (
        "each window and group once, also after a crash: a micro-batch that is run again writes "
        "the same rows over themselves; while it is written, readers may see a part of it"
    )

    def __init__(self, url: str, table: str = "{query}") -> None:
        if "{query}" not in table and "{number}" not in table:
            raise EngineError(
                f"table={table!r}: each query has a table of its own, so {{query}} must be in it"
            )
        self.url, self.pattern = url, table

    def __repr__(self) -> str:
        return f"PostgresSink(table={self.pattern!r})"  # the url may contain a password

    def place(self, name: str, number: int) -> tuple[str, ...]:
        """The schema, if any, and the name of a query's table."""
        return placed(self.pattern, name, number)

    def table(self, query: SinkQuery) -> Table:
        """The table of a query."""
        keys = query.identity("PostgresSink")
        return Table.of(self.pattern, query.name, query.number, query.arrow, keys)

    def check(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        super().check(queries, mode)
        tables = [self.table(query) for query in queries.values()]
        check_distinct(queries.values(), lambda q: ".".join(self.place(q.name, q.number)))
        with connect(self.url) as connection:
            for table in tables:
                table.check(connection)

    def open(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        super().open(queries, mode)
        with connect(self.url) as connection:
            for query in queries.values():
                self.table(query).create(connection)

    def deliver(self, batch: MicroBatch) -> Figures:
        writer = TableWriter(self.url, {n: self.table(query) for n, query in batch.queries.items()})
        told = batch.frame.mapInArrow(writer, WRITTEN).collect()
        return figures_in(told)

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        raise EngineError("a PostgreSQL sink writes as it computes; call deliver")

    def send(self, answers: Any, query: SinkQuery) -> int:
        """Write a whole DataFrame of a query's answers; returns the number of rows."""
        self.open({query.number: query}, "append")
        sender = Sender(self.url, self.table(query))
        return sum(row["rows"] for row in answers.mapInArrow(sender, WRITTEN).collect())


class TableWriter:
    """For `mapInArrow`: writes a task's answers of all queries, in one transaction."""

    def __init__(self, url: str, tables: Mapping[int, Table]) -> None:
        self.url, self.tables = url, dict(tables)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[int, int, str]] = []
        answers: dict[int, list[pa.Table]] = {}
        for batch in batches:
            for row in batch.to_pylist():
                if row["query"] == FIGURES:
                    rows.append((FIGURES, 0, row["payload"].decode()))
                elif row["query"] in self.tables:
                    answers.setdefault(row["query"], []).append(from_wire(row["payload"]))
        if answers:
            with connect(self.url) as connection:
                connection.execute("SELECT 1")  # begins the transaction, so that savepoints follow

                def write(number: int) -> None:
                    with connection.transaction():  # a savepoint: the others can still be tried
                        table = pa.concat_tables(answers[number])
                        self.tables[number].upsert(connection, table)

                # The same order in every task: tasks that write the same rows wait, not deadlock.
                write_each(answers, write, of_answers)
        yield written(rows)


def of_answers(errors: Iterable[Exception]) -> bool:
    """Whether errors are caused by the answers, not by the server, its disk or its locks."""
    import psycopg

    kinds = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError)
    return all(isinstance(error, kinds) for error in errors)


class Sender:
    """For `mapInArrow`: writes a task's rows of one query, in one transaction."""

    def __init__(self, url: str, table: Table) -> None:
        self.url, self.table = url, table

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sent = 0
        with connect(self.url) as connection:
            for batch in batches:
                self.table.upsert(connection, pa.Table.from_batches([batch]))
                sent += batch.num_rows
        yield written([(0, sent, "")])


def connect(url: str) -> Any:
    """A connection that commits at the end of its `with`; its errors contain no secrets."""
    try:
        import psycopg
    except ImportError:
        raise EngineError(
            "a PostgreSQL sink needs the package psycopg on the workers: "
            "pip install 'weft[postgres]'"
        ) from None
    try:
        return psycopg.connect(url)
    except psycopg.ProgrammingError:
        # psycopg quotes the text that it cannot parse, which may contain a password.
        raise EngineError("url: is not a PostgreSQL connection string") from None
    except psycopg.OperationalError as error:
        raise EngineError(f"PostgreSQL cannot be reached: {error}") from None
