"""Sinks that identify rows by window and keys, and rows that have none."""

from __future__ import annotations

import pyarrow as pa
import pytest

from weft.errors import EngineError
from weft.sinks import KafkaSink, MemorySink, PostgresSink
from weft.sinks.contract import SinkQuery

WITHOUT = SinkQuery(1, "most", None, pa.schema([("m", pa.int64())]), None)


@pytest.mark.parametrize(
    "sink", [KafkaSink("nobody:9092", "answers"), PostgresSink("postgresql://nobody/x")]
)
def test_rows_without_keys_are_refused_before_anything_is_written(sink):
    with pytest.raises(EngineError, match=r"query 'most': \w+Sink identifies rows by"):
        sink.check({1: WITHOUT}, "append")


def test_others_take_them():
    MemorySink().check({1: WITHOUT}, "append")
