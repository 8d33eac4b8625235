"""docs/releases.md: its numbers are those of the source, and versions agree."""

from __future__ import annotations

import re

import weft
from pages import ROOT
from weft.engine.state.codec import LAYOUT
from weft.plan import plan
from weft.stream.catalogue import VERSION

PAGE = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")


def test_the_version_is_said_alike() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{weft.__version__}"\n' in project
    assert f"the version is {weft.__version__}" in PAGE


def test_the_numbers_of_a_checkpoint() -> None:
    rows = dict(re.findall(r"^\| ([^|]+?) \| (\d+) \|", PAGE, re.MULTILINE))
    assert [int(number) for number in rows.values()] == [VERSION, LAYOUT, plan.VERSION]
    assert [name.split()[0] for name in rows] == ["version", "layout", "version"]


def test_the_files_that_it_names_are_there() -> None:
    named = re.findall(r"`((?:tests|src)/[\w/.]+|\w[\w.-]+\.(?:toml|lock)|CHANGELOG\.md)`", PAGE)
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_nothing_is_deprecated_as_it_says() -> None:
    source = (ROOT / "src" / "weft").rglob("*.py")
    assert "Nothing is deprecated at present" in PAGE
    assert not any("DeprecationWarning" in file.read_text(encoding="utf-8") for file in source)
