"""Queries for an existing stream: a user's text, checked against the stream's time column."""

from __future__ import annotations

from pathlib import Path

from weft.errors import QueryError
from weft.job.queries import time_column
from weft.query.query import Query
from weft.query.sql import parse_queries
from weft.query.trust import check_untrusted
from weft.query.workload import Workload

_FILES = (".sql", ".yaml", ".yml", ".json")


def asked_queries(
    sql: str, time: str, *, name: str | None = None, files: bool = True
) -> list[Query]:
    """The queries in a text, or (if `files`) in the file that it names.

    Each must have a name, and its windows must be over the stream's column `time`.

    >>> [q.name for q in asked_queries("SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour')",
    ...                                "ts", name="hourly")]
    ['hourly']
    """
    if files and " " not in sql.strip() and Path(sql).suffix.lower() in _FILES:
        asked = list(Workload.load(sql))
        if name is not None and len(asked) != 1:
            raise QueryError(
                f"--name {name!r}: {sql} has {len(asked)} queries, which have names already"
            )
    else:
        asked = parse_queries(sql, name=name, whole=True)
        if name is None and any(query.name == f"q{n}" for n, query in enumerate(asked, 1)):
            raise QueryError("the query needs a name: --name, or a comment '-- name: x' before it")
    check_untrusted(asked)
    for query in asked:
        said = time_column([query]) if query.source and query.source.time else time
        if said.lower() != time.lower():
            raise QueryError(
                f"query {query.name!r}: its windows are over {said!r}, and the job's time column "
                f"is {time!r}"
            )
    return asked
