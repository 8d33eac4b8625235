"""docs/code-map.md is true: its paths exist, and its reading orders are as short as we want."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "code-map.md").read_text(encoding="utf-8")
PATHS = re.findall(r"`((?:src|tests|benchmarks)[\w/.]*)`", PAGE)


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def walked(title: str) -> list[str]:
    """The files of a reading order."""
    return re.findall(r"`(src/weft/[\w/]+\.py)`", section(title).split("\n### ")[0])


def turns_back(files: list[str]) -> int:
    """How often a reading order goes back up, to a package that imports the previous one."""
    order = ["algebra", "query", "plan", "engine", "stream", "spark", "sinks"]
    levels = [order.index(file.split("/")[2]) for file in files]
    return sum(after > before for before, after in pairwise(levels))


def test_every_path_exists() -> None:
    assert len(PATHS) > 60
    assert [path for path in PATHS if not (ROOT / path).exists()] == []


def test_a_batch_query_is_followed_in_45_files() -> None:
    files = walked("A batch query, from SQL to rows")
    assert len(set(files)) == len(files)
    assert 30 < len(files) <= 45
    assert turns_back(files) <= 6


def test_a_micro_batch_is_followed_in_25_files() -> None:
    files = [f for f in walked("A micro-batch of a stream") if not f.endswith("/compile.py")]
    assert len(set(files)) == len(files)
    assert 15 < len(files) <= 25
    assert turns_back(files) <= 6


def test_long_files_are_defended() -> None:
    def lines(path: Path) -> int:
        return len(path.read_text(encoding="utf-8").splitlines())

    long = {str(p.relative_to(ROOT)) for p in (ROOT / "src").rglob("*.py") if lines(p) > 400}
    assert long == set(re.findall(r"`(src/[\w/.]+)`", section("Files of more than 400 lines")))
