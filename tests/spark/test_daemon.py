"""Workers are forked from a process that has already imported what they need, so start quickly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from weft.spark.daemon import prefer_installed

STREAM = """
import json, sys, time
from pathlib import Path
import weft
from weft.spark.session import local_session

spark = local_session(2)
spark.range(100).selectExpr("timestamp_seconds(id) AS ts", "id % 3 AS k").write.parquet("in")
stream = spark.readStream.schema("ts timestamp, k bigint").parquet("in")
loom = weft.Loom(stream, time="ts", watermark="1 second")
loom.add("SELECT k, count(*) / 2 AS n FROM t GROUP BY window(ts, '10 seconds'), k", name="q")
running = loom.start("out", checkpoint="checkpoint", trigger="200 milliseconds")
while not running.progress.frontier:
    time.sleep(0.1)
commands = {p.parent: p.read_text().split(chr(0)) for p in Path("/proc").glob("[0-9]*/cmdline")}
java = spark.sparkContext._gateway.proc.pid
parents = [int((place / "stat").read_text().split(") ")[-1].split()[1])
           for place, words in commands.items() if "weft.spark.daemon" in words]
running.stop()
print(json.dumps({"daemons": parents.count(java), "workers": len(parents)}))
"""


def test_the_zip_files_of_an_installed_pyspark_are_left_out(monkeypatch):
    lib = f"{Path(pyspark.__file__).parent}/python/lib"
    zips = [f"{lib}/pyspark.zip", f"{lib}/py4j-0.10.9.9-src.zip"]
    monkeypatch.setattr(sys, "path", [*zips, "/mine.zip", *sys.path])
    prefer_installed()
    assert sys.path[0] == "/mine.zip"
    assert not set(zips) & set(sys.path)


def test_those_of_another_spark_stay(monkeypatch):
    path = ["/opt/spark/python/lib/pyspark.zip", *sys.path]
    monkeypatch.setattr(sys, "path", list(path))
    prefer_installed()
    assert sys.path == path


def test_they_stay_where_nothing_else_has_pyspark(monkeypatch):
    path = ["/spark/python/lib/pyspark.zip", "/nowhere"]
    monkeypatch.setattr(sys, "path", list(path))
    monkeypatch.setattr("weft.spark.daemon.find_spec", lambda name: None)
    prefer_installed()
    assert sys.path == path


def test_workers_have_weft_before_anything_is_asked_of_them(spark: SparkSession):
    def loaded(batches):
        import sys as workers

        import pyarrow as pa

        for _ in batches:
            names = {"weft.engine.preaggregate", "numba", "pandas"} <= set(workers.modules)
            zipped = any(place.endswith("pyspark.zip") for place in workers.path)
            yield pa.RecordBatch.from_pydict({"good": [names and not zipped]})

    found = spark.range(1, numPartitions=1).mapInArrow(loaded, "good boolean").collect()
    assert [row.good for row in found] == [True]


@pytest.mark.integration
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_stream_has_one_daemon_for_all_its_workers(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", STREAM], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["daemons"] == 1
    assert told["workers"] > 1


@pytest.mark.parametrize(
    "module",
    [
        "weft.sinks.long",
        "weft.sinks.parquet",
        "weft.sinks.postgres",
        "weft.sinks.wire",
        "weft.spark.batch.finals",
        "weft.spark.streaming.encode",
        "weft.spark.streaming.operator",
    ],
)
def test_workers_load_nothing_of_sql_and_planning(module: str):
    """Each worker loads what it is sent in the first micro-batch, so this must be little."""
    code = f"import {module}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"weft.query.sql", "weft.plan.plan"} & set(done.stdout.split())
