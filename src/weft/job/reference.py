"""The reference of job files as Markdown, made from the published schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.job.schema import job_schema

_SECTIONS = {
    "source": "source", "queries: by fields": "query", "queries: as SQL": "sql",
    "queries: in files": "files", "limits": "limits", "sink: files": "fileSink",
    "sink: iceberg": "icebergSink", "sink: kafka": "kafkaSink", "sink: postgres": "postgresSink",
    "sink: console": "consoleSink", "sink: memory": "memorySink", "plan": "plan",
}  # fmt: skip
_TYPES = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false",
    "array": "list", "object": "mapping",
}  # fmt: skip


def reference() -> str:
    """A table of every section of a job file; `python -m weft.job` prints it."""
    return "\n".join(_lines(job_schema())) + "\n"


def _lines(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from _table("The job", schema, schema)
    for title, name in _SECTIONS.items():
        yield ""
        yield from _table(f"`{title}`", schema["$defs"][name], schema)


def _table(title: str, section: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {title}"
    yield f"{section['description']}."
    yield ""
    yield "| field | what | type | default |"
    yield "|---|---|---|---|"
    for name, given in section["properties"].items():
        field = _resolved(given, root)
        needed = "**needed**" if name in section.get("required", ()) else ""
        default = _shown(field["default"]) if "default" in field else needed
        about = str(field["description"]).replace("|", "\\|")
        yield f"| `{name}` | {about} | {_type(field)} | {default} |"


def _resolved(field: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" not in field:
        return dict(field)
    return {**root["$defs"][field["$ref"].rsplit("/", 1)[-1]], **field}


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    types = field.get("type", "string")
    return " or ".join(_TYPES[kind] for kind in ([types] if isinstance(types, str) else types))


def _shown(value: Any) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
