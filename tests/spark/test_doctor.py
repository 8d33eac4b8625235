"""The doctor on machines that lack something."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from weft.cli import machine as doctor

PROJECT = (Path(__file__).parents[2] / "pyproject.toml").read_text()
GOOD = {"-version": 'openjdk version "21.0.2"', "--list-modules": "jdk.incubator.vector@21"}


def java(monkeypatch, outputs: dict[str, str]) -> dict[str, str]:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return {check.name: check.state for check in doctor.java(lambda c: outputs[c[1]])}


def test_the_ranges_are_those_of_the_project():
    for name, (low, high) in doctor.PACKAGES.items():
        assert re.search(rf'^    "{name}>={low},<{high}"', PROJECT, re.MULTILINE), name


@pytest.mark.parametrize(
    ("changes", "states"),
    [
        ({}, ["ok", "ok"]),
        ({"-version": 'java version "1.8.0_392"'}, ["missing"]),
        ({"-version": "something else"}, ["missing"]),
        ({"--list-modules": "java.base@21"}, ["ok", "missing"]),
    ],
)
def test_java(monkeypatch, changes, states):
    assert list(java(monkeypatch, {**GOOD, **changes}).values()) == states


def test_no_java(monkeypatch):
    def fail(command):
        raise FileNotFoundError(command[0])

    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    (check,) = doctor.java(fail)
    assert (check.state, check.found) == ("missing", "JAVA_HOME=/nowhere (FileNotFoundError)")
    assert "apt-get install openjdk-17" in check.advice


def test_java_that_fails(monkeypatch):
    def fail(command):
        raise subprocess.CalledProcessError(1, command)

    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert doctor.java(fail)[0].state == "missing"


@pytest.mark.parametrize(
    ("found", "state"),
    [("2.1.9", "missing"), ("2.2.0", "ok"), ("2.3.3", "ok"), ("3.0.1", "missing")],
)
def test_a_package_out_of_range(monkeypatch, found, state):
    monkeypatch.setattr(doctor, "version", lambda name: found)
    check = doctor.package("pandas")
    assert check.state == state
    assert ("pip install 'pandas>=2.2,<3'" in check.advice) == (state == "missing")


def test_a_package_that_is_not_there(monkeypatch):
    def fail(name):
        raise doctor.PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", fail)
    assert doctor.package("grpcio").found == "not installed"


def test_spark_is_not_tried_where_java_is_missing(monkeypatch):
    missing = doctor.Check("Java", "missing", "none")
    monkeypatch.setattr(doctor, "java", lambda: [missing])
    monkeypatch.setattr(doctor, "spark", lambda job: pytest.fail("Spark was tried"))
    assert list(doctor.checks())[-1].found == "not tried"


def test_little_memory_and_a_full_disk_are_warnings(monkeypatch):
    monkeypatch.setattr(doctor, "MEMORY", 1 << 60)
    monkeypatch.setattr(doctor, "DISK", 1 << 60)
    assert doctor.memory().state == "warning"
    assert [check.state for check in doctor.disk()] == ["warning"]
