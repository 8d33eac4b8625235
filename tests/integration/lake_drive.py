"""The tests of one lake, in a separate process: a job from a table of the lake to others.

`FOLDER KIND` prints as JSON the rows of each query's table after the stream has ended, and after
its last micro-batch has been run again; `FOLDER KIND altered` those of a stream whose table is
altered between its runs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kafka_messages import Trade, closing, trades
from pyspark.sql import DataFrame, SparkSession

from weft.cli.stream import started
from weft.errors import WeftError
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


def parts() -> list[list[Trade]]:
    """The rows of each commit, out of order."""
    sent = trades(600)
    return [sent[:250], sent[250:500], sent[500:], closing()]


def rows_of(spark: SparkSession, part: list[Trade]) -> DataFrame:
    rows = [(row.at, row.symbol, row.size) for row in part]
    frame = spark.createDataFrame(rows, "at long, symbol string, size long").coalesce(1)
    return frame.selectExpr("timestamp_seconds(at) AS ts", "symbol", "size")


def fill(spark: SparkSession, folder: Path, kind: str) -> None:
    """The source table, in several commits."""
    for number, part in enumerate(parts()):
        frame = rows_of(spark, part)
        if kind == "delta":
            frame.write.format("delta").mode("append").save(str(folder / "in"))
        elif number == 0:
            frame.writeTo("lake.db.trades").using("iceberg").create()
        else:
            frame.writeTo("lake.db.trades").append()


def answers(spark: SparkSession, folder: Path, kind: str) -> dict[str, list[list]]:
    """All rows of every query's table."""
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
    """Run the stream over all available rows; return how many answers it delivered."""
    running = started(spark, job, trigger="available_now")
    running.await_termination(180)
    running.stop()
    return sum(query.answers for query in running.status().queries)


def made_job(folder: Path, kind: str) -> Job:
    text = JOB.format(kind=kind, folder=folder, **PLACES[kind])
    (folder / "job.yaml").write_text(text)
    return load_job(folder / "job.yaml")


def twice(folder: Path, kind: str) -> None:
    """Run a stream to its end, and then its last micro-batch again."""
    job = made_job(folder, kind)
    with job_session(job) as spark:
        fill(spark, folder, kind)
        run(spark, job)
        first = answers(spark, folder, kind)
        # The files as a crash between the sink's write and Spark's commit leaves them.
        last = max(int(file.name) for file in (folder / "ck" / "commits").glob("[0-9]*"))
        (folder / "ck" / "commits" / str(last)).unlink()
        (folder / "ck" / "commits" / f".{last}.crc").unlink(missing_ok=True)
        again = run(spark, job)
        found = {"spark": spark.version, "first": first, "delivered again": again}
        print(json.dumps({**found, "after": answers(spark, folder, kind)}))


def altered(folder: Path, kind: str) -> None:
    """Add a column to a Delta table and, after all rows are processed, rename one."""
    assert kind == "delta"
    job, table = made_job(folder, kind), f"delta.`{folder}/in`"
    with job_session(job) as spark:
        for number, part in enumerate(parts()):
            frame = rows_of(spark, part)
            if number:
                frame = frame.selectExpr("*", "concat('at ', symbol) AS venue")
            writer = frame.write.format("delta").mode("append").option("mergeSchema", "true")
            writer.save(str(folder / "in"))
            run(spark, job)
        found: dict[str, object] = {"spark": spark.version, "after": answers(spark, folder, kind)}
        named = "'delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', "
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({named}'delta.minWriterVersion' = '5')")
        spark.sql(f"ALTER TABLE {table} RENAME COLUMN size TO amount")
        try:
            run(spark, job)
        except WeftError as error:
            found["refused"] = str(error)
        print(json.dumps({**found, "unchanged": answers(spark, folder, kind)}))


if __name__ == "__main__":
    act = altered if sys.argv[3:] == ["altered"] else twice
    act(Path(sys.argv[1]), sys.argv[2])
