"""The oldest PySpark that pyproject.toml claims: a batch and a stream on it, as on the newest."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
PARTS = (
    "src/weft/spark/arrow.py",
    "tests/spark/test_loom.py::test_empty_one_row_all_filtered_and_no_times",
    "tests/spark/streaming/test_axes.py",
)


def test_the_oldest_claimed_pyspark_gives_the_same_answers(tmp_path: Path) -> None:
    claimed = re.search(r'"pyspark>=([\d.]+)', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert claimed
    uv, oldest = Path(sys.executable).with_name("uv"), tmp_path / "oldest"
    wanted = f"pyspark=={claimed[1]}"
    command = ["pip", "install", "--quiet", "--no-deps", "--target", str(oldest), wanted]
    subprocess.run([str(uv), *command, "--python", sys.executable], check=True, timeout=600)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PARTS],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(oldest)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert re.search(r"\d+ passed", done.stdout)
