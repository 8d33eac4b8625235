"""The lakes' tests on the Spark that both have a build for: the oldest that weft claims.

Neither Delta Lake nor Iceberg has one for the newest (weft.spark.connectors says what was seen).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from oldest_pyspark import environ, oldest_pyspark, oldest_version
from weft.errors import EngineError
from weft.spark import connectors


def drive(folder: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """Run lake_drive.py on that Spark."""
    try:
        connectors.settings([kind], oldest_version())
    except EngineError as error:
        pytest.fail(f"{kind}: {error}")
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("lake_drive.py")), str(folder), kind],
        env=environ(),
        capture_output=True,
        text=True,
        timeout=300,
    )


if __name__ == "__main__":
    print(oldest_pyspark(), connectors.settings(sys.argv[1:], oldest_version()))
