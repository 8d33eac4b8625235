"""The same answers on Spark Connect and on a cluster of processes; each in its own process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

JOB = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
sys.path.insert(0, {tests!r})
from pyspark.sql import SparkSession
spark = {builder}.config("spark.sql.shuffle.partitions", "2") \\
    .config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false").getOrCreate()
import weft
from weft.spark.loom import Loom

df = spark.range(2000).selectExpr(
    "timestamp_seconds(id) AS ts", "id % 3 AS k", "CAST(id % 11 AS DOUBLE) AS v")
loom = Loom(df, "ts")
for n, where in enumerate((None, "v > 2", "v > 5", "k = 1", "v < 9 AND k <> 2")):
    loom.add(weft.Query(f"q{{n}}", aggs={{"s": "sum(v)", "m": "max(k)", "d": "var_pop(v)"}},
             window=weft.Window(range=f"{{60 + 30 * n}} seconds", slide="30 seconds"),
             where=where, by="k", trusted=False))
report = loom.verify(strategy="share_all")
print(report)
rewritten = loom.verify(engine="rewrite", strategy="weave")
print(rewritten)
assert report.ok and rewritten.ok and report.rows > 500
print("ALL EQUAL")

# The second gate by itself, on texts that the first would have refused.
from weft.query.trust import Text
from weft.query.syntax import reader
from weft.spark import parsed
reader.refuse_substitution = lambda *given: None
parsed.check_untrusted = lambda queries: None
for where in ("s = '${{a'||\\"}}'||(SELECT 1)--\\"", "reflect('java.lang.System', 'a') = 'x'",
              "secret = 'x'", "v > 1 AND my_function(v)", "exists(array(v), x -> secret > x)"):
    parsed.texts = lambda query: [Text(where)]
    try:
        parsed.check_parsed(df, [weft.Query("q", aggs={{"n": "count(*)"}}, trusted=False,
                                            window=weft.Window(range="1 minute"))])
    except weft.WeftError as error:
        print("REFUSED", error)
    else:
        raise AssertionError(where)
try:
    weft.rescale(spark, "nowhere", partitions=2)
except weft.WeftError as error:
    print("RESCALE", error)
streaming = spark.readStream.format("rate").load().selectExpr("timestamp AS ts", "value AS v")
loom = Loom(streaming, "ts", "1 minute")
loom.add(weft.Query("q", aggs={{"n": "count(*)"}}, window=weft.Window(range="1 minute")))
if hasattr(spark, "_jsparkSession"):
    print("STREAM runs in a classic session")
else:
    try:
        loom.start("out-of-connect", checkpoint="ck-of-connect")
    except weft.WeftError as error:
        print("STREAM", error, os.path.exists("ck-of-connect"))
"""


def run(builder: str) -> str:
    code = textwrap.dedent(JOB.format(tests=str(Path(__file__).parent), builder=builder))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


def test_on_a_cluster_of_processes() -> None:
    told = run("SparkSession.builder.master('local-cluster[2,1,1024]')")
    assert told.count("REFUSED") == 5
    assert "RESCALE nowhere: no stream of weft has been started" in told


def test_on_spark_connect() -> None:
    told = run("SparkSession.builder.remote('local[2]')")
    assert told.count("REFUSED") == 5
    assert "RESCALE rescale: Spark Connect cannot move a stream's state" in told
    refused = next(line for line in told.splitlines() if line.startswith("STREAM"))
    assert "start(): streams do not run on Spark Connect" in refused
    assert refused.endswith("run() works on Spark Connect False")
