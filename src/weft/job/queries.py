"""The queries of a job, each with the place that asked for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.errors import QueryError, WeftError
from weft.job.document import Document, Steps
from weft.query.files import read_entry
from weft.query.limits import check_queries
from weft.query.query import Query
from weft.query.trust import check_untrusted
from weft.query.workload import Workload

_FIELD = re.compile(r"\b(name|aggs|range|slide|offset|where|by|having)(?:\['([^']*)'\])?=")


def read_queries(
    document: Document, folder: Path, *, strict: bool = True
) -> tuple[tuple[Query, ...], list[str], list[str]]:
    """The queries under `queries:`, what is wrong with them, and which statements are left out.

    A statement of a file of SQL that is refused is left out, unless `strict`.
    """
    found: list[Query] = []
    wrong: list[str] = []
    refused: list[str] = []
    taken: dict[str, str] = {}
    for position, entry in enumerate(document.value["queries"]):
        for steps, queries in _asked(
            document, ("queries", position), entry, folder, wrong, None if strict else refused
        ):
            for query in queries:
                before = taken.get(query.name.casefold())
                unfit = misfit(query, found)
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
    return tuple(found), wrong, refused


def misfit(query: Query, others: Sequence[Query]) -> str | None:
    """Why a query cannot run on the stream of the others; None if it can."""
    if others and query.window.axis != others[0].window.axis:
        return (
            f"has windows on the {query.window.axis} axis, and query {others[0].name!r} on the "
            f"{others[0].window.axis} axis; a job has one"
        )
    if query.source is None:
        return None
    for other in others:
        if other.source is not None and other.source.table.lower() != query.source.table.lower():
            return (
                f"reads table {query.source.table!r}, and query {other.name!r} reads "
                f"{other.source.table!r}; a job has one source"
            )
    return None


def time_column(queries: Sequence[Query]) -> str:
    """The column that the queries in SQL say is the time; `ts` if none does.

    >>> from weft.query.sql import parse_queries
    >>> time_column(parse_queries("SELECT count(*) AS n FROM t GROUP BY window(at, '1 hour')"))
    'at'
    """
    for query in queries:
        if query.source is not None and query.source.time is not None:
            return query.source.time.strip("`")
    return "ts"


def _asked(
    document: Document,
    steps: Steps,
    entry: dict[str, Any],
    folder: Path,
    wrong: list[str],
    refused: list[str] | None,
) -> list[tuple[Steps, Sequence[Query]]]:
    if "files" in entry:
        found: list[tuple[Steps, Sequence[Query]]] = []
        for number, name in enumerate(entry["files"]):
            inner = (*steps, "files", number)
            try:
                workload = Workload.load(folder / name, strict=refused is None)
                found.append((inner, list(workload)))
                if refused is not None:
                    refused.extend(workload.refused)
            except WeftError as error:
                wrong.append(document.at(inner, f"={name!r}: {error}"))
        return found
    try:
        return [(steps, read_entry(entry, int(steps[1]) + 1))]
    except QueryError as error:
        wrong.append(document.at((*steps, *_field(entry, str(error))), f": {error}"))
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
