"""Rows with another schema after a restart: the stream continues correctly, or says what to do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import weft
from conftest import MINUTE, SCHEMA, START, Feed
from weft.errors import CheckpointError
from weft.query.query import Query
from weft.query.window import Window

QUERIES = [
    Query("by_g", aggs={"n": "count(*)", "hi": "max(x)"}, window=Window(range="10 minutes"),
          by=["g"]),
    Query("large", aggs={"s": "sum(x)"}, where="d > 2",
          window=Window(range="20 minutes", slide="5 minutes")),
]  # fmt: skip
WITHOUT_Y = SCHEMA.replace(" y double,", "")


def run(spark: object, folder: Path, schema: str, queries: list[Query] = QUERIES) -> None:
    """Run the stream over the existing files, read with a schema."""
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    loom = weft.Loom(reader.parquet(str(folder / "in")), time="ts", watermark="5 minutes")
    for query in queries:
        loom.add(query)
    running = loom.start(
        str(folder / "out"), checkpoint=str(folder / "ck"), trigger="available_now"
    )
    running.await_termination()


@pytest.fixture
def begun(spark: object, tmp_path: Path) -> Path:
    feed = Feed(tmp_path / "in")
    feed.minutes(0, 12)
    run(spark, tmp_path, SCHEMA)
    return tmp_path


def test_columns_added_dropped_and_widened_go_on(spark: object, begun: Path) -> None:
    feed = Feed(begun / "later")
    feed.folder, feed.count = begun / "in", 1
    # A new column, a removed one that no query reads, and a wider one that only a predicate reads.
    changed = WITHOUT_Y.replace("d decimal(10,2)", "d decimal(20,2)") + ", z string"
    for first, last in ((10, 25), (24, 40)):
        feed.minutes(first, last)
    feed.end()
    run(spark, begun, changed)
    plain = weft.Loom(spark.read.schema(SCHEMA).parquet(str(begun / "in")), time="ts")
    for query in QUERIES:
        plain.add(query)
    expected = plain.run()
    for query in QUERIES:
        due = expected[query.name].where(f"unix_micros(window.end) <= {START + 1000 * MINUTE}")
        found = weft.read_results(spark, str(begun / "out"), query.name)
        assert found.count() > 5
        assert sorted(map(str, found.collect())) == sorted(map(str, due.collect())), query.name


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (SCHEMA.replace("g int", "g long"), r"'by_g': g was INT .* and is BIGINT now.*CAST"),
        (SCHEMA.replace("x long", "x decimal(20,0)"), r"x was BIGINT .* DECIMAL\(20,0\) now"),
        (SCHEMA.replace(" g int,", ""), r"column 'g' is not in the rows any more.*'by_g'"),
        (SCHEMA.replace(" x long", " amount long"), r"'by_g', 'large'.*'amount', if it was ren"),
    ],
)
def test_what_state_cannot_take_is_refused_with_a_remedy(
    spark: object, begun: Path, schema: str, said: str
) -> None:
    with pytest.raises(CheckpointError, match=said):
        run(spark, begun, schema, queries=[])  # those of the checkpoint
    run(spark, begun, SCHEMA)  # the failed attempts have broken nothing


def test_a_query_that_goes_with_the_change_replaces_the_old_one(spark: object, begun: Path) -> None:
    """A query with the same name but another meaning starts from scratch."""
    wide = Query("by_g", aggs={"n": "count(*)"}, window=Window(range="10 minutes"), by=["k"])
    later = Feed(begun / "later")
    later.folder, later.count = begun / "in", 1
    later.put(pa.array([START + 30 * MINUTE, START + 90 * MINUTE]).to_numpy())
    run(spark, begun, SCHEMA.replace("g int", "g long"), [wide, QUERIES[1]])
    later.end()
    run(spark, begun, SCHEMA.replace("g int", "g long"), [wide, QUERIES[1]])
    assert "k" in weft.read_results(spark, str(begun / "out"), "by_g").columns
