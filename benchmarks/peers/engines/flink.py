"""Flink SQL: one INSERT with a HOP window per query, all in one statement set.

It runs without checkpoints, which favours Flink: weft and Spark write one with every micro-batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.peers.delivery import printed
from benchmarks.peers.job import DELAY, Job

NEEDS = ("apache-flink==2.3.0",)
JARS = (
    ("org.apache.flink:flink-sql-parquet", "2.3.0"),
    # Flink's Parquet format needs Hadoop's classes, which it does not include.
    ("org.apache.hadoop:hadoop-client-api", "3.4.2"),
    ("org.apache.hadoop:hadoop-client-runtime", "3.4.2"),
)
COLUMNS = "q INT, `start` BIGINT, k INT, n BIGINT, total BIGINT, hi BIGINT, mean DOUBLE"
WATERMARK = f"ts - INTERVAL '{DELAY}' SECOND"


def version() -> str:
    """The installed version."""
    from pyflink.version import __version__

    return str(__version__)


@contextmanager
def stream(job: Job) -> Iterator[Callable[[], dict[str, float]]]:
    """Read the rows from one file in streaming mode, and write answers to Parquet."""
    table = _table_environment(job)
    table.execute_sql(
        "CREATE TABLE events (ts TIMESTAMP_LTZ(3), k INT, v BIGINT, "
        f"WATERMARK FOR ts AS {WATERMARK}) WITH ("
        f"'connector' = 'filesystem', 'path' = 'file://{job.whole.parent}', "
        "'format' = 'parquet')"
    )
    table.execute_sql(
        f"CREATE TABLE answers ({COLUMNS}) WITH ('connector' = 'filesystem', "
        f"'path' = 'file://{job.out}', 'format' = 'parquet')"
    )

    yield partial(_run, table, job)


@contextmanager
def live(job: Job) -> Iterator[Callable[[], dict[str, float]]]:
    """Read the rows from the feed's socket until the feed ends, and print answers."""
    from pyflink.datastream import DataStream, StreamExecutionEnvironment
    from pyflink.table import Schema, StreamTableEnvironment

    streams = StreamExecutionEnvironment.get_execution_environment()
    table = StreamTableEnvironment.create(streams)
    _configure(table, job)
    # Only the Java API has a socket source. No row passes through Python this way.
    lines = streams._j_stream_execution_environment.socketTextStream("127.0.0.1", job.port)
    field = "SPLIT_INDEX(f0, ',', {})".format
    schema = (
        Schema.new_builder()
        .column("f0", "STRING")
        .column_by_expression("ts", f"TO_TIMESTAMP_LTZ(CAST({field(0)} AS BIGINT), 3)")
        .column_by_expression("k", f"CAST({field(1)} AS INT)")
        .column_by_expression("v", f"CAST({field(2)} AS BIGINT)")
        .watermark("ts", WATERMARK)
    )
    table.create_temporary_view("events", table.from_data_stream(DataStream(lines), schema.build()))
    table.execute_sql(f"CREATE TABLE answers ({COLUMNS}) WITH ('connector' = 'print')")

    yield partial(_run, table, job)


def _table_environment(job: Job) -> Any:
    from pyflink.table import EnvironmentSettings, TableEnvironment

    table = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    _configure(table, job)
    return table


def _configure(table: Any, job: Job) -> None:
    settings = {
        "pipeline.jars": ";".join(f"file://{jar}" for jar in job.jars),
        "parallelism.default": "2",
        "table.local-time-zone": "UTC",
    }
    for name, value in settings.items():
        table.get_config().set(name, value)


def _run(table: Any, job: Job) -> dict[str, float]:
    """Plan and run the statement set to its end; return the seconds of planning."""
    began = time.perf_counter()
    running = _submitted(table, job)
    planned = time.perf_counter() - began
    running.wait()
    return {"planning_seconds": planned}


def _submitted(table: Any, job: Job) -> Any:
    """Plan the statement set, and submit it to the cluster in this process."""
    together = table.create_statement_set()
    for number, (range_, slide) in enumerate(job.windows):
        together.add_insert_sql(
            f"INSERT INTO answers SELECT {number}, 1000 * UNIX_TIMESTAMP(CAST(window_start AS "
            "STRING)), k, COUNT(*), SUM(v), MAX(v), AVG(CAST(v AS DOUBLE)) FROM TABLE(HOP(TABLE "
            f"events, DESCRIPTOR(ts), INTERVAL '{slide}' SECOND(4), INTERVAL '{range_}' SECOND(4)))"
            " GROUP BY window_start, window_end, k"
        )
    return together.execute()


def answers(job: Job) -> pa.Table:
    """The answers that the job wrote, with window starts in milliseconds."""
    found = pq.read_table(job.out)
    start = pc.multiply(found["start"], 1000)
    return found.set_column(found.schema.get_field_index("start"), "start", start)


def delivered(job: Job) -> pa.Table:
    """The printed answers, with the times at which they appeared."""
    return printed(job)
