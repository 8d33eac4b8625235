"""Kafka messages in Python: Avro in both directions, keys, headers, the newest message of a key."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from confluent_kafka import Producer
from kafka_messages import END, Trade, closing, received, send, trades, windows
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.avro.functions import from_avro

from weft.errors import CheckpointError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import KafkaSink, newest_messages, read_results
from weft.sinks.kafka import avro_schema
from weft.spark.kafka import messages
from weft.spark.loom import Loom

pytestmark = pytest.mark.integration

AVRO = """{"type": "record", "name": "trade", "fields": [
  {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-micros"}},
  {"name": "symbol", "type": "string"}, {"name": "size", "type": "long"}]}"""


def avro(trade: Trade) -> bytes:
    """A trade in Avro's encoding: zigzag integers in groups of seven bits, strings with a length.

    Encoded here, so that Spark reads something that Spark has not written itself.
    """

    def whole(number: int) -> bytes:
        number, found = (number << 1) ^ (number >> 63), b""
        while number > 0x7F:
            found += bytes([number & 0x7F | 0x80])
            number >>= 7
        return found + bytes([number])

    symbol = trade.symbol.encode()
    return whole(trade.at * 1_000_000) + whole(len(symbol)) + symbol + whole(trade.size)


def read(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", servers)
    return reader.option("subscribe", topic).option("includeHeaders", "true").load()


def test_avro_in_and_out_and_each_key_once(spark: SparkSession, kafka: str) -> None:
    sent = trades(300)
    producer = Producer({"bootstrap.servers": kafka})
    for trade in sent:
        producer.produce("avro-trades", avro(trade), trade.symbol)
    producer.produce("avro-trades", b"\xff\xff\xff", "nobody")  # in no window, and no failure
    assert producer.flush(60) == 0
    rows = messages(read(spark, kafka, "avro-trades"), AVRO)
    assert rows.where("symbol = _key").count() == len(sent)
    assert rows.where("ts IS NULL AND _key = 'nobody'").count() == 1

    loom = Loom(rows, "ts")
    aggs = {"n": "count(*)", "total": "sum(size)"}
    loom.add(Query("minute", aggs=aggs, window=Window(range="1 minute"), by=["symbol"]))
    answers = loom.run(rate=1.0)["minute"]
    sink = KafkaSink(kafka, "avro-{query}", values="avro")
    for batch in ("0", "1"):  # twice, as after a crash
        sink.send(answers, "minute", ("symbol",), {"query": "minute", "batch": batch})

    expected = windows(sent, 60, 60)
    raw = received(kafka, "avro-minute")
    assert len(raw) == 2 * len(expected)
    assert {message.headers["query"] for message in raw} == {b"minute"}
    once = newest_messages(read(spark, kafka, "avro-minute"))
    headers = [row["headers"] for row in once.select("headers").collect()]
    assert {bytes(found[1]["value"]) for found in headers} == {b"1"}  # a bytearray before 4.1
    back = once.select(from_avro("value", avro_schema(answers)).alias("a")).select("a.*")
    assert back.columns == answers.columns
    found = back.selectExpr("unix_seconds(window.start)", "symbol", "n", "total").collect()
    assert Counter(tuple(row) for row in found) == expected


def test_headers_are_a_map_and_the_last_of_a_name_counts(spark: SparkSession, kafka: str) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    value = trades(1)[0].json()
    producer.produce("headers", value, "k", headers=[("a", b"1"), ("b", b"2"), ("a", b"3")])
    producer.produce("headers", value, None)
    assert producer.flush(60) == 0
    rows = messages(read(spark, kafka, "headers"), spark.createDataFrame(
        [], "ts TIMESTAMP, symbol STRING, size BIGINT").schema)  # fmt: skip
    found = {row["_key"]: row["_headers"] for row in rows.collect()}
    assert found == {"k": {"a": "3", "b": "2"}, None: {}}


def test_a_message_knows_where_it_comes_from(spark: SparkSession, kafka: str) -> None:
    send(kafka, "places", trades(2))
    frame = read(spark, kafka, "places")
    schema = spark.createDataFrame([], "symbol STRING, _topic STRING").schema
    rows = messages(frame, schema)
    assert rows.columns == [
        "symbol", "_topic", "_key", "_partition", "_offset", "_timestamp", "_headers",
    ]  # fmt: skip
    assert {row["_topic"] for row in rows.collect()} == {None}  # the value's own, which it lacks


JSON = "ts TIMESTAMP, symbol STRING, size BIGINT"
VENUE = ', {"name": "venue", "type": ["null", "string"], "default": null}]}'


@pytest.mark.parametrize("kind", ["json", "avro"])
def test_messages_that_change_between_runs(
    spark: SparkSession, kafka: str, tmp_path: Path, kind: str
) -> None:
    """A new field is accepted; one of another type is refused, and the stream runs without it."""
    topic, sent = f"changing-{kind}", trades(200)
    producer = Producer({"bootstrap.servers": kafka, "enable.idempotence": True})

    def put(some: list[Trade], tail: bytes = b"") -> None:
        for trade in some:
            value = avro(trade) + tail if kind == "avro" else trade.json()
            producer.produce(topic, value, trade.symbol)
        assert producer.flush(60) == 0

    def run(schema: str) -> None:
        reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", kafka)
        frame = reader.option("subscribe", topic).option("startingOffsets", "earliest").load()
        read = schema if kind == "avro" else spark.createDataFrame([], schema).schema
        loom = Loom(messages(frame, read), "ts", watermark="10 minutes")
        aggs = {"n": "count(*)", "total": "sum(size)"}
        loom.add(Query("minute", aggs=aggs, window=Window(range="1 minute"), by=["symbol"]))
        places = {"checkpoint": str(tmp_path / "ck"), "trigger": "available_now"}
        loom.start(str(tmp_path / "out"), **places).await_termination()

    first = AVRO if kind == "avro" else JSON
    put(sent[:100])
    run(first)
    with pytest.raises(CheckpointError, match=r"size was BIGINT .* and is DOUBLE now"):
        run(first.replace('"size", "type": "long"', '"size", "type": "double"').replace(
            "BIGINT", "DOUBLE"))  # fmt: skip
    put(sent[100:] + closing(), tail=b"\x02\x02x")  # the second of the union: a text of one letter
    run(AVRO.replace("]}", VENUE) if kind == "avro" else f"{JSON}, venue STRING")
    found = read_results(spark, str(tmp_path / "out"), "minute").where(
        f"unix_seconds(window.end) <= {END}"
    )
    rows = found.selectExpr("unix_seconds(window.start)", "symbol", "n", "total").collect()
    assert Counter(tuple(row) for row in rows) == windows(sent, 60, 60)
