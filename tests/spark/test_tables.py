"""A loom accepts tables of pandas, Polars and Arrow, with the same answers as for Spark's."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import weft
from weft.errors import EngineError
from weft.spark.tables import as_frame

START = datetime(2024, 3, 1, tzinfo=timezone.utc)
TIMES = [START + timedelta(seconds=10 * n) for n in range(60)]
KEYS = ["abc"[n % 3] for n in range(60)]


def arrow() -> pa.Table:
    return pa.table(
        {
            "ts": pa.array(TIMES, pa.timestamp("us", "UTC")),
            "k": pa.array(KEYS).dictionary_encode(),
            "n": pa.array(range(60), pa.uint32()),
            "big": pa.array(range(60), pa.uint64()),
        }
    )


def pandas() -> pd.DataFrame:
    return pd.DataFrame({"ts": TIMES, "k": KEYS, "n": range(60), "big": range(60)})


def polars() -> object:
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"ts": TIMES, "k": KEYS, "n": range(60), "big": range(60)}).with_columns(
        pl.col("k").cast(pl.Categorical), pl.col("n").cast(pl.UInt16)
    )


class Streams:
    """Any other object that exports Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return arrow().__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("made", [arrow, pandas, polars, Streams])
def test_the_answers_are_those_of_the_same_rows_in_spark(spark: SparkSession, made):
    loom = weft.Loom(made(), time="ts")
    loom.add("SELECT k, sum(n) AS s, max(big) AS m FROM t GROUP BY window(ts, '1 minute'), k",
             name="q")  # fmt: skip
    found = {
        (row["window"].start, row.k): (int(row.s), int(row.m)) for row in loom.run()["q"].collect()
    }
    expected = {}
    for at, (time, key) in enumerate(zip(TIMES, KEYS, strict=True)):
        place = (time.replace(second=0, tzinfo=None), key)
        total, most = expected.get(place, (0, 0))
        expected[place] = (total + at, max(most, at))
    assert found == expected


def test_a_record_batch_and_a_dataframe_of_spark(spark: SparkSession):
    frame = spark.range(3)
    assert as_frame(frame) is frame
    (batch,) = arrow().to_batches()
    assert as_frame(batch).count() == 60


def test_what_is_no_table_is_refused(spark: SparkSession):
    with pytest.raises(EngineError, match=r"builtins.list is not a table: accepted are DataFrames"):
        weft.Loom([1, 2], time="ts")
    pl = pytest.importorskip("polars")
    with pytest.raises(EngineError, match=r"LazyFrame is not a table; collect\(\) it first"):
        weft.Loom(pl.LazyFrame({"ts": TIMES}), time="ts")
