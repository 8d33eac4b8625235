"""Reads a job file: checks its form by the schema, then what a schema cannot express."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from weft.errors import JobError
from weft.job.document import Document, Steps, read_file
from weft.job.fitting import misfits
from weft.job.model import Job, SinkSpec, SourceSpec
from weft.job.queries import read_queries, time_column
from weft.job.schema import problems
from weft.query.query import Query

_BUILT = ("source", "sources", "queries", "sink", "spark", "connectors", "offer", "history")
"""Fields that are converted to another form in the job."""
_SOURCES = frozenset(("source", "sources"))
SUFFIXES = (".yaml", ".yml", ".json")


def load_job(
    path: str | PathLike[str], environ: Mapping[str, str] | None = None, *, strict: bool = True
) -> Job:
    """Read and check a job file, without starting or writing anything.

    The error lists every mistake that can be found without Spark: file, line and column, the field,
    its value, and what is accepted. Unless `strict`, refused statements in its SQL files are left
    out, and `refused` of the job says why.
    """
    file = Path(path)
    if file.suffix.lower() not in SUFFIXES:
        raise JobError(
            f"{file}: is not a job file (accepted are {', '.join(SUFFIXES)}); for a file of "
            f"queries, say where the rows are: --source"
        )
    document = read_file(file)
    if isinstance(document.value, (dict, list)) and not _SOURCES & set(document.value):
        _refuse_workload(document)
    _raise(problems(document))
    variables = os.environ if environ is None else environ
    read = read_queries(document, file.parent, strict=strict)
    job = replace(
        _job(document, file, tuple(read.queries), variables),
        refused=tuple(read.refused),
        statements=tuple(read.statements),
    )
    _raise(read.wrong or misfits(document, job))
    return job


def _raise(found: list[str]) -> None:
    if found:
        raise JobError("\n".join(found))


def _refuse_workload(document: Document) -> None:
    """Refuse a workload file, which is easily mistaken for a job file."""
    value = document.value
    fields = set(value) if isinstance(value, dict) else {"queries"}
    if fields <= {"queries", "rate"}:
        raise JobError(
            f"{document.file}:1:1: has queries and no source, so it is a workload and not a job: "
            f"add source:, or say where the rows are with --source"
        )


def _job(
    document: Document, file: Path, queries: tuple[Query, ...], environ: Mapping[str, str]
) -> Job:
    data = document.value
    sink = data.get("sink")
    tables = {
        name: _source(said, queries, ("sources", name))
        for name, said in data.get("sources", {}).items()
    }
    if "source" in data:
        source = _source(data["source"], queries, ("source",))
    else:
        streaming = (one for one in tables.values() if one.watermark is not None)
        source = next(streaming, next(iter(tables.values())))
    rest = {k: v for k, v in data.items() if k not in _BUILT}
    for name in ("buckets", "metrics_port"):
        if name in rest:
            rest[name] = int(rest[name])  # the schema accepts 4.0 as an integer
    history = data.get("history")
    return Job(
        **{"name": file.stem, **rest},
        source=source,
        history=None
        if history is None
        else replace(_source(history, queries, ("history",)), time=source.time),
        tables=tables,
        queries=queries,
        sink=None if sink is None else SinkSpec(**{**sink, "options": _texts(_options(sink))}),
        offer=tuple(data.get("offer", ())),
        connectors=tuple(data.get("connectors", ())),
        spark=_texts(data.get("spark", {})),
        file=str(file),
        folder=file.parent,
        environ=environ,
        document=document,
    )


def _source(said: dict[str, Any], queries: tuple[Query, ...], steps: Steps) -> SourceSpec:
    path = said.get("path", ())
    return SourceSpec(
        said["format"],
        (path,) if isinstance(path, str) else tuple(path),
        _texts(said.get("options", {})),
        said.get("schema"),
        said.get("time") or time_column(queries, str(steps[-1]) if len(steps) > 1 else None),
        said.get("watermark"),
        said.get("max_ahead", "auto"),
        said.get("table"),
        said.get("values", "json"),
        said.get("avro_schema"),
        steps,
    )


def _options(sink: dict[str, Any]) -> dict[str, Any]:
    options = sink.get("options", {})
    assert isinstance(options, dict)
    return options


def _texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Options in Spark's form: strings, with true and false in lower case."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
    }


def is_job(path: str | PathLike[str]) -> bool:
    """Whether a file is a job and not a workload: whether it has a source."""
    if Path(path).suffix.lower() not in SUFFIXES:
        return False
    try:
        value = read_file(Path(path)).value
    except JobError:
        return False
    return isinstance(value, dict) and bool(_SOURCES & set(value))


def need(job: Job, fields: Mapping[str, str]) -> None:
    """Refuse a job that lacks any of these fields; the values say what each is needed for."""
    given = {
        "sink": job.sink,
        "checkpoint": job.checkpoint,
        "source.watermark": job.source.watermark,
    }
    lacking = [
        job.at((), f"lacks {name}: {why}") for name, why in fields.items() if given[name] is None
    ]
    _raise(lacking)
