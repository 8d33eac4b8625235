"""The published schema and what is accepted are the same."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from pathlib import Path

import pytest

from weft.job import Job, SinkSpec, SourceSpec, job_schema
from weft.job.document import Document, read_file
from weft.job.schema import KEYWORDS, fits_type, problems
from weft.plan.optimizer import strategies
from weft.sinks import DeltaSink
from weft.spark.streaming.lost_rows import LATE
from weft.spark.streaming.starting import MODES

SCHEMA = job_schema()
BROKEN = Path(__file__).parent / "broken"
FULL = {
    "name": "trades",
    "source": {
        "format": "csv",
        "path": ["a", "b"],
        "options": {"header": True, "sep": ";", "n": 3, "f": 0.5},
        "schema": "ts TIMESTAMP",
        "time": "ts",
        "watermark": "30 seconds",
        "table": "lake.trades",
        "values": "avro",
        "avro_schema": "trade.avsc",
    },
    "queries": [
        {"name": "a", "aggs": {"n": "count(*)"}, "range": "1 hour", "slide": 5, "offset": "1 day",
         "where": "x > 1", "by": ["k"], "having": "n > 1", "owner": "ann",
         "lateness": "10 minutes"},
        {"name": "b", "sql": "SELECT 1", "owner": "bob", "lateness": 5},
        {"files": ["c.sql"], "owner": "eve"},
        {"files": "d.sql"},
    ],
    "sink": {"kind": "kafka", "servers": "h:1", "topic": "t", "values": "json",
             "options": {"acks": "all"}},
    "checkpoint": "ck",
    "trigger": "available_now",
    "output_mode": "append",
    "buckets": 4,
    "emit": "eager",
    "idle": "1 minute",
    "late": "deliver",
    "late_to": "lost",
    "adaptive": False,
    "metrics_port": 0,
    "log": "json",
    "openlineage": "lineage.jsonl",
    "plan": {"rate": 1.5, "strategy": "weave", "engine": "auto", "keys": "auto", "seed": 0,
             "parts": "equal", "edges": "f1", "cost": "paper", "tolerance": 0, "polish": True},
    "connectors": ["kafka"],
    "spark": {"spark.master": "local[2]", "spark.ui.enabled": False},
}  # fmt: skip
JUNK = [None, True, False, 0, -1, 2.0, 2.5, "", "x", "weave", [], [1], ["x"], {}, {"kind": "x"}]


def accepted(value: object) -> bool:
    return not problems(Document("job.yaml", value))


def parts(value: object, steps: tuple = ()):
    yield steps
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for step, below in inner:
        yield from parts(below, (*steps, step))


def changed(value: object, steps: tuple, change) -> object:
    """A copy in which the container of the last step of a path is changed."""
    value = copy.deepcopy(value)
    holder = value
    for step in steps[:-1]:
        holder = holder[step]
    change(holder, steps[-1])
    return value


def variants():
    """The full job, with each part in turn left out, replaced by junk, or given a sibling."""
    sinks = [
        {"kind": "console", "limit": 3},
        {"kind": "memory"},
        {"kind": "iceberg", "table": "lake.{query}"},
        {"kind": "postgres", "url": "postgresql:///db", "table": "{query}"},
        *({"kind": kind, "path": "out"} for kind in ("parquet", "long", "delta")),
    ]
    for full in [FULL, *({**FULL, "sink": sink} for sink in sinks)]:
        yield full
        for steps in parts(full):
            if not steps:
                continue
            yield changed(full, steps, lambda holder, step: holder.pop(step))
            for junk in JUNK:
                yield changed(full, steps, lambda h, s, j=junk: h.__setitem__(s, j))
            if isinstance(steps[-1], str):
                yield changed(full, steps, lambda h, s: h.__setitem__(f"{s}_", h[s]))
                yield changed(full, steps, lambda h, s: h.update(kind="parquet"))
    yield from JUNK


def test_the_full_job_is_accepted():
    assert problems(Document("job.yaml", FULL)) == []


def test_jsonschema_accepts_the_same():
    """Our validator agrees with the reference one on thousands of right and wrong jobs."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(SCHEMA)
    outcomes = set()
    for value in variants():
        ours, theirs = accepted(value), validator.is_valid(value)
        assert ours == theirs, json.dumps(value)
        outcomes.add(ours)
    assert outcomes == {True, False}


def test_jsonschema_refuses_the_broken_files_that_the_schema_can_refuse():
    import jsonschema

    validator = jsonschema.Draft202012Validator(SCHEMA)
    refused = 0
    for path in BROKEN.glob("*.yaml"):
        try:
            document = read_file(path)
        except ValueError:
            continue  # no values to look at
        assert validator.is_valid(document.value) == accepted(document.value), path.name
        refused += not accepted(document.value)
    assert refused > 15


def test_the_schema_itself_is_valid():
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_keyword_of_the_schema_is_one_that_is_checked():
    def keywords(schema: object):
        if isinstance(schema, dict):
            yield from schema
            for name, inner in schema.items():
                named = name in ("properties", "$defs")
                for one in inner.values() if named else [inner]:
                    yield from keywords(one)
        elif isinstance(schema, list):
            for one in schema:
                yield from keywords(one)

    assert set(keywords(SCHEMA)) <= KEYWORDS
    with pytest.raises(AssertionError, match="maxItems"):
        problems(Document("job.yaml", []), {"maxItems": 1})


def fields(kind: type) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def test_the_dataclasses_have_the_fields_of_the_schema():
    defs = SCHEMA["$defs"]
    made = {"file", "folder", "environ", "document", "refused", "statements", "tables"}
    assert (fields(Job) - made) | {"sources"} == set(SCHEMA["properties"])
    assert fields(SourceSpec) - {"steps"} == set(defs["source"]["properties"])
    sinks = [
        defs[name]
        for name in (
            *("fileSink", "icebergSink", "kafkaSink"),
            *("postgresSink", "consoleSink", "memorySink"),
        )
    ]
    assert fields(SinkSpec) == set().union(*(sink["properties"] for sink in sinks))


def test_the_choices_of_the_schema_are_those_of_the_code():
    plan = SCHEMA["$defs"]["plan"]["properties"]
    assert set(plan["strategy"]["enum"]) == set(strategies())
    assert tuple(SCHEMA["properties"]["output_mode"]["enum"]) == MODES
    assert tuple(SCHEMA["properties"]["late"]["enum"]) == LATE
    assert DeltaSink.modes == ("append",)  # what weft.job.fitting relies on


def test_types_are_those_of_json():
    values = [None, True, 1, 1.0, 1.5, "x", [], {}]
    assert [value for value in values if fits_type(value, "integer")] == [1, 1.0]
    assert [value for value in values if fits_type(value, ["number", "null"])] == [
        None,
        1,
        1.0,
        1.5,
    ]


def test_a_misspelt_field_is_told_with_what_was_meant():
    rng = random.Random(0)
    for name in [*SCHEMA["properties"]]:
        at = rng.randrange(1, len(name))
        wrong = name[:at] + name[at + 1 :]
        told = problems(Document("job.yaml", {**FULL, wrong: FULL.get(name)}))
        assert any(f"{wrong} is not a field of a job; did you mean {name!r}?" in t for t in told)
