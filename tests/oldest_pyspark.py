"""The oldest PySpark that pyproject.toml claims, beside the installed one: a folder for PYTHONPATH.

Tests that need an older Spark than the installed one share it: what weft claims to run on, and
Delta Lake and Iceberg, which have no build for the newest.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from weft.spark.connectors import cache

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def oldest_version() -> str:
    """The least version of the range in pyproject.toml."""
    claimed = re.search(r'"pyspark>=([\d.]+)', _PROJECT.read_text("utf-8"))
    assert claimed is not None
    return claimed[1]


def oldest_pyspark() -> Path:
    """Its folder, installed if need be; the test fails by name if it cannot be had.

    Once whole, the folder bears its name; until then it has another.
    """
    wanted = f"pyspark=={oldest_version()}"
    folder = cache().parent / wanted.replace("==", "-")
    if folder.exists():
        return folder
    made = folder.with_name(f".{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    done = subprocess.run(
        [*command, str(made), wanted], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        pytest.fail(f"{wanted} cannot be installed: {done.stderr[-500:]}")
    return made.rename(folder)


def environ() -> dict[str, str]:
    """The environment of a process that runs on it."""
    paths = [str(oldest_pyspark()), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
