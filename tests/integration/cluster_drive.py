"""A driver on a cluster: weft from the wheel, a batch verified, and a stream to its end.

Arguments: the master's address, the wheel, a folder. Prints a line of JSON for each event. The
wheel is also on PYTHONPATH, because Spark's stateful operator starts a Python on the driver's
machine, which does not get the files shipped to executors.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import SparkSession

import weft
from weft.spark.session import silent_children


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


def where(rows: Iterator) -> Iterator:
    """The path from which a worker imports weft."""
    import weft as found

    for batch in rows:
        yield batch.assign(id=found.__file__)


def queries(loom: weft.Loom) -> weft.Loom:
    aggs = {"n": "count(*)", "total": "sum(size)"}
    minute = weft.Window(range="1 minute")
    sliding = weft.Window(range="5 minutes", slide="2 minutes")
    loom.add(weft.Query("minute", aggs=aggs, window=minute, by=["symbol"]))
    loom.add(weft.Query("sliding", aggs=aggs, window=sliding, by=["symbol"]))
    return loom


def main(master: str, wheel: str, folder: str) -> None:
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "700m",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        # A worker that is killed is noticed by its broken connection, and at the latest by this.
        "spark.network.timeout": "60s",
        "spark.network.timeoutInterval": "10s",
        "spark.executor.heartbeatInterval": "5s",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master(master).appName("weft on a cluster")
    with silent_children():
        spark = builder.config(map=settings).getOrCreate()
    spark.sparkContext.addPyFile(wheel)
    places = spark.range(0, 4, 1, 4).selectExpr("CAST(id AS STRING) AS id")
    found = {row["id"] for row in places.mapInPandas(where, "id string").collect()}
    say(event="workers", weft=sorted(found), parallelism=spark.sparkContext.defaultParallelism)

    schema = "ts TIMESTAMP, symbol STRING, size BIGINT"
    batch = queries(weft.Loom(spark.read.schema(schema).json(f"{folder}/in"), "ts"))
    report = batch.verify(strategy="weave")
    say(event="verified", ok=report.ok, rows=report.rows)

    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    loom = queries(weft.Loom(reader.json(f"{folder}/in"), "ts", watermark="10 minutes"))
    running = loom.start(f"{folder}/out", checkpoint=f"{folder}/ck", trigger="available_now")
    told = -1
    while not running.await_termination(0.2):
        if running.progress.batch > told:
            told = running.progress.batch
            say(event="batch", batch=told)
    for query in ("minute", "sliding"):
        rows = weft.read_results(spark, f"{folder}/out", query)
        rows = rows.selectExpr("unix_seconds(window.start)", "symbol", "n", "total").collect()
        say(event="answers", query=query, rows=[list(row) for row in rows])
    say(event="executors", left=spark.sparkContext.defaultParallelism)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
