"""Packages in other versions than the installed ones: each in a separate folder, for PYTHONPATH."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.spark.connectors import cache


def installed(wanted: str, *, alone: bool = False) -> Path:
    """The folder of a requirement, installed if necessary; if that fails, so does the test.

    Its dependencies are installed too, unless `alone`. The folder is renamed once it is complete.
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
    """The environment of a process that imports packages from a folder first."""
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
