"""The queries of a job, each with its place in the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.errors import QueryError, WeftError
from weft.job.document import Document, Steps
from weft.query.files import read_entry
from weft.query.limits import check_queries
from weft.query.query import Query
from weft.query.sql.reading import Statement
from weft.query.trust import check_untrusted
from weft.query.workload import Workload

_FIELD = re.compile(r"\b(name|aggs|range|slide|offset|where|by|having|lateness)(?:\['([^']*)'\])?=")


@dataclass
class Read:
    """The queries of a job that could be parsed."""

    queries: list[Query] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why some statements of SQL files are not shared queries."""
    statements: list[Statement] = field(default_factory=list)


def read_queries(document: Document, folder: Path, *, strict: bool = True) -> Read:
    """The queries under `queries:`, and the mistakes in them.

    A statement of an SQL file that is not a shared query is a mistake only if `strict`.
    """
    read = Read()
    found, wrong = read.queries, read.wrong
    taken: dict[str, str] = {}
    for position, entry in enumerate(document.value["queries"]):
        for steps, queries in _asked(document, ("queries", position), entry, folder, read, strict):
            for query in queries:
                before = taken.get(query.name.casefold())
                unfit = None if "sources" in document.value else _beside(query, found, steps)
                if before is not None:
                    unfit = (
                        f"asks a query named {query.name!r}, a name that is taken at {before} "
                        f"(names are compared without case)"
                    )
                if unfit is not None:
                    wrong.append(document.at(steps, unfit))
                    continue
                taken[query.name.casefold()] = document.where(steps)
                found.append(query)
    try:
        check_untrusted(found)
        check_queries(found)
    except QueryError as error:
        wrong.append(document.at(("queries",), f": {error}"))
    return read


def _beside(query: Query, others: Sequence[Query], steps: Steps) -> str | None:
    """Why a query cannot read the same single source as the others; only for queries in the job.

    Statements of SQL files are checked one by one when they run.
    """
    if others and query.window.axis != others[0].window.axis:
        return f"{_axes(query, others[0])}; a job has one"
    if "files" in steps or query.source is None:
        return None
    other = next((one for one in others if one.source is not None), None)
    if other is None or other.source is None or other.source.key == query.source.key:
        return None
    return (
        f"reads table {query.source.table!r}, and query {other.name!r} reads "
        f"{other.source.table!r}; a job has one source, or names several under sources:"
    )


def _axes(query: Query, other: Query) -> str:
    return (
        f"has windows on the {query.window.axis} axis, and query {other.name!r} on the "
        f"{other.window.axis} axis"
    )


def misfit(query: Query, others: Sequence[Query], time: str) -> str | None:
    """Why a query's time column prevents it from running on the others' stream; None if not."""
    if others and query.window.axis != others[0].window.axis:
        return f"{_axes(query, others[0])}; a stream has one"
    if query.source is None:
        return None
    said = query.source.time
    if said is not None and said.strip("`").lower() != time.lower():
        return f"has its windows over {said!r}, and the time column is {time!r}"
    for other in others:
        if other.source is not None and other.source.key != query.source.key:
            return (
                f"reads table {query.source.table!r}, and query {other.name!r} reads "
                f"{other.source.table!r}; a stream has one source"
            )
    return None


def time_column(queries: Sequence[Query], table: str | None = None) -> str:
    """The time column that the SQL queries over a table use; `ts` if none names one.

    >>> from weft.query.sql import parse_queries
    >>> time_column(parse_queries("SELECT count(*) AS n FROM t GROUP BY window(at, '1 hour')"))
    'at'
    """
    for query in queries:
        if query.source is None or query.source.time is None:
            continue
        if table is None or query.source.key == ("", table.casefold()):
            return query.source.time.strip("`")
    return "ts"


def _asked(
    document: Document,
    steps: Steps,
    entry: dict[str, Any],
    folder: Path,
    read: Read,
    strict: bool,
) -> list[tuple[Steps, Sequence[Query]]]:
    if "files" in entry:
        found: list[tuple[Steps, Sequence[Query]]] = []
        listed = entry["files"]
        for number, name in enumerate([listed] if isinstance(listed, str) else listed):
            inner = (*steps, "files") if isinstance(listed, str) else (*steps, "files", number)
            try:
                workload = Workload.load(folder / name, strict=strict).owned(entry.get("owner"))
                found.append((inner, list(workload)))
                read.refused.extend(workload.refused)
                read.statements.extend(workload.statements)
            except WeftError as error:
                read.wrong.append(document.at(inner, f"={name!r}: {error}"))
        return found
    try:
        return [(steps, read_entry(entry, int(steps[1]) + 1))]
    except QueryError as error:
        read.wrong.append(document.at((*steps, *_field(entry, str(error))), f": {error}"))
        return []


def _field(entry: dict[str, Any], message: str) -> Steps:
    """The field of a query that an error is about: errors say `where='...'`, `aggs['n']='...'`.

    >>> _field({"aggs": {"n": "cnt(*)"}}, "query 'q': aggs['n']='cnt(*)': cnt is no aggregate")
    ('aggs', 'n')
    """
    if "sql" in entry:
        return ("sql",)
    found = _FIELD.search(message)
    if found is None or found[1] not in entry:
        return ()
    return (found[1], found[2]) if found[2] and found[2] in entry[found[1]] else (found[1],)
