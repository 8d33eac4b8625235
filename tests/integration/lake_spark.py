"""The lakes' tests on a Spark version for which both have a build.

Neither Delta Lake nor Iceberg has a build for the newest one (details in weft.spark.connectors).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oldest_pyspark import LAKES, environ, pyspark
from weft.errors import EngineError
from weft.spark import connectors


def drive(folder: Path, kind: str, version: str, *act: str) -> dict[str, Any]:
    """Run lake_drive.py on a version of Spark; return its output."""
    try:
        connectors.settings([kind], version)
    except EngineError as error:
        pytest.fail(f"{kind}: {error}")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("lake_drive.py")), str(folder), kind, *act],
        env=environ(version),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert told["spark"] == version
    return told


if __name__ == "__main__":
    print(pyspark(LAKES), connectors.settings(sys.argv[1:], LAKES))
