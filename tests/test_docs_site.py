"""The site's navigation and the pages agree, and links lead somewhere, without building it."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import yaml

from pages import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_hooks", ROOT / "scripts" / "docs_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed(nav: list[Any]) -> Iterator[str]:
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from listed(below) if isinstance(below, list) else [below]


def test_every_page_is_in_the_navigation_once(hooks: ModuleType) -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    config = hooks.on_config({"docs_dir": str(DOCS), "nav": nav})
    assert sorted(listed(config["nav"])) == [page.relative_to(DOCS).as_posix() for page in PAGES]


def test_only_pages_that_come_later_may_be_missing(hooks: ModuleType, tmp_path) -> None:
    nav = [{"A": "cli.md"}, {"B": [{"C": "job-file.md"}, "other.md", {"D": "gone.md"}]}]
    config = {"docs_dir": str(tmp_path), "nav": nav}
    assert hooks.on_config(config)["nav"] == [{"B": ["other.md", {"D": "gone.md"}]}]
    (tmp_path / "cli.md").touch()
    assert list(listed(hooks.on_config({"docs_dir": str(tmp_path), "nav": nav})["nav"])) == [
        "cli.md",
        "other.md",
        "gone.md",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)", prose):
        if not link.startswith("https://"):
            assert (page.parent / link).exists(), link


def test_every_name_of_the_reference_is_there() -> None:
    names = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) >= 30
    for name in names:
        module, _, last = name.rpartition(".")
        if name == "weft.errors":
            continue
        assert hasattr(importlib.import_module(module), last), name


def test_the_reference_has_every_public_name() -> None:
    import weft

    text = (DOCS / "api.md").read_text(encoding="utf-8")
    for name in set(weft.__all__) - {"__version__", "WeftError"}:
        assert re.search(rf"^::: weft\.\S*\.{name}$", text, re.MULTILINE), name
