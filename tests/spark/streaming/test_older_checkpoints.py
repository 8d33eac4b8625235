"""Streams continue from checkpoints of earlier versions of weft, with Spark's answers."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from older import FOLDER, GIVEN, HALF, PLACE, put, queries
from same import AXIS, assert_same, rows

from conftest import Feed
from weft.sinks import read_results
from weft.spark.streaming.starting import start
from weft.spark.verify.native import native


@pytest.mark.parametrize("archive", sorted(FOLDER.glob("*.zip")), ids=lambda path: path.stem)
def test_a_stream_goes_on_where_an_older_weft_stopped(spark, tmp_path: Path, archive: Path):
    with zipfile.ZipFile(archive) as found:
        found.extractall(tmp_path)
    for path in tmp_path.glob("ck/state/*/_metadata/v2/*"):  # Spark records where its files are
        path.write_bytes(path.read_bytes().replace(PLACE, str(tmp_path).encode()))
    whole, later = Feed(tmp_path / "in"), Feed(tmp_path / "later")
    put(whole)
    for path in sorted(whole.folder.iterdir())[HALF:]:
        (later.folder / path.name).hardlink_to(path)
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    before = {q.name: read_results(spark, out, q.name).count() for q in queries()}
    assert sum(before.values()) > 50
    running = start(later.stream(spark), AXIS, out, checkpoint=checkpoint, **GIVEN)
    running.await_termination()
    late = 0
    for query in queries():
        found = rows(read_results(spark, out, query.name).collect())
        assert len(found) > before[query.name]
        late += running.status().query(query.name).late_rows
        expected = native(whole.batch(spark).where("year(ts) = 2023"), AXIS, query)
        assert_same(query.name, found, rows(expected.collect()))
    assert late == 0
