"""YAML as plain values, with the line and column of every one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from weft.errors import JobError
from weft.query.quoting import quoted

Steps = tuple[str | int, ...]
"""The path from the top to a value: fields by name, list entries by position from 0."""
_LIMIT = 100_000
_NUMBER = 100
"""Most characters of a number; no field of a job needs as many."""
_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Document:
    """The values in a file, and the place of each.

    >>> document = read_text("job.yaml", "source:\\n  format: csv\\n")
    >>> document.value
    {'source': {'format': 'csv'}}
    >>> document.at(("source", "format"), "is not accepted")
    'job.yaml:2:11: source.format is not accepted'
    """

    file: str
    value: Any
    values: Mapping[Steps, tuple[int, int]] = field(repr=False, default_factory=dict)
    keys: Mapping[Steps, tuple[int, int]] = field(repr=False, default_factory=dict)

    def at(self, steps: Steps, message: str, *, key: bool = False) -> str:
        """A message prefixed with the place of a value, or of its key."""
        places = self.keys if key else self.values
        known = steps
        while known and known not in places:
            known = known[:-1]
        line, column = places.get(known, (1, 1))
        field, gap = path_text(steps), "" if message[:1] in ("=", ":") else " "
        said = f"{field}{gap}{message}" if field else message.lstrip("=: ")
        return f"{self.file}:{line}:{column}: {said}"

    def where(self, steps: Steps) -> str:
        """The place of a value as `file:line:column`."""
        return self.at(steps, "").rsplit(": ", 1)[0]


def path_text(steps: Steps) -> str:
    """The path in readable form, list entries from 1; empty for the whole file.

    >>> path_text(("queries", 0, "aggs"))
    'queries[1].aggs'
    """
    text = ""
    for step in steps:
        text += f"[{step + 1}]" if isinstance(step, int) else f".{step}"
    return text.lstrip(".")


def read_file(path: Path) -> Document:
    """Read a file of YAML (or JSON, which is YAML too)."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise JobError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise JobError(f"{path}: is not UTF-8 text (byte {error.start})") from None
    return read_text(str(path), text)


def read_text(file: str, text: str) -> Document:
    """Read a text of YAML."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line, column = _place(error.problem_mark or error.context_mark)
        raise JobError(f"{file}:{line}:{column}: is not YAML: {_reason(error)}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise JobError(f"{file}: is not YAML: {' '.join(str(error).split())}") from None
    if node is None:
        raise JobError(f"{file}:1:1: is empty; a job has at least source and queries")
    reader = _Reader(file)
    value = reader.read(node, ())
    return Document(file, value, reader.values, reader.keys)


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.values: dict[Steps, tuple[int, int]] = {}
        self.keys: dict[Steps, tuple[int, int]] = {}
        self.open: set[int] = set()
        self.scalars = yaml.SafeLoader("")

    def read(self, node: yaml.Node, steps: Steps) -> Any:
        place = _place(node.start_mark)
        self.values[steps] = place
        if len(self.values) > _LIMIT:
            raise JobError(f"{self.file}: has more than {_LIMIT:,} values")
        if id(node) in self.open:
            raise self.fail(place, steps, "refers to itself, which is not allowed in a job")
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, steps)
        if node.tag not in (_TAG + "map", _TAG + "seq"):
            raise self.fail(place, steps, f"has the tag {node.tag}: write it without a tag")
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode):
                return [self.read(item, (*steps, i)) for i, item in enumerate(node.value)]
            return self.mapping(node, steps)
        finally:
            self.open.discard(id(node))

    def mapping(self, node: yaml.Node, steps: Steps) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = _place(key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.fail(place, steps, "has a key that is not a text")
            key = str(key_node.value)
            inner = (*steps, key)
            if key in found:
                first = self.keys[inner][0]
                raise self.fail(place, inner, f"is given twice (first in line {first})")
            self.keys[inner] = place
            found[key] = self.read(value_node, inner)
        return found

    def scalar(self, node: yaml.ScalarNode, steps: Steps) -> Any:
        text = str(node.value)
        if node.tag in (_TAG + "str", _TAG + "timestamp", _TAG + "binary"):
            return text
        if node.tag == _TAG + "int" and ":" in text:
            return text  # YAML 1.1 would read 1:30 as ninety, which nobody means
        makers = {"null": None, "bool": "bool", "int": "int", "float": "float"}
        kind = node.tag.removeprefix(_TAG)
        if kind not in makers:
            raise self.fail(
                self.values[steps], steps, f"has the tag {node.tag}: write it without a tag"
            )
        if kind == "null":
            return None
        if kind != "bool" and len(text) > _NUMBER:
            raise self.fail(
                self.values[steps],
                steps,
                f"={quoted(text)} is a number of {len(text):,} characters: at most {_NUMBER} are "
                f"accepted",
            )
        try:
            value = getattr(self.scalars, f"construct_yaml_{makers[kind]}")(node)
        except (ValueError, KeyError):
            raise self.fail(self.values[steps], steps, f"={quoted(text)} is not a {kind}") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self.fail(self.values[steps], steps, f"={text} is not a finite number")
        return value

    def fail(self, place: tuple[int, int], steps: Steps, message: str) -> JobError:
        known = Document(self.file, None, {steps: place})
        return JobError(known.at(steps, message))


def _place(mark: Any) -> tuple[int, int]:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


def _reason(error: yaml.MarkedYAMLError) -> str:
    """PyYAML's message in one line, or a clearer one for a tab as indentation."""
    if "'\\t'" in (error.problem or ""):
        return "a tab cannot indent; use blanks"
    parts = [part for part in (error.context, error.problem) if part]
    return ", ".join(" ".join(part.split()) for part in parts)
