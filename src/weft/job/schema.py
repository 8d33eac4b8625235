"""The published schema of a job file, and the values that do not fit it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from weft.job.document import Document, Steps
from weft.job.variables import shown

_NOTES = {"$schema", "$id", "$defs", "$comment", "title", "description", "default", "also"}
_ASSERTIONS = {
    *("$ref", "allOf", "if", "then", "else", "type", "enum"),
    *("pattern", "minLength", "minimum", "maximum", "exclusiveMinimum"),
    *("items", "minItems", "properties", "required", "additionalProperties", "minProperties"),
}
KEYWORDS = frozenset(_NOTES | _ASSERTIONS)
"""The keywords of JSON Schema that are supported; others are refused, so that nothing is ignored.

`also` is an extension for messages only: fields that belong to another kind of mapping.
"""
_NAMES = {
    "object": "a mapping", "array": "a list", "string": "a text", "number": "a number",
    "integer": "a whole number", "boolean": "true or false", "null": "nothing",
}  # fmt: skip


@cache
def job_schema() -> dict[str, Any]:
    """The schema as JSON values (draft 2020-12); `weft schema` prints it."""
    text = files("weft.job").joinpath("schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert isinstance(schema, dict)
    return schema


def problems(document: Document, schema: Mapping[str, Any] | None = None) -> list[str]:
    """The deviations of a document from the schema, each with its place; empty if it fits.

    >>> from weft.job.document import read_text
    >>> problems(read_text("job.yaml", "source: {format: csv}\\nqueris: []"))[0]
    "job.yaml:2:1: queris is not a field of a job; did you mean 'queries'? accepted are ..."
    """
    root = job_schema() if schema is None else schema
    found = _Checker(root, document).check(root, document.value, ())
    return list(dict.fromkeys(found))


class _Checker:
    def __init__(self, root: Mapping[str, Any], document: Document) -> None:
        self.root, self.document = root, document

    def check(self, schema: Mapping[str, Any], value: Any, steps: Steps) -> Iterator[str]:
        unknown = set(schema) - KEYWORDS
        assert not unknown, f"the schema uses {sorted(unknown)}, which nothing checks"
        if "$ref" in schema:
            yield from self.check(self.resolve(schema["$ref"]), value, steps)
        if "type" in schema and not fits_type(value, schema["type"]):
            yield self.say(steps, value, _type_message(value, schema))
            return
        yield from self.scalar(schema, value, steps)
        if isinstance(value, dict):
            yield from self.mapping(schema, value, steps)
        if isinstance(value, list):
            if len(value) < schema.get("minItems", 0):
                yield self.say(steps, value, f"at least {schema['minItems']} is needed")
            for position, item in enumerate(value):
                yield from self.check(schema.get("items", {}), item, (*steps, position))
        for part in schema.get("allOf", ()):
            yield from self.check(part, value, steps)
        if "if" in schema:
            fits = next(self.check(schema["if"], value, steps), None) is None
            yield from self.check(schema.get("then" if fits else "else", {}), value, steps)

    def scalar(self, schema: Mapping[str, Any], value: Any, steps: Steps) -> Iterator[str]:
        if "enum" in schema and not any(_equal(value, known) for known in schema["enum"]):
            accepted = ", ".join(str(known) for known in schema["enum"])
            yield self.say(
                steps, value, f"{_meant(_close(value, schema['enum']))}accepted are {accepted}"
            )
        if isinstance(value, str):
            if len(value) < schema.get("minLength", 0):
                yield self.say(steps, value, f"must not be empty{_for(schema)}")
            elif "pattern" in schema and not re.search(schema["pattern"], value):
                yield self.say(steps, value, f"is not accepted{_for(schema)}")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if value < schema.get("minimum", value):
                yield self.say(steps, value, f"must be {schema['minimum']} or more")
            if value > schema.get("maximum", value):
                yield self.say(steps, value, f"must be {schema['maximum']} or less")
            if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
                yield self.say(steps, value, f"must be more than {schema['exclusiveMinimum']}")

    def mapping(
        self, schema: Mapping[str, Any], value: dict[str, Any], steps: Steps
    ) -> Iterator[str]:
        if len(value) < schema.get("minProperties", 0):
            yield self.say(steps, value, f"at least one entry is needed{_for(schema)}")
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        meant: set[str] = set()
        for name in value:
            inner = (*steps, name)
            if name in known:
                yield from self.check(known[name], value[name], inner)
            elif isinstance(rest, dict):
                yield from self.check(rest, value[name], inner)
            elif rest is False:
                also = schema.get("also", [])
                close = _close(name, [*known, *also])
                # A misspelt field is one mistake; do not report a missing field as well.
                meant.update(schema.get("required", ()) if close in also else [close])
                message = f"is not a field of {schema.get('title', 'this')}; {_meant(close)}"
                accepted = ", ".join(known) + "".join(f"; or {field}" for field in also)
                yield self.document.at(inner, f"{message}accepted are {accepted}", key=True)
        for name in schema.get("required", ()):
            if name not in value and name not in meant:
                about = self.resolved(known.get(name, {})).get("description", "")
                what = f": {about[0].lower()}{about[1:]}" if about else ""
                yield self.document.at(steps, f"lacks {name!r}{what}")

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.resolve(schema["$ref"]) if "$ref" in schema else schema

    def resolve(self, reference: str) -> Mapping[str, Any]:
        found: Any = self.root
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        assert isinstance(found, dict)
        return found

    def say(self, steps: Steps, value: Any, message: str) -> str:
        name = next((step for step in reversed(steps) if isinstance(step, str)), "")
        return self.document.at(steps, f"={shown(name, value)}: {message}")


def fits_type(value: Any, types: str | list[str]) -> bool:
    """Whether a value is of a JSON type; a bool is not a number, and 2.0 is an integer.

    >>> fits_type(True, "integer"), fits_type(2.0, "integer"), fits_type([], ["string", "array"])
    (False, True, True)
    """
    kinds = {
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "number": isinstance(value, (int, float)) and not isinstance(value, bool),
    }
    kinds["integer"] = kinds["number"] and (isinstance(value, int) or value.is_integer())
    return any(kinds[kind] for kind in ([types] if isinstance(types, str) else types))


def _equal(value: Any, known: Any) -> bool:
    return type(value) is type(known) and bool(value == known)


def _type_message(value: Any, schema: Mapping[str, Any]) -> str:
    types = schema["type"]
    listed = [types] if isinstance(types, str) else types
    wanted = " or ".join(_NAMES[kind] for kind in listed)
    if value is None:
        return f"is empty; give it {wanted}, or leave the field out{_for(schema)}"
    advice = ""
    if "string" in listed and isinstance(value, (bool, int, float)):
        advice = "; put it in quotes"
    return f"must be {wanted}{advice}{_for(schema)}"


def _for(schema: Mapping[str, Any]) -> str:
    about = schema.get("description")
    return f" ({about[0].lower()}{about[1:]})" if about else ""


def _close(value: Any, known: list[Any]) -> str:
    """The known name that is most similar to a value; empty if none is similar."""
    names = [name for name in known if isinstance(name, str)]
    return next(iter(get_close_matches(str(value).lower(), names, 1, 0.6)), "")


def _meant(name: str) -> str:
    return f"did you mean {name!r}? " if name else ""
