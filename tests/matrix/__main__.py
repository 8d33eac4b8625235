"""`python -m tests.matrix [--only NAME ...] [--on VERSION ...]`: the table of docs/operations.md.

Each cell is a run of existing tests by a Python that imports that PySpark. The outcomes are stored
in outcomes.json, so that a part can be run again; the table shows all of them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.faults.outcome import write_between

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from oldest_pyspark import LAKES, environ, oldest_version  # noqa: E402

NEWEST = "4.3.0"
VERSIONS = (oldest_version(), LAKES, "4.2.1", NEWEST)
OUTCOMES = Path(__file__).with_name("outcomes.json")
PAGE = ROOT / "docs" / "operations.md"
MARKER = "matrix"
ROWS: Mapping[str, tuple[str, ...]] = {
    "batch by both engines; stream, killed, restarted": (
        "tests/spark/test_pyspark_versions.py::"
        "test_a_batch_a_stream_a_kill_and_a_restart[{version}]",
    ),
    "rescale": ("tests/spark/streaming/test_rescale.py",),
    "Kafka": ("tests/integration/test_kafka.py",),
    "Kafka, rows as JSON and Avro": ("tests/integration/test_kafka_values.py",),
    "Delta Lake": (
        "tests/integration/test_lakes.py::test_from_a_table_into_tables_exactly_once"
        "[delta-{version}]",
        "tests/integration/test_lakes.py::test_a_table_that_is_altered[{version}]",
    ),
    "Iceberg": (
        "tests/integration/test_lakes.py::test_from_a_table_into_tables_exactly_once"
        "[iceberg-{version}]",
    ),
    "PostgreSQL": ("tests/integration/test_postgres.py",),
    "Spark Connect, batch": ("tests/spark/test_deployments.py::test_on_spark_connect",),
    "standalone cluster, a worker killed": ("tests/integration/test_cluster.py",),
}
CANNOT: Mapping[tuple[str, str], str] = {
    ("rescale", VERSIONS[0]): "needs 4.2",
    ("rescale", LAKES): "needs 4.2",
    ("Delta Lake", NEWEST): "no build",
    ("Iceberg", "4.2.1"): "no build",
    ("Iceberg", NEWEST): "no build",
}
"""The cells that are not run, and why."""


def run(row: str, version: str) -> str:
    """Run the tests of a cell, and return how they ended."""
    tests = [test.format(version=version) for test in ROWS[row]]
    # The lakes' and the versions' tests choose their PySpark by themselves.
    chosen = None if "{version}" in ROWS[row][0] or version == NEWEST else environ(version)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        env=chosen,
        capture_output=True,
        text=True,
        check=False,
    )
    told = re.findall(r"(\d+) (passed|failed|error)", done.stdout.splitlines()[-1])
    ended = ", ".join(f"{count} {how}" for count, how in told) or f"exit code {done.returncode}"
    print(f"{version}  {row}: {ended}, {time.monotonic() - began:.0f} s", flush=True)
    if done.returncode:
        print(done.stdout[-3000:], done.stderr[-1000:], flush=True)
    return ended


def table(outcomes: Mapping[str, Mapping[str, str]]) -> str:
    """The outcomes as Markdown.

    >>> print(table({"rescale": {"4.2.1": "6 passed"}}).splitlines()[3])
    | rescale | needs 4.2 | needs 4.2 | 6 passed | not run |
    """
    lines = [f"| | {' | '.join(VERSIONS)} |", f"|---|{'---|' * len(VERSIONS)}"]
    for row in ROWS:
        found = outcomes.get(row, {})
        cells = [
            CANNOT.get((row, version)) or found.get(version, "not run") for version in VERSIONS
        ]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--on", nargs="+", choices=VERSIONS, default=list(VERSIONS))
    given = parser.parse_args()
    outcomes = json.loads(OUTCOMES.read_text("utf-8")) if OUTCOMES.exists() else {}
    for row in given.only:
        for version in given.on:
            if (row, version) not in CANNOT:
                outcomes.setdefault(row, {})[version] = run(row, version)
                OUTCOMES.write_text(json.dumps(outcomes, indent=1) + "\n", encoding="utf-8")
                write_between(PAGE, MARKER, table(outcomes))
    ran = [outcomes[row].get(version, "") for row in given.only for version in given.on]
    return int(any("failed" in ended or "error" in ended for ended in ran))


if __name__ == "__main__":
    sys.exit(main())
