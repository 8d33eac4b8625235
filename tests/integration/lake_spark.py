"""The lakes' tests on the Spark that both have a build for.

Neither Delta Lake nor Iceberg has one for the newest (weft.spark.connectors says what was seen).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from oldest_pyspark import LAKES, environ, pyspark
from weft.errors import EngineError
from weft.spark import connectors


def drive(folder: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """Run lake_drive.py on that Spark."""
    try:
        connectors.settings([kind], LAKES)
    except EngineError as error:
        pytest.fail(f"{kind}: {error}")
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("lake_drive.py")), str(folder), kind],
        env=environ(LAKES),
        capture_output=True,
        text=True,
        timeout=300,
    )


if __name__ == "__main__":
    print(pyspark(LAKES), connectors.settings(sys.argv[1:], LAKES))
