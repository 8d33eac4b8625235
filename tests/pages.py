"""Finds the Python blocks of a page, and runs them one after the other as a reader would."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def python_blocks(page: str) -> list[str]:
    """Every block of Python on a page, with its line numbers, so that errors point to it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        "\n" * text.count("\n", 0, found.start(1)) + found[1]
        for found in re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    ]


def run_blocks(
    page: str, names: dict[str, Any], places: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """Run a page's blocks with `names` defined; `places` replaces the folders that it names."""
    for block in python_blocks(page):
        for named, folder in (places or {}).items():
            block = block.replace(f'"{named}"', repr(str(folder)))
        exec(compile(block, page, "exec"), names)
    return names
