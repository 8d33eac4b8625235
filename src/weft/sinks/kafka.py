"""Kafka: one message per answer, keyed by query, window and group."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from weft.errors import EngineError
from weft.sinks.contract import MicroBatch, Sink, SinkQuery, write_each

Values = Literal["json", "avro"]
VALUES = ("json", "avro")
RECORD = "topLevelRecord"
"""Spark's name of the Avro record of a row."""
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


class KafkaSink(Sink):
    """One topic for all queries, or one per query if `topic` contains `{query}`.

    Keys are JSON; values are JSON, or Avro with the schema that `avro_schema` returns. Each query
    has a different schema, so Avro needs a topic per query. Every message has two headers: `query`,
    its name, and `batch`, the micro-batch's number. Needs the connector kafka, and avro for Avro;
    `options` are passed to Spark's Kafka writer.
    """

    guarantee: ClassVar[str] = (
        "at least once: after a crash a micro-batch's messages may come again, with equal keys, "
        "values and headers; a compacted topic, or a reader that takes one message of a key (such "
        "as newest_messages), sees each answer once"
    )
    needs: ClassVar[tuple[str, ...]] = ("kafka",)

    def __init__(
        self, servers: str, topic: str, *, values: Values = "json", **options: str
    ) -> None:
        if values not in VALUES:
            raise EngineError(f"values={values!r}: accepted are {', '.join(VALUES)}")
        if values == "avro" and "{query}" not in topic:
            raise EngineError(
                f"topic={topic!r}: values='avro' needs {{query}} in it, because each query has "
                f"an Avro schema of its own"
            )
        self.servers, self.topic, self.values, self.options = servers, topic, values, options

    def topic_of(self, query: str) -> str:
        """The topic of a query; an error if Kafka would not accept it.

        >>> KafkaSink("broker:9092", "answers.{query}").topic_of("hourly")
        'answers.hourly'
        """
        topic = self.topic.replace("{query}", query)
        if not _TOPIC.fullmatch(topic) or topic in (".", ".."):
            raise EngineError(
                f"query {query!r}: {topic!r} is not a topic name: accepted are 1 to 249 "
                f"letters, digits, dots, underscores and hyphens"
            )
        return topic

    def check(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        super().check(queries, mode)
        for query in queries.values():
            self.topic_of(query.name)
            query.identity("KafkaSink")

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        def send(number: int) -> None:
            query = batch.queries[number]
            headers = {"query": query.name, "batch": str(batch.number)}
            keys = query.identity("KafkaSink")
            self.send(batch.answers(number), query.name, keys, headers)

        write_each(counts, send)

    def send(
        self, answers: Any, name: str, keys: tuple[str, ...], headers: Mapping[str, str]
    ) -> None:
        """Write a query's answers to its topic."""
        writer = self.messages(answers, name, keys, self.values, headers).write.format("kafka")
        writer = writer.option("kafka.bootstrap.servers", self.servers).options(**self.options)
        writer.option("topic", self.topic_of(name)).save()

    @staticmethod
    def messages(
        answers: Any,
        name: str,
        keys: tuple[str, ...],
        values: Values = "json",
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The answers as Kafka messages: columns `key`, `value` and `headers`."""
        quoted = ["`" + key.replace("`", "``") + "`" for key in ("window", *keys)]
        named = f"{_literal(name)} AS query"
        sent = ", ".join(
            f"struct({_literal(key)} AS key, CAST({_literal(value)} AS BINARY) AS value)"
            for key, value in (headers or {"query": name}).items()
        )
        value = f"to_json(struct({named}, *))"
        if values == "avro":
            value = "to_avro(struct(*))"
        return answers.selectExpr(
            f"to_json(struct({named}, {', '.join(quoted)})) AS key",
            f"{value} AS value",
            f"array({sent}) AS headers",
        )


def avro_schema(answers: Any) -> str:
    """The Avro schema with which a query's answers are sent, as JSON.

    `answers` is any DataFrame with their columns and types; the connector avro makes the schema.
    """
    jvm = answers.sparkSession._jvm
    converters = jvm.org.apache.spark.sql.avro.SchemaConverters
    columns = answers._jdf.schema()
    return str(converters.toAvroType(columns, False, RECORD, "").toString())


def newest_messages(frame: Any) -> Any:
    """The newest message of each key, from a batch of Kafka messages as Spark reads them.

    So each answer is read once, even if a micro-batch was repeated. Messages of one key are in one
    partition as long as the topic keeps its number of partitions.
    """
    ranked = frame.selectExpr(
        "*", "row_number() OVER (PARTITION BY topic, key ORDER BY offset DESC) AS weft_rank"
    )
    return ranked.where("weft_rank = 1").drop("weft_rank")


def _literal(text: str) -> str:
    """A text as a literal of Spark SQL.

    >>> print(_literal("It's"))
    'It\\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
