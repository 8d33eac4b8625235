"""Sinks with a micro-batch of answers, without a stream."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from weft.errors import EngineError
from weft.sinks import (
    ConsoleSink,
    DeltaSink,
    ForeachBatchSink,
    IcebergSink,
    KafkaSink,
    LongSink,
    MemorySink,
    MicroBatch,
    ParquetSink,
    PostgresSink,
    Sink,
    SinkQuery,
    read_results,
)
from weft.sinks.wire import COLUMNS, FIGURES, to_wire
from weft.spark.loom import Loom

SQL = (
    "SELECT named_struct('start', TIMESTAMP_MICROS({0}L), 'end', TIMESTAMP_MICROS({0}L + 60)) "
    "AS window, '{1}' AS k, {2}L AS n"
)


@pytest.fixture
def batch(spark):
    def made(number: int, *answers: tuple[int, str, int], mode: str = "append") -> MicroBatch:
        schema = spark.sql(SQL.format(0, "a", 1)).schema
        arrow = to_arrow_schema(schema, timezone="UTC")
        stamps = pa.struct(
            [("start", pa.timestamp("us", "UTC")), ("end", pa.timestamp("us", "UTC"))]
        )
        windows = pa.array([{"start": s, "end": s + 60} for s, _, _ in answers], stamps)
        columns = [
            windows,
            pa.array([k for _, k, _ in answers]),
            pa.array([n for *_, n in answers]),
        ]
        table = pa.table(columns, names=arrow.names).cast(arrow)
        rows = [
            (7, 0, len(answers), to_wire(table)),
            (FIGURES, 0, 0, json.dumps({"x": 1}).encode()),
        ]
        frame = spark.createDataFrame(rows, COLUMNS)
        return MicroBatch(number, frame, {7: SinkQuery(7, "It's", schema, arrow, ("k",))}, mode)

    return made


def test_every_sink_states_its_guarantee():
    for kind in Sink.__subclasses__():
        assert kind.guarantee


def test_a_micro_batch_that_is_run_again_replaces_itself(spark, batch, tmp_path):
    sink = ParquetSink(str(tmp_path))
    first = batch(0, (0, "a", 1), (60, "a", 2))
    sink.open(first.queries, "append")
    assert sink.deliver(first) == [{"x": 1}]
    sink.deliver(batch(1, (120, "a", 9)))
    sink.deliver(batch(1, (120, "a", 3)))
    found = read_results(spark, str(tmp_path), "IT'S")
    assert sorted(row["n"] for row in found.collect()) == [1, 2, 3]


def test_update_mode_reads_the_newest_answer_of_every_window_and_group(spark, batch, tmp_path):
    sink = ParquetSink(str(tmp_path))
    sink.open(batch(0, (0, "a", 1)).queries, "update")
    sink.deliver(batch(0, (0, "a", 1), (0, "b", 5)))
    sink.deliver(batch(1, (0, "a", 2)))
    found = read_results(spark, str(tmp_path), "It's")
    assert sorted((row["k"], row["n"]) for row in found.collect()) == [("a", 2), ("b", 5)]


def test_other_sinks_get_typed_rows(spark, batch, tmp_path, capsys):
    seen: list = []
    one = batch(3, (0, "a", 1))
    ForeachBatchSink(lambda *given: seen.append((given[0], given[1].collect(), given[2]))).deliver(
        one
    )
    assert seen[0][0] == "It's"
    assert seen[0][1][0]["n"] == 1
    assert seen[0][2] == 3
    memory = MemorySink()
    memory.deliver(batch(3, (0, "a", 1)))
    memory.deliver(batch(3, (0, "a", 1)))
    assert len(memory.rows["It's"]) == 1
    ConsoleSink().deliver(batch(3, (0, "a", 1)))
    assert "batch 3: It's, 1 rows" in capsys.readouterr().out
    LongSink(str(tmp_path)).deliver(batch(3, (0, "a", 1)))
    assert spark.read.parquet(str(tmp_path)).first()["query"] == "It's"


def test_kafka_messages_are_keyed_by_query_window_and_group(batch):
    one = batch(0, (0, "a", 1))
    (row,) = KafkaSink.messages(one.answers(7).limit(1), "It's", ("k",)).collect()
    key, value = json.loads(row["key"]), json.loads(row["value"])
    assert key["query"] == value["query"] == "It's"
    assert set(key) == {"query", "window", "k"}
    assert value["n"] == 1
    assert [(h["key"], bytes(h["value"])) for h in row["headers"]] == [("query", b"It's")]


@pytest.mark.parametrize(
    "sink",
    [DeltaSink("out"), KafkaSink("h:1", "t"), IcebergSink("lake.{query}")],
    ids=lambda sink: type(sink).__name__,
)
def test_a_stream_is_refused_a_sink_whose_connector_is_missing(spark, sink, tmp_path):
    loom = Loom(spark.readStream.format("rate").load(), "timestamp", "1 second")
    loom.add("SELECT count(*) AS n FROM t GROUP BY window(timestamp, '1 minute')", name="q")
    with pytest.raises(EngineError, match=f"{type(sink).__name__} needs the connector"):
        loom.start(sink, checkpoint=str(tmp_path / "ck"))
    assert not (tmp_path / "ck").exists()


def asked(*names: str) -> dict[int, SinkQuery]:
    window = pa.struct([("start", pa.int64()), ("end", pa.int64())])
    schema = pa.schema([("window", window), ("n", pa.int64())])
    return {n: SinkQuery(n, name, None, schema, ()) for n, name in enumerate(names, start=1)}


def test_queries_that_a_sink_has_no_place_for_are_refused():
    topics = KafkaSink("h:1", "answers.{query}")
    topics.check(asked("q", "r-2"), "append")
    with pytest.raises(
        EngineError, match=r"'big trades': 'answers.big trades' is not a topic name"
    ):
        topics.check(asked("q", "big trades"), "append")
    KafkaSink("h:1", "answers").check(asked("big trades"), "append")
    with pytest.raises(EngineError, match=r"'a b' and 'A_b' would both be written to lake\.a_b"):
        IcebergSink("lake.{query}").check(asked("a b", "A_b"), "append")
    IcebergSink("lake.{query}_{number}").check(asked("a b", "A_b"), "append")
    with pytest.raises(EngineError, match="IcebergSink accepts append"):
        IcebergSink("lake.{query}").check(asked("a"), "update")


class Picky(MemorySink):
    """A sink that refuses a query named odd."""

    def check(self, queries, mode):
        super().check(queries, mode)
        if any(query.name == "odd" for query in queries.values()):
            raise EngineError("no odd ones")


def test_a_query_that_the_sink_refuses_leaves_the_stream_as_it_was(spark, tmp_path):
    sql = "SELECT count(*) AS n FROM t GROUP BY window(timestamp, '1 minute')"
    rate = spark.readStream.format("rate").load()
    refused = Loom(rate, "timestamp", "1 second")
    refused.add(sql, name="odd")
    with pytest.raises(EngineError, match="no odd ones"):
        refused.start(Picky(), checkpoint=str(tmp_path / "ck"))
    assert not (tmp_path / "ck").exists()
    loom = Loom(rate, "timestamp", "1 second")
    loom.add(sql, name="even")
    running = loom.start(Picky(), checkpoint=str(tmp_path / "ck"))
    try:
        query = running.last_query
        with pytest.raises(EngineError, match="no odd ones"):
            running.add(sql, "odd")
        assert running.last_query is query  # it was not even stopped
        assert running.is_active
        assert [one.name for one in running.queries] == ["even"]
    finally:
        running.stop(0.0)


def test_sinks_refuse_what_cannot_work():
    with pytest.raises(EngineError, match="accepted are json, avro"):
        KafkaSink("h:1", "t", values="xml")
    with pytest.raises(EngineError, match="values='avro' needs"):
        KafkaSink("h:1", "t", values="avro")
    for kind in (IcebergSink, PostgresSink):
        with pytest.raises(EngineError, match="a table of its own"):
            kind("lake.answers") if kind is IcebergSink else kind("", "answers")
