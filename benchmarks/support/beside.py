"""Engines that cannot be in one environment with weft: each in one of its own, in weft's cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.support.harness import CannotRun
from weft.spark.connectors import cache

SECONDS = 900.0
"""How long an installation may take."""


def python_with(*wanted: str) -> Path:
    """The Python of an environment that has these requirements, the first of which names it.

    Made with pip, as it is set up on the machine, if it is not there. Once whole, the folder bears
    its name; until then it has another.
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
