"""Messages for tests: trades out of order and twice, sent to a broker and read from it."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition

START = 1_700_000_100
"""In seconds; a whole minute, so that windows of minutes begin here."""
END = START + 86_400
"""The time of messages that close every window before it."""


@dataclass(frozen=True)
class Trade:
    """A row: its time in seconds, its key, and a whole number, so that sums are exact."""

    at: int
    symbol: str
    size: int

    def json(self) -> bytes:
        text = {"ts": self.at, "symbol": self.symbol, "size": self.size}
        return json.dumps(text).encode()


def trades(count: int, seed: int = 0) -> list[Trade]:
    """About one trade per second, up to three minutes out of order, every tenth of them twice."""
    draw = random.Random(seed)
    made = [
        Trade(START + 2 * number - draw.randrange(180) + 180, f"s{draw.randrange(4)}", number % 17)
        for number in range(count)
    ]
    return [one for trade in made for one in [trade] * (2 if draw.random() < 0.1 else 1)]


def closing() -> list[Trade]:
    """Messages that let the watermark pass every window of the trades."""
    return [Trade(END, "end", 0), Trade(END, "end", 0)]


def send(servers: str, topic: str, sent: list[Trade]) -> None:
    """Produce trades alternately to both partitions, so that neither runs ahead in time.

    An idempotent producer keeps the order when it has to send again, which may happen with a topic
    that is just being created. Without it, a message could arrive so late that it is a late row.
    """
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for number, trade in enumerate(sent):
        headers = [("tenant", b"a" if trade.symbol < "s2" else b"b")]
        producer.produce(topic, trade.json(), trade.symbol, number % 2, headers=headers)
    assert producer.flush(60) == 0


@dataclass(frozen=True)
class Message:
    """A message as it was read."""

    key: bytes
    value: bytes
    headers: dict[str, bytes]


def received(servers: str, topic: str) -> list[Message]:
    """All messages of a topic, partition by partition in their order."""
    settings = {"bootstrap.servers": servers, "group.id": "tests", "enable.auto.commit": False}
    consumer = Consumer(settings)
    try:
        known = consumer.list_topics(timeout=30).topics  # asking for it by name would create it
        known = known[topic].partitions if topic in known else {}
        found = []
        for partition in sorted(known):
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), 30)
            consumer.assign([TopicPartition(topic, partition, low)])
            for _ in range(high - low):
                one = consumer.poll(30)
                assert one is not None
                assert one.error() is None, one.error()
                found.append(Message(one.key(), one.value(), dict(one.headers() or ())))
        return found
    finally:
        consumer.close()


def windows(rows: list[Trade], range_: int, slide: int, least: int = 0) -> Counter:
    """The answers of a query of count and sum by symbol, as (start, symbol, n, total), in Python.

    Only windows that end before the closing messages.
    """
    counts: Counter = Counter()
    totals: Counter = Counter()
    for row in rows:
        if row.size < least:
            continue
        start = row.at // slide * slide
        while start > row.at - range_:
            if start + range_ < END:
                counts[start, row.symbol] += 1
                totals[start, row.symbol] += row.size
            start -= slide
    return Counter((*key, counts[key], totals[key]) for key in counts)
