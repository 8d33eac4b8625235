"""`python scripts/class_archive.py FILE`: the classes that Spark loads, archived for quick starts.

Tests start dozens of JVMs, each of which reads and verifies the same twenty thousand classes. Java
keeps them in a file that later JVMs map (class data sharing); a JVM with other classes ignores it.
`tests/conftest.py` has the tests use it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import weft
from weft.spark.session import local_session, silent_children

QUERY = "SELECT k, sum(x) AS s FROM t GROUP BY window(ts, '1 minute', '20 seconds'), k"


def main(archive: Path) -> None:
    """Run a batch and a stream in a JVM that writes the archive as it ends."""
    made = archive.with_suffix(".tmp")
    made.unlink(missing_ok=True)
    options = f"-XX:ArchiveClassesAtExit={made} -Xlog:disable"
    with silent_children():
        spark = local_session(2, settings={"spark.driver.extraJavaOptions": options})
        with tempfile.TemporaryDirectory() as folder:
            rows = spark.range(100).selectExpr(
                "timestamp_seconds(id * 7) AS ts", "id % 3 AS k", "id AS x"
            )
            rows.write.parquet(f"{folder}/in")
            loom = weft.Loom(rows, time="ts")
            loom.add(QUERY, name="q")
            loom.run()["q"].collect()
            stream = spark.readStream.schema(rows.schema).parquet(f"{folder}/in")
            loom = weft.Loom(stream, time="ts", watermark="1 minute")
            loom.add(QUERY, name="q")
            given = {"checkpoint": f"{folder}/ck", "trigger": "available_now"}
            loom.start(f"{folder}/out", **given).await_termination()
            weft.read_results(spark, f"{folder}/out", "q").collect()
        jvm = spark.sparkContext._gateway.proc
        spark.stop()
        jvm.stdin.close()  # it ends when nobody listens
        jvm.wait(120)
    ends = time.monotonic() + 10
    while not made.exists() and time.monotonic() < ends:
        time.sleep(0.1)
    made.replace(archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
