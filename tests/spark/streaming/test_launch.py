"""How a stream's Spark query is started: which file manager writes its logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession
from test_running import wait_for

import weft
from conftest import START, Feed
from weft.query.query import Query
from weft.query.window import Window
from weft.spark.streaming.checkpoint_files import SETTING

ONES = Query("ones", aggs={"n": "count(*)"}, window=Window(range="1 second"), by="k")


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """One file of rows."""
    feed = Feed(tmp_path / "in")
    feed.put(START + np.arange(0, 5_000_000, 100_000))
    return feed


def managers(running: object) -> list[str]:
    """The class with which each log of a running stream, its own and its source's, writes files."""
    execution = running.last_query._jsq.streamingQuery()
    wait_for(lambda: not execution.sources().isEmpty())
    source = execution.sources().apply(0)
    (field,) = [f for f in source.getClass().getDeclaredFields() if f.getName() == "metadataLog"]
    field.setAccessible(True)
    logs = [execution.offsetLog(), execution.commitLog(), field.get(source)]
    return [log.fileManager().getClass().getSimpleName() for log in logs]


def test_no_log_on_a_local_disk_is_written_with_processes(
    spark: SparkSession, feed: Feed, tmp_path: Path
) -> None:
    before = spark.conf.get(SETTING, None)
    loom = weft.Loom(feed.stream(spark), time="ts", watermark="1 second")
    loom.add(ONES)
    running = loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
    try:
        assert managers(running) == ["FileSystemBasedCheckpointFileManager"] * 3
        assert spark.conf.get(SETTING, None) == before
    finally:
        running.stop()


def test_a_setting_of_the_users_wins(spark: SparkSession, feed: Feed, tmp_path: Path) -> None:
    package = "org.apache.spark.sql.execution.streaming.checkpointing"
    own = f"{package}.FileContextBasedCheckpointFileManager"
    spark.conf.set(SETTING, own)
    try:
        loom = weft.Loom(feed.stream(spark), time="ts", watermark="1 second")
        loom.add(ONES)
        running = loom.start(str(tmp_path / "out"), checkpoint=str(tmp_path / "ck"))
        try:
            assert managers(running) == ["FileContextBasedCheckpointFileManager"] * 3
        finally:
            running.stop()
    finally:
        spark.conf.unset(SETTING)
