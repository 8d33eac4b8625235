"""A Kafka broker for tests: Apache Kafka from Maven's central repository, one KRaft node."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import components
import pytest

from weft.job.maven import PLUGIN, mvn
from weft.spark.connectors import cache

VERSION = "4.1.2"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>weft</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
<version>{version}</version></dependency></dependencies></project>
"""
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={logs}
num.partitions=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
"""


def jars() -> Path:
    """The folder of the broker's jars, fetched if necessary; if that fails, so does the test.

    The folder is renamed once it is complete.
    """
    folder = cache() / f"kafka_2.13-{VERSION}"
    if folder.exists():
        return folder
    made = cache() / f".kafka_2.13-{VERSION}"
    made.mkdir(parents=True, exist_ok=True)
    (made / "pom.xml").write_text(POM.format(version=VERSION))
    said = mvn(
        "--file",
        str(made / "pom.xml"),
        f"{PLUGIN}:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={made}",
    )
    if said:
        pytest.fail(f"kafka: Maven gives no broker, kafka_2.13:{VERSION}: {said}")
    return made.rename(folder)


@contextmanager
def kafka(folder: Path) -> Iterator[str]:
    """Start a broker, yield its address, and stop it at the end."""
    classes = f"{jars()}/*"
    port, controller = components.free_ports(2)
    properties = folder / "server.properties"
    text = PROPERTIES.format(broker=port, controller=controller, logs=folder / "logs")
    properties.write_text(text)
    java = ["java", "-Xmx512m", "-cp", classes]
    tool = ["kafka.tools.StorageTool", "format", "-t", "d2VmdC13ZWZ0LXdlZnQtdw"]
    subprocess.run(
        [*java, *tool, "-c", str(properties)], check=True, capture_output=True, timeout=120
    )
    command = [*java, "kafka.Kafka", str(properties)]
    with components.process(command, folder / "broker.log") as broker:
        components.wait_for(lambda: components.listens(port), "kafka: the broker", 90.0, broker)
        yield f"127.0.0.1:{port}"


if __name__ == "__main__":
    print(jars())
