"""Jars by name: a Maven that has only some of them, and errors that say what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weft.errors import EngineError
from weft.job.maven import Jar, complaint, fetch
from weft.spark import connectors

MVN = """#!/usr/bin/env python3
import re, sys, pathlib
pom = pathlib.Path(sys.argv[sys.argv.index("--file") + 1])
with open({log!r}, "a") as log: print("called", file=log)
for item in re.findall("<artifactItem>(.*?)</artifactItem>", pom.read_text()):
    given = dict(re.findall(r"<(\\w+)>(.*?)</", item))
    name = f"{{given['artifactId']}}-{{given['version']}}"
    if name not in {there!r}:
        print(f"[ERROR] Failed to execute goal x (y) on project z: Unable to find {{name}} in "
              "central (https://example.org/maven2) -> [Help 1]")
        sys.exit(1)
    pathlib.Path(given["outputDirectory"], name + ".jar").write_text(name)
"""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a fake Maven on the path that has these jars; return a counter of its calls."""

    def made(*there: str) -> Path:
        program, log = tmp_path / "bin" / "mvn", tmp_path / "log"
        program.parent.mkdir()
        program.write_text(MVN.format(log=str(log), there=there))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        return log

    return made


def test_all_at_once_where_all_is_published(maven, tmp_path):
    log = maven("a-1", "b-2")
    jars = [Jar("g:a", ("1",)), Jar("g:b", ("2", "1"))]
    assert [file.name for file in fetch(jars, tmp_path)] == ["a-1.jar", "b-2.jar"]
    assert fetch(jars, tmp_path)[0].read_text() == "a-1"
    assert log.read_text().count("called") == 1
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_the_next_version_where_one_is_not(maven, tmp_path):
    maven("a-4.2.0", "b-2")
    jars = [Jar("g:a", ("{spark}", "4.2.0", "4.1.0")).on("4.3.0"), Jar("g:b", ("2",))]
    assert [file.name for file in fetch(jars, tmp_path)] == ["a-4.2.0.jar", "b-2.jar"]


def test_a_jar_that_is_not_there_is_named(maven, tmp_path):
    maven()
    message = r"^g:a: Maven found none of the versions 2, 1: Unable to find a-1 in central$"
    with pytest.raises(EngineError, match=message):
        fetch([Jar("g:a", ("2", "1"))], tmp_path)


def test_no_maven(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"apt-get install maven.*spark\.jars\.packages"):
        fetch([Jar("g:a", ("1",))], tmp_path)


def test_settings_bring_jars_and_extensions(maven, tmp_path, monkeypatch):
    modules = ("storage", "kernel-api", "kernel-defaults", "kernel-unitycatalog", "spark_4.1_2.13")
    delta = [f"delta-{module}-4.4.0" for module in modules]
    maven(*delta, "iceberg-spark-runtime-4.1_2.13-1.12.0")
    monkeypatch.setenv("WEFT_JARS", str(tmp_path / "jars"))
    found = connectors.settings(["delta", "iceberg", "delta"], "4.1.3")
    assert found["spark.jars"].count(".jar") == 6
    assert found["spark.sql.extensions"].count("Extension") == 2


def test_what_has_no_build_or_is_not_known_is_refused():
    with pytest.raises(
        EngineError, match=r"no build that runs on Spark 4\.3\.0, only on 4\.0, 4\.1"
    ):
        connectors.settings(["delta"], "4.3.0")
    with pytest.raises(EngineError, match="'kafak': accepted are kafka, avro"):
        connectors.settings(["kafak"], "4.3.0")


def test_a_complaint_has_no_address():
    assert "://" not in complaint("[ERROR] cannot reach https://host/x and http://other: refused")
    assert complaint("") == "Maven failed without a word"
