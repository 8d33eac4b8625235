"""Environments, in weft's cache, for engines that cannot be installed together with weft."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.support.harness import CannotRun
from weft.spark.connectors import cache

SECONDS = 900.0
"""Time limit of an installation."""


def python_with(*wanted: str) -> Path:
    """The Python of an environment with these requirements; it is named after the first one.

    If it does not exist, it is created with the machine's pip, in a folder that is renamed once it
    is complete.
    """
    folder = cache().parent / f"peer-{wanted[0].replace('==', '-')}"
    if not folder.exists():
        made = folder.with_name(f".{folder.name}.{os.getpid()}")
        _do(wanted[0], sys.executable, "-m", "venv", str(made))
        _do(wanted[0], str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted)
        made.rename(folder)
    return folder / "bin" / "python"


def _do(wanted: str, *command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise CannotRun(f"{wanted} was not installed within {SECONDS:.0f} s: try again") from error
    if done.returncode:
        raise CannotRun(
            f"{wanted} cannot be installed; it takes pip with an index and Python 3.10 to 3.12: "
            f"{done.stderr.strip()[-300:]}"
        )
