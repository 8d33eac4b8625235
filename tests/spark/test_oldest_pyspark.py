"""The oldest PySpark that pyproject.toml allows: a batch and a stream work as on the newest."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from oldest_pyspark import environ, oldest_version

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
PARTS = (
    "src/weft/spark/arrow.py",
    "tests/spark/test_loom.py::test_empty_one_row_all_filtered_and_no_times",
    "tests/spark/streaming/test_axes.py",
    "tests/spark/test_trust_on_spark.py::test_what_honest_users_write_passes_both_gates",
    "tests/spark/test_trust_on_spark.py::test_what_substitution_uncovers_is_refused_by_the_tree",
)


def test_the_oldest_claimed_pyspark_gives_the_same_answers() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PARTS],
        cwd=ROOT,
        env=environ(oldest_version()),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed", done.stdout)
