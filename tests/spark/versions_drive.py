"""A short test with a batch, a stream, a kill and a restart, on whichever PySpark is on the path.

`stream FOLDER` makes rows and runs a stream on them, a file per micro-batch, until it is killed.
`finish FOLDER` runs the same queries in a batch with both engines, and compares with plain Spark;
then it restarts the killed stream, and compares its answers with those of the batch.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from weft import Loom, Query, Window, read_results
from weft.plan.time_axis import TimeAxis

QUERIES = (
    Query("five", aggs={"n": "count(*)", "s": "sum(x)", "a": "avg(y)"}, by=["k"],
          window=Window(range="20 minutes", slide="5 minutes")),
    Query("ten", aggs={"n": "count(DISTINCT k)", "m": "max(k)"}, where="x > 3",
          window=Window(range="10 minutes")),
    Query("most", aggs={"hi": "max(y)"}, window=Window(range="7 minutes", slide="2 minutes"),
          having="hi > 10"),
)  # fmt: skip
SCHEMA = "ts timestamp, k string, x bigint, y double"
FILES = 5


def session() -> Any:
    from weft.spark.session import local_session

    settings = {"spark.sql.session.timeZone": "UTC"}
    spark = local_session(2, memory="1g", partitions=2, settings=settings)
    spark.sparkContext.setLogLevel("OFF")
    return spark


def put_rows(folder: Path) -> None:
    """Write files of ten minutes each, with some late rows, and a row that closes all windows."""
    folder.joinpath("in").mkdir(parents=True)
    for number in range(FILES):
        rows = range(200 if number + 1 < FILES else 1)
        times = [1_700_000_000 + 600 * number + i * 37 % 600 - 400 * (i % 9 == 0) for i in rows]
        if number + 1 == FILES:
            times = [1_700_500_000]
        made = {
            "ts": pa.array([at * 1_000_000 for at in times], pa.timestamp("us", "UTC")),
            "k": ["abcdef"[i % 6] for i in rows],
            "x": [i * (number + 3) % 20 for i in rows],
            "y": [i / 8 for i in rows],
        }
        pq.write_table(pa.table(made), folder / "in" / f"{number}.parquet")
        at = 1_000_000 + number  # a stream reads files in the order of their times
        os.utime(folder / "in" / f"{number}.parquet", (at, at))


def loom(df: Any) -> Loom:
    made = Loom(df, time="ts", watermark="10 minutes")
    for query in QUERIES:
        made.add(query)
    return made


def stream(spark: Any, folder: Path) -> Any:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return loom(reader.parquet(f"{folder}/in"))


def places(folder: Path) -> dict[str, str]:
    return {"sink": f"{folder}/out", "checkpoint": f"{folder}/ck"}


def run_until_killed(folder: Path) -> None:
    put_rows(folder)
    spark = session()
    running = stream(spark, folder).start(**places(folder), trigger="200 milliseconds")
    told = -1
    while True:
        batch = running.progress.batch
        if batch > told:
            told = batch
            print(f"batch {batch}", flush=True)
        time.sleep(0.02)


def finish(folder: Path) -> None:
    from weft.spark.verify.native import native

    spark = session()
    told: dict[str, Any] = {"spark": spark.version}
    rows = spark.read.schema(SCHEMA).parquet(f"{folder}/in")
    for engine, options in (("operator", {"slicing": "search"}), ("rewrite", {})):
        report = loom(rows).verify(engine=engine, **options)
        told[engine] = report.ok
    running = stream(spark, folder).start(**places(folder), trigger="available_now")
    told["went on from"] = running.progress.batch
    running.await_termination()
    for query in QUERIES:
        plain = native(rows, TimeAxis("ts"), query).where("window.end < '2023-11-16'")
        found = read_results(spark, f"{folder}/out", query.name)
        told[query.name] = [plain.exceptAll(found).count(), found.exceptAll(plain).count()]
        told[f"{query.name} answers"] = found.count()
    print(json.dumps(told))
    spark.stop()


if __name__ == "__main__":
    act, place = sys.argv[1:]
    run_until_killed(Path(place)) if act == "stream" else finish(Path(place))
