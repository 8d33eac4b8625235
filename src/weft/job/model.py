"""A job as it was written: immutable, with its variables not yet expanded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from weft.job.document import Document, Steps
from weft.job.variables import expand, masked, redact, scrub, secrets
from weft.query.query import Query
from weft.query.sql.reading import Statement

Kind = Literal["parquet", "long", "delta", "iceberg", "kafka", "postgres", "console", "memory"]
Values = Literal["json", "avro"]
FILE_FORMATS = ("parquet", "csv", "json", "orc", "text", "avro", "delta")
"""Formats that need a path."""


@dataclass(frozen=True, repr=False)
class SourceSpec:
    """Where the rows come from."""

    format: str
    path: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    schema: str | None = None
    time: str = "ts"
    watermark: str | None = None
    max_ahead: str = "auto"
    table: str | None = None
    values: Values = "json"
    avro_schema: str | None = None
    steps: Steps = field(default=("source",), compare=False)
    """The path of this section in the job file."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values that may be shown."""
        paths = [redact(path) for path in self.path]
        said = {name: value for name, value in self.__dict__.items() if name != "steps"}
        return {**said, "path": paths, "options": masked(self.options)}

    def __repr__(self) -> str:
        return f"SourceSpec({self.to_dict()})"


@dataclass(frozen=True, repr=False)
class SinkSpec:
    """Where the answers go."""

    kind: Kind
    path: str | None = None
    servers: str | None = None
    topic: str | None = None
    limit: int = 20
    options: Mapping[str, str] = field(default_factory=dict)
    values: Values = "json"
    table: str | None = None
    url: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values that may be shown."""
        texts = {k: redact(v) for k, v in self.__dict__.items() if isinstance(v, str)}
        return {**self.__dict__, **texts, "options": masked(self.options)}

    def __repr__(self) -> str:
        return f"SinkSpec({self.to_dict()})"

    def __str__(self) -> str:
        place = self.path or self.topic or self.table
        return f"{self.kind} {redact(place)}" if place else self.kind


@dataclass(frozen=True, repr=False)
class Job:
    """The content of a job file. Strings still contain `${NAME}`; `fill` expands them.

    >>> job = Job("j", SourceSpec("csv", ("in",), {"password": "hunter2"}), ())
    >>> job.to_dict()["source"]["options"], job.scrub("bad password hunter2")
    ({'password': '***'}, 'bad password ***')
    """

    name: str
    source: SourceSpec
    queries: tuple[Query, ...]
    sink: SinkSpec | None = None
    checkpoint: str | None = None
    trigger: str | None = None
    output_mode: str = "append"
    buckets: int | None = None
    emit: str | None = None
    idle: str | None = None
    late: str = "count"
    late_to: str | None = None
    adaptive: bool = False
    metrics_port: int | None = None
    offer: tuple[str, ...] = ()
    history: SourceSpec | None = None
    """The source of the rows before the stream's own (history)."""
    limits: Mapping[str, Any] | None = None
    log: str = "text"
    openlineage: str | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    connectors: tuple[str, ...] = ()
    spark: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, SourceSpec] = field(default_factory=dict)
    """The source of each table, if the job names more than one."""
    statements: tuple[Statement, ...] = ()
    """All statements in its SQL files."""
    refused: tuple[str, ...] = ()
    """Why some of these statements are not shared queries."""
    file: str = "job"
    folder: Path = field(default_factory=Path)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    document: Document | None = field(default=None, repr=False, compare=False)

    def at(self, steps: Steps, message: str) -> str:
        """A message about a field, prefixed with its place in the file if there is one."""
        known = self.document or Document(self.file, None)
        if steps[:1] == ("source",):
            steps = (*self.source.steps, *steps[1:])
        text = known.at(steps, message)
        return text if self.document else text.replace(":1:1:", ":", 1)

    def on(self, source: SourceSpec) -> Job:
        """The job with another one of its sources."""
        return replace(self, source=source)

    def fill(self, text: str) -> str:
        """A string of the job with its variables expanded."""
        return expand(text, self.environ)

    def filled(self, options: Mapping[str, str]) -> dict[str, str]:
        """Options with their variables expanded."""
        return {name: self.fill(value) for name, value in options.items()}

    def locate(self, path: str) -> str:
        """A path of the job: relative ones are relative to the job file; URIs are unchanged."""
        return located(self.folder, self.fill(path))

    def scrub(self, text: str) -> str:
        """A message without the job's secrets."""
        hidden: set[str] = set()
        sink = self.sink or SinkSpec("memory")
        url = {"url": sink.url or ""}
        sources = (self.source, *self.tables.values(), *((self.history,) if self.history else ()))
        for options in (*(one.options for one in sources), self.spark, sink.options, url):
            hidden |= secrets(options, self.environ)
        return redact(scrub(text, hidden))

    def __repr__(self) -> str:
        return f"Job({self.to_dict()})"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values that may be shown: no secret and no value of a variable is in them."""
        hidden = ("file", "folder", "environ", "document", "statements")
        plain = {k: v for k, v in self.__dict__.items() if k not in hidden}
        return plain | {
            "source": self.source.to_dict(),
            "history": self.history and self.history.to_dict(),
            "tables": {name: source.to_dict() for name, source in self.tables.items()},
            "queries": [query.to_dict() for query in self.queries],
            "sink": self.sink and self.sink.to_dict(),
            "checkpoint": self.checkpoint and redact(self.checkpoint),
            "late_to": self.late_to and redact(self.late_to),
            "openlineage": self.openlineage and redact(self.openlineage),
            "plan": dict(self.plan),
            "connectors": list(self.connectors),
            "refused": list(self.refused),
            "spark": masked(self.spark),
        }


def located(folder: Path, path: str) -> str:
    """A path relative to a folder, made absolute because Spark may have started elsewhere; URIs
    are unchanged.

    >>> located(Path("/jobs"), "in/x.csv"), located(Path("jobs"), "s3a://b/x")
    ('/jobs/in/x.csv', 's3a://b/x')
    """
    if "://" in path or path.startswith(("file:", "dbfs:")):
        return path
    return os.path.abspath(folder / path)
