"""A user's first script: a plain session, in a virtual environment that is not activated."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from weft.errors import EngineError
from weft.spark import workers
from weft.spark.workers import fit_workers, look_at

SCRIPT = """
import json, sys
from pyspark.sql import SparkSession
import weft

spark = SparkSession.builder.config("spark.ui.enabled", "false") \\
    .config("spark.sql.shuffle.partitions", "2").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
rows = spark.range(600).selectExpr("timestamp_seconds(id) AS ts", "id % 3 AS k", "id AS v")
asked = spark.sparkContext.pythonExec
if "stream" in sys.argv:
    rows.write.parquet("in")
    stream = spark.readStream.schema(rows.schema).parquet("in")
    loom = weft.Loom(stream, time="ts", watermark="1 minute")
else:
    loom = weft.Loom(rows, time="ts")
windows = [("2 minutes", "1 minute"), ("3 minutes", "1 minute"), ("5 minutes", "2 minutes")]
for n, (range_, slide) in enumerate(windows):
    loom.add(weft.Query(f"q{n}", aggs={"s": "sum(v)", "d": "var_pop(v)"}, by=["k"],
                        window=weft.Window(range=range_, slide=slide)))
if "stream" in sys.argv:
    loom.start("out", checkpoint="ck", trigger="available_now").await_termination()
    count = weft.read_results(spark, "out", "q0").count()
else:
    # A named structure is run by Python workers, whatever the plan.
    count = loom.run(finals="flatfit")["q0"].count()
print(json.dumps({"asked": asked, "runs": spark.sparkContext.pythonExec, "count": count}))
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `python3` is this Python without anything installed."""
    folder = tmp_path_factory.mktemp("bin")
    base = getattr(sys, "_base_executable", sys.executable)
    program = folder / "python3"
    program.write_text(f'#!/bin/sh\nexec "{base}" -S "$@"\n')
    program.chmod(0o755)
    return folder


def environ(bare: Path) -> dict[str, str]:
    """The environment of a shell in which no virtual environment was activated."""
    rest = {n: v for n, v in os.environ.items() if not n.startswith(("PYSPARK_", "VIRTUAL_ENV"))}
    return {**rest, "PATH": f"{bare}{os.pathsep}{rest['PATH']}"}


def run(folder: Path, bare: Path, *args: str) -> dict:
    script = folder / "first.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script.name, *args],
        cwd=folder, env=environ(bare), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_situation_is_the_one_that_failed(bare: Path):
    found = look_at(str(bare / "python3"))
    assert found is not None
    assert {"numba", "pandas", "pyarrow"} <= set(found.lacks)
    assert found.problem is not None
    own = look_at(sys.executable)
    assert own is not None
    assert own.problem is None


@pytest.mark.slow
def test_a_batch(tmp_path: Path, bare: Path):
    told = run(tmp_path, bare)
    assert told == {"asked": "python3", "runs": sys.executable, "count": 33}


@pytest.mark.integration
def test_a_stream(tmp_path: Path, bare: Path):
    told = run(tmp_path, bare, "stream")
    assert told["runs"] == sys.executable
    assert told["count"] > 0


@pytest.mark.integration
def test_the_doctor_tries_a_plain_session(bare: Path):
    done = subprocess.run(
        [sys.executable, "-m", "weft.cli", "doctor", "--json"],
        env=environ(bare), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["ok"], told
    (plain,) = [check for check in told["checks"] if check["name"] == "plain SparkSession"]
    assert "would run" in plain["found"]
    assert f"weft makes them run {sys.executable}" in plain["found"]


def test_a_python_that_is_not_there_is_replaced_and_looked_at_once(
    spark: SparkSession, monkeypatch
):
    context = spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", "/no/such/python")
    fit_workers(spark)
    assert context.pythonExec == sys.executable
    monkeypatch.setattr(workers, "look_at", lambda program: pytest.fail("looked twice"))
    fit_workers(spark)


def test_where_no_python_is_fit_one_sentence_says_so(spark: SparkSession, monkeypatch, bare: Path):
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare / "python3"))
    monkeypatch.setattr(workers, "NEEDED", (*workers.NEEDED, "no_such_package"))
    with pytest.raises(EngineError, match=r"python3' has no .*numba.* has no no_such_package; "):
        fit_workers(spark)
    assert spark.sparkContext.pythonExec == str(bare / "python3")


def test_on_a_cluster_workers_are_asked_themselves(spark: SparkSession, monkeypatch):
    """The job that checks workers is the same on any master."""
    (found,), set_it = workers._on_cluster(spark.sparkContext)
    assert (found.program, found.problem) == (sys.executable, None)
    monkeypatch.setattr(workers, "NEEDED", ("weft", "no_such_package"))
    found, set_it = workers._on_cluster(spark.sparkContext)
    with pytest.raises(EngineError, match=r"which has no no_such_package: set PYSPARK_PYTHON, "):
        workers._check(found, set_it)


def test_on_a_cluster_a_python_that_does_not_start(spark: SparkSession, monkeypatch, bare: Path):
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare / "no-python"))
    with pytest.raises(EngineError, match=r"cannot run '.*no-python' \(.*\): set PYSPARK_PYTHON"):
        workers._on_cluster(spark.sparkContext)
