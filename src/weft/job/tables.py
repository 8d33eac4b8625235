"""A job made from a file of queries and a table of data, without a job file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath

from weft.errors import JobError
from weft.job.model import Job, SourceSpec
from weft.job.queries import time_column
from weft.job.variables import literal
from weft.query.trust import check_untrusted
from weft.query.workload import Workload

_FORMATS = {
    ".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json",
    ".ndjson": "json", ".orc": "orc", ".avro": "avro",
}  # fmt: skip
_CSV = {"header": "true", "inferSchema": "true"}


def job_on_table(
    queries: str | Path,
    source: str | Mapping[str, str],
    *,
    format: str | None = None,
    time: str | None = None,
    schema: str | None = None,
    options: Mapping[str, str] | None = None,
    strict: bool = True,
) -> Job:
    """Queries from a file of SQL, YAML or JSON, on the rows of a file or folder.

    `source` is a path, or several by table name. By default the format is derived from the file
    ending and the time column from the queries. A CSV has a header, unless the options say
    otherwise. Unless `strict`, statements that are not shared queries are left out of the queries,
    and `refused` of the job says why.
    """
    workload = Workload.load(queries, strict=strict)
    check_untrusted(workload)
    paths = {"": source} if isinstance(source, str) else dict(source)
    sources = {}
    for name, path in paths.items():
        column = time or time_column(workload.queries, name or None)
        steps = ("sources", name) if name else ("source",)
        spec = source_of(path, "--source", column, format, schema, options)
        sources[name] = replace(spec, steps=steps)
    return Job(
        PurePath(queries).stem,
        next(iter(sources.values())),
        workload.queries,
        plan={} if workload.rate is None else {"rate": workload.rate},
        tables={} if "" in sources else sources,
        statements=workload.statements,
        refused=workload.refused,
        file=str(queries),
    )


def source_of(
    path: str,
    option: str,
    time: str,
    format: str | None = None,
    schema: str | None = None,
    options: Mapping[str, str] | None = None,
) -> SourceSpec:
    """The source for a file or folder given by an option; the default format is by its ending."""
    kind = format or _format(path, option)
    given = dict(options or {})
    if kind == "csv":
        tabs = {"sep": "\t"} if path.lower().endswith(".tsv") else {}
        given = {**_CSV, **tabs, **given}
    return SourceSpec(kind, (literal(path),), _literals(given), schema, time)


def _literals(options: Mapping[str, str]) -> dict[str, str]:
    return {name: literal(value) for name, value in options.items()}


def _format(source: str, option: str = "--source") -> str:
    """The format for a path's ending.

    >>> _format("trades.parquet"), _format("s3a://b/trades.csv.gz")
    ('parquet', 'csv')
    """
    path = PurePath(source)
    for suffix in reversed(path.suffixes):
        if suffix.lower() in _FORMATS:
            return _FORMATS[suffix.lower()]
    local = Path(source)
    if local.is_dir():
        kinds = {
            _FORMATS[inner.suffix.lower()]
            for inner in local.rglob("*")
            if inner.suffix.lower() in _FORMATS and not inner.name.startswith(("_", "."))
        }
        if len(kinds) == 1:
            return kinds.pop()
    raise JobError(
        f"{option} {source}: the file ending does not say the format: give --format "
        f"({', '.join(dict.fromkeys(_FORMATS.values()))}, or any other of Spark's formats)"
    )
