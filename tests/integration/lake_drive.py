"""One lake's part of the tests, in a process of its own: a job from its table into its tables.

Prints as JSON the rows of each query's table after the stream has ended, and after its last
micro-batch has been run again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kafka_messages import closing, trades
from pyspark.sql import SparkSession

from weft.cli.stream import started
from weft.job import load_job
from weft.job.model import Job
from weft.sinks import DeltaSink, IcebergSink
from weft.spark.jobs import job_session

JOB = """
source: {{format: {kind}, {source}, time: ts, watermark: 10 minutes}}
queries:
  - {{name: minute, aggs: {{n: count(*), total: sum(size)}}, range: 1 minute, by: [symbol]}}
  - {{name: sliding, aggs: {{n: count(*), total: sum(size)}}, range: 5 minutes, slide: 2 minutes,
     by: [symbol]}}
sink: {{kind: {kind}, {sink}}}
checkpoint: ck
connectors: [{kind}]
spark:
  spark.master: local[2]
  spark.sql.session.timeZone: UTC
  spark.databricks.delta.snapshotPartitions: 2
  spark.sql.catalog.lake: org.apache.iceberg.spark.SparkCatalog
  spark.sql.catalog.lake.type: hadoop
  spark.sql.catalog.lake.warehouse: {folder}/warehouse
"""
PLACES = {
    "delta": {
        "source": "path: in, options: {maxFilesPerTrigger: 1}",
        "sink": "path: out",
    },
    "iceberg": {
        "source": "table: lake.db.trades, options: {streaming-max-files-per-micro-batch: 1}",
        "sink": "table: 'lake.answers.{query}'",
    },
}


def fill(spark: SparkSession, folder: Path, kind: str) -> None:
    """The source table, in several commits and out of order."""
    sent = trades(600)
    for number, part in enumerate([sent[:250], sent[250:500], sent[500:], closing()]):
        rows = [(row.at, row.symbol, row.size) for row in part]
        frame = spark.createDataFrame(rows, "at long, symbol string, size long").coalesce(1)
        frame = frame.selectExpr("timestamp_seconds(at) AS ts", "symbol", "size")
        if kind == "delta":
            frame.write.format("delta").mode("append").save(str(folder / "in"))
        elif number == 0:
            frame.writeTo("lake.db.trades").using("iceberg").create()
        else:
            frame.writeTo("lake.db.trades").append()


def answers(spark: SparkSession, folder: Path, kind: str) -> dict[str, list[list]]:
    """Every query's table, all of its rows."""
    found = {}
    for number, query in enumerate(("minute", "sliding"), start=1):
        if kind == "delta":
            frame = spark.read.format("delta").load(DeltaSink(f"{folder}/out").table(query, number))
        else:
            frame = spark.table(IcebergSink("lake.answers.{query}").table(query, number))
        rows = frame.selectExpr("unix_seconds(window.start)", "symbol", "n", "total").collect()
        found[query] = [list(row) for row in rows]
    return found


def run(spark: SparkSession, job: Job) -> int:
    """Run the stream over all there is; returns how many answers it delivered."""
    running = started(spark, job, trigger="available_now")
    running.await_termination(180)
    running.stop()
    return sum(query.answers for query in running.status().queries)


def main(folder: Path, kind: str) -> None:
    text = JOB.format(kind=kind, folder=folder, **PLACES[kind])
    (folder / "job.yaml").write_text(text)
    job = load_job(folder / "job.yaml")
    with job_session(job) as spark:
        fill(spark, folder, kind)
        run(spark, job)
        first = answers(spark, folder, kind)
        # What a crash between the sink's write and Spark's commit leaves behind.
        last = max(int(file.name) for file in (folder / "ck" / "commits").glob("[0-9]*"))
        (folder / "ck" / "commits" / str(last)).unlink()
        (folder / "ck" / "commits" / f".{last}.crc").unlink(missing_ok=True)
        again = run(spark, job)
        found = {"spark": spark.version, "first": first, "delivered again": again}
        print(json.dumps({**found, "after": answers(spark, folder, kind)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
