"""Kafka: every answer a JSON message, its key the query, window and group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from weft.sinks.contract import MicroBatch, Sink


class KafkaSink(Sink):
    """One topic for all queries, or one per query where `topic` holds `{query}`.

    Needs Spark's package spark-sql-kafka. `options` go to Spark's Kafka writer as they are.
    """

    guarantee: ClassVar[str] = (
        "at least once: after a crash a micro-batch's messages may come again, with equal keys; "
        "a compacted topic, or a reader that takes the last message of a key, sees each answer once"
    )

    def __init__(self, servers: str, topic: str, **options: str) -> None:
        self.servers, self.topic, self.options = servers, topic, options

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        for number in sorted(counts):
            query = batch.queries[number]
            self.messages(batch.answers(number), query.name, query.keys).write.format(
                "kafka"
            ).option("kafka.bootstrap.servers", self.servers).options(**self.options).option(
                "topic", self.topic.format(query=query.name)
            ).save()

    @staticmethod
    def messages(answers: Any, name: str, keys: tuple[str, ...]) -> Any:
        """The answers as Kafka messages: columns `key` and `value`."""
        quoted = ["`" + key.replace("`", "``") + "`" for key in ("window", *keys)]
        literal = "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return answers.selectExpr(
            f"to_json(struct({literal} AS query, {', '.join(quoted)})) AS key",
            f"to_json(struct({literal} AS query, *)) AS value",
        )
