"""The archive of Spark's classes, for quick starts."""

from __future__ import annotations

import os
from pathlib import Path

import pyspark
import pytest

from weft.errors import EngineError
from weft.spark import class_archive


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "spark.jsa"
    monkeypatch.setattr(class_archive, "ARCHIVE", place)
    return place


def test_it_is_used_if_it_is_newer_than_spark(archive: Path):
    assert not class_archive.is_ready()
    assert class_archive.java_options() == ""
    archive.touch()
    assert f"-XX:SharedArchiveFile={archive}" in class_archive.java_options()
    installed = (Path(pyspark.__file__).parent / "jars").stat().st_mtime
    os.utime(archive, (installed - 1, installed - 1))
    assert not class_archive.is_ready()


def test_a_jvm_is_told_of_it_and_nobody_else(archive: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dmine=1")
    archive.touch()
    with class_archive.used():
        told = os.environ["SPARK_SUBMIT_OPTS"]
    assert told.startswith(f"-Dmine=1 -XX:SharedArchiveFile={archive} ")
    assert os.environ["SPARK_SUBMIT_OPTS"] == "-Dmine=1"
    monkeypatch.delenv("SPARK_SUBMIT_OPTS")
    with class_archive.used():
        assert "SharedArchiveFile" in os.environ["SPARK_SUBMIT_OPTS"]
    assert "SPARK_SUBMIT_OPTS" not in os.environ


def test_where_nobody_may_write_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(class_archive, "ARCHIVE", tmp_path / "nowhere" / "spark.jsa")
    with pytest.raises(EngineError, match=r"No such file or directory: .* as a user who can write"):
        class_archive.make_archive()
