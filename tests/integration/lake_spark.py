"""The Spark that the lakes' builds run on, beside the installed one: PySpark in a folder.

Neither Delta Lake nor Iceberg has a build for the newest Spark, so their tests run on the newest
that both have one for (weft.spark.connectors says what was seen on others).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.errors import EngineError
from weft.spark import connectors

VERSION = "4.1.3"


def pyspark() -> Path:
    """The folder of that PySpark, installed if need be; the test fails by name if it cannot."""
    folder = connectors.cache().parent / f"pyspark-{VERSION}"
    if folder.exists():
        return folder
    made = folder.with_name(f".{folder.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    wanted = f"pyspark=={VERSION}"
    done = subprocess.run([*command, str(made), wanted], capture_output=True, text=True)
    if done.returncode:
        pytest.fail(f"{wanted} cannot be installed: {done.stderr[-500:]}")
    return made.rename(folder)


def drive(folder: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """Run lake_drive.py on that Spark."""
    try:
        connectors.settings([kind], VERSION)
    except EngineError as error:
        pytest.fail(f"{kind}: {error}")
    paths = [str(pyspark()), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("lake_drive.py")), str(folder), kind],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=300,
    )


if __name__ == "__main__":
    print(pyspark(), connectors.settings(["delta", "iceberg"], VERSION))
