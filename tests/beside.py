"""Packages beside the installed ones: each in a folder of its own, for a PYTHONPATH."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.spark.connectors import cache


def installed(wanted: str, *, alone: bool = False) -> Path:
    """The folder of a requirement, installed if need be; the test fails by name if it cannot be.

    With its dependencies, unless it is to be `alone`. Once whole, the folder bears its name; until
    then it has another.
    """
    folder = cache().parent / wanted.replace("==", "-")
    if folder.exists():
        return folder
    made = folder.with_name(f".{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(made), wanted]
    command += ["--no-deps"] if alone else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.fail(f"{wanted} cannot be installed: {done.stderr[-500:]}")
    return made.rename(folder)


def environ(folder: Path) -> dict[str, str]:
    """The environment of a process that finds what is in a folder first."""
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
