"""Checks events from standard input against the classes of OpenLineage's own Python client.

These are generated from the JSON schemas of the standard: each attribute without a default is
required, and other fields are not allowed. Run with `openlineage-python` on the path.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import types
import typing
from enum import Enum
from typing import Any

import attr

CLASSES: dict[str, type] = {}
"""Every class of the standard by the URL of its schema."""


def load() -> Any:
    """Fill in the classes; return the module of events."""
    from openlineage.client import generated
    from openlineage.client.generated import base

    for module in pkgutil.iter_modules(generated.__path__):
        known = importlib.import_module(f"{generated.__name__}.{module.name}")
        for one in vars(known).values():
            if isinstance(one, type) and attr.has(one) and hasattr(one, "_get_schema"):
                CLASSES[one._get_schema()] = one
    return base


def check(kind: Any, value: Any, at: str) -> None:
    """Fail unless a value matches a class of the standard."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return
        (kind,) = (one for one in typing.get_args(kind) if one is not type(None))
        origin = typing.get_origin(kind)
    if origin is list:
        assert isinstance(value, list), at
        for number, one in enumerate(value):
            check(typing.get_args(kind)[0], one, f"{at}[{number}]")
    elif origin is dict:
        assert isinstance(value, dict), at
        for name, one in value.items():
            inner = typing.get_args(kind)[1]
            check(CLASSES[one["_schemaURL"]] if "_schemaURL" in one else inner, one, f"{at}.{name}")
    elif attr.has(kind):
        check_object(kind, value, at)
    elif issubclass(kind, Enum):
        kind(value)
    else:
        assert isinstance(value, (int, float) if kind is float else kind), (at, value)


def check_object(kind: type, value: Any, at: str) -> None:
    assert isinstance(value, dict), at
    known = {field.name: field for field in attr.fields(kind)}
    hints = typing.get_type_hints(kind)
    assert set(value) <= set(known), (at, set(value) - set(known))
    lacking = {
        name for name, field in known.items() if field.default is attr.NOTHING and name not in value
    }
    assert not lacking, (at, lacking)
    for name, one in value.items():
        check(hints[name], one, f"{at}.{name}")


def main() -> None:
    base = load()
    events = [json.loads(line) for line in sys.stdin]
    facets: set[str] = set()
    for event in events:
        check(CLASSES[event["schemaURL"]], event, event["eventType"])
        base.RunEvent(  # its validators check times and ids
            eventTime=event["eventTime"],
            run=base.Run(runId=event["run"]["runId"]),
            job=base.Job(event["job"]["namespace"], event["job"]["name"]),
            eventType=base.EventType(event["eventType"]),
            producer=event["producer"],
        )
        for thing in (event["run"], event["job"], *event["inputs"], *event["outputs"]):
            facets |= set(thing["facets"])
    print(json.dumps({"events": len(events), "facets": sorted(facets)}))


if __name__ == "__main__":
    main()
