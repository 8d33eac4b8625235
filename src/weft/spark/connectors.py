"""Connectors that do not come with Spark: which builds run on it, and how to get them.

Jars are fetched from Maven Central through `mvn`, as configured on the machine, into a separate
folder; jobs, the doctor and the tests use it. Nothing of Spark is imported, because the doctor also
runs where Spark is missing.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weft.errors import EngineError
from weft.job.maven import SPARK, Jar, fetch


@dataclass(frozen=True)
class Connector:
    """A connector: its jars for each release line of Spark, and the settings that it needs.

    Jars under `any` are for every line, each with the versions to try in turn: Spark's own modules
    in the running version, and if that is not published, in an older one that was tested with it.
    """

    name: str
    about: str
    lines: Mapping[str, tuple[Jar, ...]]
    settings: Mapping[str, str] = field(default_factory=dict)
    fails: str = ""
    """What happens on the lines for which there is no build."""

    def jars(self, spark: str) -> tuple[Jar, ...]:
        """Its jars for a version of Spark; an error if none of them run on it."""
        line = ".".join(spark.split(".")[:2])
        found = self.lines.get(line, self.lines.get("any"))
        if found is None:
            raise EngineError(
                f"connector {self.name!r}: {self.about} has no build that runs on Spark {spark}, "
                f"only on {', '.join(sorted(self.lines))} ({self.fails}); use one of these, or "
                f"name a newer build in the settings, under spark.jars.packages"
            )
        return tuple(jar.on(spark) for jar in found)


def _delta(line: str) -> tuple[Jar, ...]:
    modules = ("storage", "kernel-api", "kernel-defaults", "kernel-unitycatalog")
    return (
        Jar(f"io.delta:delta-spark_{line}_2.13", ("4.4.0",)),
        *(Jar(f"io.delta:delta-{module}", ("4.4.0",)) for module in modules),
    )


_ALL = (
    Connector(
        "kafka",
        "Spark's connector for Apache Kafka",
        {
            "any": (
                Jar("org.apache.spark:spark-sql-kafka-0-10_2.13", (SPARK, "4.2.0", "4.1.3")),
                Jar("org.apache.spark:spark-token-provider-kafka-0-10_2.13", (SPARK, "4.0.0")),
                Jar("org.apache.kafka:kafka-clients", ("3.9.2",)),
                Jar("org.apache.commons:commons-pool2", ("2.13.1",)),
            )
        },
    ),
    Connector(
        "avro",
        "Spark's Avro functions and files",
        {"any": (Jar("org.apache.spark:spark-avro_2.13", (SPARK, "4.1.1", "4.0.0")),)},
    ),
    Connector(
        "delta",
        "Delta Lake 4.4.0",
        {line: _delta(line) for line in ("4.0", "4.1", "4.2")},
        {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        },
        "on 4.3.0 its build for 4.2 fails with NoSuchMethodError: LogicalRDD.<init>",
    ),
    Connector(
        "iceberg",
        "Iceberg",
        {
            "4.0": (Jar("org.apache.iceberg:iceberg-spark-runtime-4.0_2.13", ("1.11.0",)),),
            "4.1": (Jar("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13", ("1.12.0",)),),
        },
        {
            "spark.sql.extensions": (
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
            ),
        },
        "on 4.3.0 its build for 4.1 fails with IncompatibleClassChangeError: CatalogManager",
    ),
)
CONNECTORS: Mapping[str, Connector] = {connector.name: connector for connector in _ALL}


def connector(name: str) -> Connector:
    """A connector by its name.

    >>> connector("avro").jars("4.1.1")[0].versions
    ('4.1.1', '4.0.0')
    """
    if name not in CONNECTORS:
        raise EngineError(f"connector {name!r}: accepted are {', '.join(CONNECTORS)}")
    return CONNECTORS[name]


def settings(names: Iterable[str], spark: str | None = None) -> dict[str, str]:
    """The Spark settings for connectors: their jars, fetched if needed, and other settings.

    For a session that is not started yet, because a running one cannot load further jars.
    """
    running = spark or spark_version()
    asked = [connector(name) for name in dict.fromkeys(names)]
    jars = [jar for one in asked for jar in one.jars(running)]
    found: dict[str, str] = {}
    if jars:
        found["spark.jars"] = ",".join(str(path) for path in fetch(jars, cache()))
    for one in asked:
        merge(found, one.settings)
    return found


def merge(into: dict[str, str], more: Mapping[str, str]) -> None:
    """Add settings to others; settings that are lists are concatenated.

    >>> found = {"spark.sql.extensions": "a", "spark.jars": "x.jar"}
    >>> merge(found, {"spark.sql.extensions": "b", "spark.jars": "y.jar", "spark.master": "local"})
    >>> found
    {'spark.sql.extensions': 'a,b', 'spark.jars': 'x.jar,y.jar', 'spark.master': 'local'}
    """
    for name, value in more.items():
        grows = name in ("spark.sql.extensions", "spark.jars", "spark.jars.packages")
        before = into.get(name) if grows else None
        into[name] = f"{before},{value}" if before else value


def cache() -> Path:
    """Where jars are kept: `WEFT_JARS`, or a folder in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("WEFT_JARS") or Path(base) / "weft" / "jars")


def spark_version() -> str:
    """The version of the installed PySpark."""
    from pyspark import __version__

    return __version__


def main() -> None:
    """`python -m weft.spark.connectors kafka avro` fetches jars and prints their settings."""
    parser = argparse.ArgumentParser(description="Fetch the jars of connectors.")
    parser.add_argument("names", nargs="+", choices=list(CONNECTORS))
    parser.add_argument("--spark", help="the version of Spark; the installed one if left out")
    given = parser.parse_args()
    for name, value in settings(given.names, given.spark).items():
        print(f"{name}={value}")


if __name__ == "__main__":
    main()
