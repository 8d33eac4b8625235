"""A job as one stream: which of its queries can run on it, and why the others cannot."""

from __future__ import annotations

from dataclasses import replace

from weft.errors import JobError, QueryError
from weft.job.model import Job
from weft.job.queries import misfit
from weft.query.query import Query


def as_stream(job: Job, *, strict: bool = False) -> Job:
    """The job with the queries that one stream can answer; `refused` says why others cannot.

    With `strict` any other query is an error; if there is no query left, that is always an error.
    """
    found: list[Query] = []
    refused: list[str] = []
    simple = {query.name for one in job.statements if one.refusal is None for query in one.queries}
    asked = [query for query in job.queries if query.name not in simple]
    for statement in job.statements:
        try:
            asked += statement.as_queries()
        except QueryError as error:
            if not statement.is_read:  # a view without a window is part of its readers
                refused.append(f"{job.file}: {error}")
    said = {} if job.document is None else job.document.value.get("source", {})
    time = (None if "time" in said else _time(asked)) or job.source.time
    for query in asked:
        unfit = misfit(query, found, time)
        if unfit is None:
            found.append(query)
        else:
            refused.append(f"{job.file}: query {query.name!r} {unfit}")
    if refused and (strict or not found):
        raise JobError("\n".join(refused))
    return replace(
        job,
        queries=tuple(found),
        refused=tuple(refused),
        source=replace(job.source, time=time),
    )


def _time(queries: list[Query]) -> str | None:
    """The time column of the first query that names one."""
    for query in queries:
        if query.source is not None and query.source.time is not None:
            return query.source.time.strip("`")
    return None
