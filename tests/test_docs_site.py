"""The site's navigation and the pages agree, and links lead somewhere, without building it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from pages import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def listed(nav: list[Any]) -> Iterator[str]:
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from listed(below) if isinstance(below, list) else [below]


def test_every_page_is_in_the_navigation_once() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(listed(nav)) == [page.relative_to(DOCS).as_posix() for page in PAGES]


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
