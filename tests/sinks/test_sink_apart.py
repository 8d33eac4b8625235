"""A sink in the checkpoint or the reverse is found, however the paths are written."""

from __future__ import annotations

import re

import pytest

from weft.errors import EngineError
from weft.sinks.apart import check_apart

NESTED = [
    ("/a/ck/out", "/a/ck", "lies in the checkpoint"),
    ("/a/ck/deep/er/out", "/a/ck/", "lies in the checkpoint"),
    ("/a/out", "/a/out/ck", "the checkpoint '/a/out/ck' lies in the sink's path '/a/out'"),
    ("/a/x", "/a/x", "is the checkpoint"),
    ("/a/x/", "/a//x/.", "is the checkpoint"),
    ("/a/b/../ck/out", "/a/ck", "lies in the checkpoint"),
    ("file:/a/ck/out", "/a/ck", "lies in the checkpoint"),
    ("file:///a/ck/out", "file:/a/ck", "lies in the checkpoint"),
    ("FILE:///a/ck/out", "/a/ck", "lies in the checkpoint"),
    ("/", "/a/ck", "lies in the sink's path"),
    ("s3://bucket/ck/out", "s3://bucket/ck", "lies in the checkpoint"),
    ("s3://bucket/ck/../ck/out", "S3://bucket//ck/", "lies in the checkpoint"),
    ("s3://bucket", "s3://bucket/ck", "lies in the sink's path"),
    ("hdfs://node:8020/x", "hdfs://NODE:8020/x", "is the checkpoint"),
    ("dbfs:/x/out", "dbfs:/x", "lies in the checkpoint"),
    ("hdfs:///x/out", "hdfs:///x", "lies in the checkpoint"),
]
APART = [
    ("/a/out", "/a/out2"),
    ("/a/out2", "/a/out"),
    ("/a/out", "/a/ck"),
    ("/a/ck/../out", "/a/ck"),
    ("s3://bucket/out", "s3://bucket/ck"),
    ("s3://bucket/out", "s3://bucket/out2"),
    ("s3://bucket/x", "s3://other/x"),
    ("s3://bucket/x", "gs://bucket/x"),
    ("s3://bucket/a/ck", "/a/ck"),
    ("hdfs://one/x", "hdfs://two/x"),
]


@pytest.mark.parametrize(("sink", "checkpoint", "message"), NESTED)
def test_nested_places_are_refused_and_both_are_named(sink, checkpoint, message):
    with pytest.raises(EngineError, match=re.escape(message)) as refused:
        check_apart(sink, checkpoint)
    assert repr(sink) in str(refused.value)
    assert repr(checkpoint) in str(refused.value)


@pytest.mark.parametrize(("sink", "checkpoint"), APART)
def test_places_apart_are_taken(sink, checkpoint):
    check_apart(sink, checkpoint)


def test_relative_paths_and_links_are_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ck").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ck")
    (tmp_path / "ck" / "elsewhere").symlink_to(tmp_path / "free")
    for sink in ("ck/out", "./ck", "link/out", "link", "x/../ck/out", str(tmp_path / "link/a/b")):
        with pytest.raises(EngineError, match="checkpoint"):
            check_apart(sink, "ck")
        with pytest.raises(EngineError, match="checkpoint"):
            check_apart(sink, f"file://{tmp_path}/ck")
    check_apart("ck/elsewhere/out", "ck")  # a link leads out of it
    check_apart("out", "ck")
