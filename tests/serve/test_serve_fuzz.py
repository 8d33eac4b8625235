"""The API, fuzzed from its own description: responses match it, and none is a 5xx."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from serve_cases import TOKEN, bearer, post_status, write_answers, write_checkpoint

from weft.serve.app import make_app
from weft.serve.guard import LOOPBACK, Policy
from weft.serve.source import open_source
from weft.spark.streaming.changes import stored

# Do not require that well-formed requests are accepted: a schema cannot say which texts are SQL.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# The description is read when tests are collected, so this cannot be a fixture.
FOLDER = Path(tempfile.mkdtemp(prefix="weft-fuzz-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def made() -> object:
    """The dashboard of a checkpoint with answers, whose stream is not running."""
    checkpoint = write_checkpoint(FOLDER)
    out = write_answers(FOLDER, stored(str(checkpoint)).entry("hourly").number, [0, 60])
    post_status(checkpoint, {"kind": "ParquetSink", "path": str(out)})
    policy = Policy(TOKEN, hosts=LOOPBACK | {"testserver"})
    return make_app(open_source(str(checkpoint)), policy)


# Event streams never end; test_serve_events reads them.
schema = schemathesis.openapi.from_asgi("/api/openapi.json", made()).exclude(path="/api/events")


@schema.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_described(case):
    case.call_and_validate(headers=bearer(), checks=CHECKS)
