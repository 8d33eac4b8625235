"""IoT sensors: many windows per device, in the SQL of Azure Stream Analytics.

    python examples/iot_sensors.py

One statement asks for five windows by `Windows(...)`, another for an alert. weft reads the text
unchanged as six queries, five of which are answered from one set of slices. Azure's windows exclude
their start and include their end, and so do the answers here.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import weft
from weft.query.sql import parse_queries
from weft.spark.results.results import Results
from weft.spark.session import local_session

STATEMENTS = """
SELECT DeviceID, System.Window().Id, Min(temperature) AS low, Max(temperature) AS high,
       Avg(temperature) AS mean, Count(*) AS readings
INTO temperature
FROM Input TIMESTAMP BY ts
GROUP BY DeviceID, Windows(
    Window('1min', TumblingWindow(minute, 1)),
    Window('10min', TumblingWindow(minute, 10)),
    Window('hour', TumblingWindow(hour, 1)),
    Window('hop', HoppingWindow(Duration(minute, 30), Hop(minute, 10))),
    Window('day', HoppingWindow(Duration(hour, 24), Hop(hour, 1))));

SELECT DeviceID, Count(*) AS hot_readings, Max(temperature) AS hottest
INTO overheating
FROM Input TIMESTAMP BY ts
WHERE temperature > 40
GROUP BY DeviceID, HoppingWindow(minute, 15, 5)
HAVING Count(*) >= 3
"""


def readings(rows: int, devices: int = 8, hours: float = 3.0, seed: int = 0) -> pa.Table:
    """Temperatures of some devices, a tenth of them exactly on a minute, where windows begin."""
    random = np.random.default_rng(seed)
    start = 1_767_600_000_000_000  # 2026-01-05 08:00 UTC, in microseconds
    ts = start + random.integers(0, int(hours * 3_600_000_000), rows)
    ts = np.where(random.random(rows) < 0.1, ts - ts % 60_000_000, ts)
    device = random.integers(0, devices, rows)
    return pa.table(
        {
            "ts": pa.array(ts, pa.timestamp("us", "UTC")),
            "DeviceID": [f"d{number}" for number in device],
            # Quarters of a degree: their sums are exact, in whatever order they are added.
            "temperature": np.round(random.normal(24 + 2 * device, 4.0) * 4) / 4,
        }
    )


def build(spark: SparkSession, rows: int = 50_000) -> weft.Loom:
    """The loom with every query of the text."""
    loom = weft.Loom(spark.createDataFrame(readings(rows)).cache(), time="ts")
    for query in parse_queries(STATEMENTS, dialect="asa"):
        loom.add(query)
    return loom


def main(spark: SparkSession, rows: int = 50_000) -> Results:
    """Answer every query; the answers are those of six separate Spark queries."""
    loom = build(spark, rows)
    print(loom.explain())
    results = loom.run()
    for name in ("temperature_hop", "overheating"):
        print(f"{name}:")
        results[name].orderBy("window", "DeviceID").show(4, truncate=False)
    return results


if __name__ == "__main__":
    main(local_session())
