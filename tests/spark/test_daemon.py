"""Workers are forked from a process that has what they need, and take it from where it is quick."""

from __future__ import annotations

import sys
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from weft.spark.daemon import prefer_installed


def test_the_zip_files_of_an_installed_pyspark_are_left_out(monkeypatch):
    lib = f"{Path(pyspark.__file__).parent}/python/lib"
    zips = [f"{lib}/pyspark.zip", f"{lib}/py4j-0.10.9.9-src.zip"]
    monkeypatch.setattr(sys, "path", [*zips, "/mine.zip", *sys.path])
    prefer_installed()
    assert sys.path[0] == "/mine.zip"
    assert not set(zips) & set(sys.path)


def test_those_of_another_spark_stay(monkeypatch):
    path = ["/opt/spark/python/lib/pyspark.zip", *sys.path]
    monkeypatch.setattr(sys, "path", list(path))
    prefer_installed()
    assert sys.path == path


def test_they_stay_where_nothing_else_has_pyspark(monkeypatch):
    path = ["/spark/python/lib/pyspark.zip", "/nowhere"]
    monkeypatch.setattr(sys, "path", list(path))
    monkeypatch.setattr("weft.spark.daemon.find_spec", lambda name: None)
    prefer_installed()
    assert sys.path == path


def test_workers_have_weft_before_anything_is_asked_of_them(spark: SparkSession):
    def loaded(batches):
        import sys as workers

        import pyarrow as pa

        for _ in batches:
            names = {"weft.engine.preaggregate", "numba", "pandas"} <= set(workers.modules)
            zipped = any(place.endswith("pyspark.zip") for place in workers.path)
            yield pa.RecordBatch.from_pydict({"good": [names and not zipped]})

    found = spark.range(1, numPartitions=1).mapInArrow(loaded, "good boolean").collect()
    assert [row.good for row in found] == [True]
