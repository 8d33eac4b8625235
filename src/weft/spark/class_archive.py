"""An archive of the classes that Spark loads, which halves the start time of an embedded Spark.

A JVM reads and verifies some twelve thousand classes before Spark's first job. Java can archive
them when it exits and map the archive the next time (class data sharing). The archive is valid for
the Java and the jars that it was made with, and is stored in their environment; a JVM with others
ignores it.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from weft.errors import EngineError

ARCHIVE = Path(sys.prefix) / "spark.jsa"
_QUERY = "SELECT k, sum(x) AS s FROM t GROUP BY window(ts, '1 minute', '20 seconds'), k"
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
_ENVIRON = "SPARK_SUBMIT_OPTS"
"""The environment variable with Java options, which Spark adds to those of its settings."""
_SECONDS = 300.0


def is_ready() -> bool:
    """Whether there is an archive that is newer than the installed Spark."""
    jars = Path(pyspark.__file__).parent / "jars"
    return ARCHIVE.exists() and jars.exists() and jars.stat().st_mtime < ARCHIVE.stat().st_mtime


def java_options() -> str:
    """Options with which a JVM uses the archive; empty if there is none."""
    return f"{shlex.quote(f'-XX:SharedArchiveFile={ARCHIVE}')} {_QUIET}" if is_ready() else ""


@contextmanager
def used() -> Iterator[None]:
    """Spark JVMs that are started in this context use the archive, besides their other options."""
    before = os.environ.get(_ENVIRON)
    os.environ[_ENVIRON] = f"{before or ''} {java_options()}".strip()
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ENVIRON]
        else:
            os.environ[_ENVIRON] = before


def make_archive() -> Path:
    """Run a batch and a stream in a JVM that writes the archive when it exits; takes a minute."""
    from weft.spark.session import local_session, silent_children

    made = ARCHIVE.with_suffix(".tmp")
    try:
        made.touch()  # fails with a reason if it cannot be written, unlike Java
        made.unlink()
        ARCHIVE.unlink(missing_ok=True)  # a JVM either writes an archive or reads one
    except OSError as error:
        raise EngineError(
            f"{ARCHIVE.parent}: {error.strerror}: weft prepare writes to the environment in which "
            f"weft is installed; run it as a user who can write there"
        ) from None
    options = f"-XX:ArchiveClassesAtExit={made} {_QUIET}"
    with silent_children():
        spark = local_session(2, settings={"spark.driver.extraJavaOptions": options})
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        java = gateway.proc
        try:
            _use(spark)
        finally:
            spark.stop()
        java.stdin.close()  # makes it exit
        java.wait(_SECONDS)
    if not made.exists():
        raise EngineError("Java wrote no class archive: it may not support class data sharing")
    made.replace(ARCHIVE)
    return ARCHIVE


def _use(spark: pyspark.sql.SparkSession) -> None:
    """Run a minimal batch and a minimal stream."""
    import weft

    with tempfile.TemporaryDirectory() as folder:
        rows = spark.range(100).selectExpr(
            "timestamp_seconds(id * 7) AS ts", "id % 3 AS k", "id AS x"
        )
        rows.write.parquet(f"{folder}/in")
        loom = weft.Loom(rows, time="ts")
        loom.add(_QUERY, name="q")
        loom.run()["q"].collect()
        stream = spark.readStream.schema(rows.schema).parquet(f"{folder}/in")
        loom = weft.Loom(stream, time="ts", watermark="1 minute")
        loom.add(_QUERY, name="q")
        running = loom.start(
            f"{folder}/out", checkpoint=f"{folder}/checkpoint", trigger="available_now"
        )
        running.await_termination()
        weft.read_results(spark, f"{folder}/out", "q").collect()
