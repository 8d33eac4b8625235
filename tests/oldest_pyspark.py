"""The oldest PySpark that pyproject.toml claims, and the one that Delta Lake and Iceberg run on.

Both are installed in addition to the current one, in folders for PYTHONPATH that tests share.
"""

from __future__ import annotations

import re
from pathlib import Path

import beside

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"
LAKES = "4.1.2"
"""The PySpark for which both Delta Lake and Iceberg have a build."""


def oldest_version() -> str:
    """The oldest version of the range in pyproject.toml."""
    claimed = re.search(r'"pyspark>=([\d.]+)', _PROJECT.read_text("utf-8"))
    assert claimed is not None
    return claimed[1]


def pyspark(version: str) -> Path:
    """The folder of a version, installed if necessary."""
    return beside.installed(f"pyspark=={version}", alone=True)


def environ(version: str) -> dict[str, str]:
    """The environment of a process that runs on a version."""
    return beside.environ(pyspark(version))
