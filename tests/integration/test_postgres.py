"""PostgreSQL: upserts by tasks, also with repeated micro-batches, nulls and odd names."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest
from click.testing import CliRunner
from kafka_messages import Trade, trades, windows
from pyspark.sql import SparkSession

from weft.cli import machine as doctor
from weft.cli.main import cli
from weft.errors import EngineError
from weft.job.model import Job, SinkSpec, SourceSpec
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import PostgresSink
from weft.spark.loom import Loom

pytestmark = pytest.mark.integration

AGGS = {"n": "count(*)", "total": "sum(size)"}


def write(rows: list[Trade], folder: Path, name: str) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.loads(row.json()) for row in rows]
    (folder / f"{name}.json").write_text("\n".join(map(json.dumps, lines)))


def stream(
    spark: SparkSession, folder: Path, sink: PostgresSink, mode: str, *queries: Query
) -> int:
    """Run a stream over the files of a folder to its end; return how many answers it gave."""
    reader = spark.readStream.schema("ts TIMESTAMP, symbol STRING, size BIGINT")
    frame = reader.option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    loom = Loom(frame, "ts", "10 minutes")
    for query in queries:
        loom.add(query)
    checkpoint = str(folder / "ck")
    running = loom.start(sink, checkpoint=checkpoint, trigger="available_now", output_mode=mode)
    running.await_termination(240)
    running.stop()
    return sum(query.answers for query in running.status().queries)


def read(url: str, table: str) -> list[tuple]:
    with psycopg.connect(url) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 3").fetchall()


def test_a_micro_batch_that_is_run_again_changes_nothing(
    spark: SparkSession, postgres: str, tmp_path: Path
) -> None:
    sent = trades(600)
    for part in range(3):
        write(sent[part * 200 : (part + 1) * 200], tmp_path / "in", f"{part}")
    write(sent[600:], tmp_path / "in", "3")
    query = Query('sizes "by" symbol', aggs=AGGS, window=Window(range="2 minutes"), by=["symbol"])
    sink = PostgresSink(postgres)
    stream(spark, tmp_path, sink, "update", query)
    table = '"sizes ""by"" symbol"'
    found = read(postgres, table)
    assert {(int(start.timestamp()), *rest) for start, _, *rest in found} == set(
        windows(sent, 120, 120)
    )
    # A crash between the sink's write and Spark's commit: the micro-batch of file 3 runs again.
    for kind, keep in (("commits", 2), ("offsets", 3)):
        for file in (tmp_path / "ck" / kind).iterdir():
            if int(file.name.strip(".").split(".")[0]) > keep:
                file.unlink()
    assert stream(spark, tmp_path, sink, "update", query) > 0
    assert read(postgres, table) == found


def test_answers_of_every_type_and_null_groups(
    spark: SparkSession, postgres: str, tmp_path: Path
) -> None:
    frame = spark.sql(
        "SELECT timestamp_seconds(60 * (id div 4)) AS ts, IF(id % 2 = 0, NULL, 'k\\u0000') AS k,"
        " id AS x FROM range(16)"
    )
    aggs = {
        "s": "sum(x)", "a": "avg(x)", "d": "sum(CAST(x AS DECIMAL(10, 2)))",
        "l": "array_sort(collect_list(x))",
        "b": "bool_and(x > 3)", "t": "max(ts)", "day": "max(CAST(ts AS DATE))"
    }  # fmt: skip
    frame.write.parquet(str(tmp_path / "rows"))
    job = {
        "source": {"format": "parquet", "path": "rows", "time": "ts"},
        "queries": [
            {"name": "types", "aggs": aggs, "range": "1 minute", "by": ["k"]},
        ],
        "sink": {"kind": "postgres", "url": "${PGURL}", "table": "public.batch_{query}"},
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    for _ in range(2):  # again, over itself
        done = CliRunner().invoke(cli, ["run", str(tmp_path / "job.json")], env={"PGURL": postgres})
        assert done.exit_code == 0, done.output
    found = read(postgres, "batch_types")
    assert len(found) == 8
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
    first = next(row for row in found if row[0] == epoch and row[2] is None)
    assert first[1:] == (
        epoch + dt.timedelta(minutes=1), None, 2, 1.0, 2, [0, 2], False, epoch, epoch.date()
    )  # fmt: skip
    assert {row[2] for row in found} == {None, "k\ufffd"}


def test_a_table_of_another_shape_is_refused(postgres: str) -> None:
    from weft.sinks import SinkQuery

    window = pa.struct([("start", pa.int64()), ("end", pa.int64())])
    shape = pa.schema([("window", window), ("n", pa.int64())])
    other = pa.schema([("window", window), ("m", pa.int64())])
    PostgresSink(postgres).open({1: SinkQuery(1, "shape", None, shape, ())}, "append")
    with pytest.raises(EngineError, match="is there with the columns window_start, window_end, n"):
        PostgresSink(postgres).open({2: SinkQuery(2, "shape", None, other, ())}, "append")
    with pytest.raises(EngineError, match="1 to 63 bytes"):
        PostgresSink(postgres).open({3: SinkQuery(3, "x" * 64, None, shape, ())}, "append")


def test_the_doctor_asks_the_server(postgres: str) -> None:
    def asked(url: str) -> list[tuple[str, str]]:
        job = Job("j", SourceSpec("parquet"), (), SinkSpec("postgres", url=url))
        return [(check.state, check.found) for check in doctor.postgres(job)]

    ((state, found),) = asked(postgres)
    assert state == "ok"
    assert found.endswith(" answers")
    ((state, found),) = asked("postgresql://ann:hunter2@127.0.0.1:1/db")
    assert state == "missing"
    assert "cannot be reached" in found
    assert "hunter2" not in found


def test_no_password_in_what_it_says() -> None:
    with pytest.raises(EngineError) as caught:
        PostgresSink("postgresql://ann:hunter2@127.0.0.1:1/db").open({}, "append")
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(PostgresSink("postgresql://ann:hunter2@h/db"))


def test_a_table_that_does_not_take_its_answers_fails_its_query_alone(
    spark: SparkSession, postgres: str, tmp_path: Path
) -> None:
    sent = trades(600)
    write(sent, tmp_path / "in", "0")
    good, bad = (
        Query(name, aggs=AGGS, window=Window(range="2 minutes"), by=["symbol"])
        for name in ("good", "bad")
    )
    sink = PostgresSink(postgres, "apart_{query}")
    with psycopg.connect(postgres) as connection:
        connection.execute(
            "CREATE TABLE apart_bad (window_start timestamptz, window_end timestamptz, symbol text,"
            " n bigint CHECK (n < 0), total bigint,"
            " UNIQUE NULLS NOT DISTINCT (window_start, window_end, symbol))"
        )
    reader = spark.readStream.schema("ts TIMESTAMP, symbol STRING, size BIGINT")
    loom = Loom(reader.json(str(tmp_path / "in")), "ts", "10 minutes")
    for query in (good, bad):
        loom.add(query)
    running = loom.start(sink, checkpoint=str(tmp_path / "ck"), trigger="available_now")
    running.await_termination(240)
    running.stop()
    (failure,) = running.catalogue.failed
    assert failure.query == bad
    assert "its answers cannot be written: CheckViolation" in failure.message
    found = read(postgres, "apart_good")
    told = {(int(start.timestamp()), *rest) for start, _, *rest in found}
    assert len(told) > 5
    assert told <= set(windows(sent, 120, 120))
    assert read(postgres, "apart_bad") == []
