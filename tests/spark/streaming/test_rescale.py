"""A stopped stream's state moves to other partitions, and answers still equal the batch's."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner
from same import AXIS, assert_same, rows

import weft
from conftest import SCHEMA, Feed
from weft.cli.main import cli
from weft.errors import CheckpointError, EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import read_results
from weft.spark.loom import Loom
from weft.spark.streaming.rescale import undo_rescale
from weft.spark.verify.native import native
from weft.stream import rescaling
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.heartbeat import Heartbeat

QUERIES = [
    Query("long", aggs={"n": "count(*)", "s": "sum(x)"}, by=["k"],
          window=Window(range="20 minutes", slide="5 minutes")),
    Query("all", aggs={"n": "count(*)", "m": "max(x)"}, window=Window(range="6 minutes"),
          where="x > 3"),
    Query("patient", aggs={"n": "count(*)"}, by=["k"], window=Window(range="6 minutes"),
          lateness="8 minutes"),
]  # fmt: skip


class Stream:
    """A stream of files on a checkpoint, which runs until all files are read."""

    def __init__(self, spark, feed: Feed, folder: Path, **options) -> None:
        self.spark, self.feed, self.options = spark, feed, options
        plain = options.get("engine") == "rewrite"  # which has no lateness
        self.queries = [query for query in QUERIES if not (plain and query.lateness)]
        self.out, self.checkpoint = str(folder / "out"), str(folder / "ck")

    def start(self, trigger: str = "available_now"):
        loom = Loom(self.feed.stream(self.spark), time="ts", watermark="5 minutes")
        for query in self.queries:
            loom.add(query)
        given = {"checkpoint": self.checkpoint, "trigger": trigger, **self.options}
        return loom.start(self.out, **given)

    def run(self, first: float, last: float) -> None:
        self.feed.minutes(first, last, late=4)
        self.start().await_termination()

    def rescale(self, partitions: int):
        return weft.rescale(self.spark, self.checkpoint, partitions=partitions)

    def state_partitions(self) -> set[int]:
        """The partitions that the last micro-batch wrote, as its files show."""
        version = (
            max(map(int, (p.name for p in Path(self.checkpoint, "commits").glob("[0-9]*")))) + 1
        )
        found = Path(self.checkpoint, "state", "0").glob(f"*/{version}.*")
        return {int(path.parent.name) for path in found}

    def check(self) -> None:
        self.feed.end()
        self.start().await_termination()
        batch = self.feed.batch(self.spark)
        for query in self.queries:
            expected = native(batch, AXIS, query).where("window.end < '2025-01-01'")
            got = read_results(self.spark, self.out, query.name)
            assert got.count() > 0
            assert_same(query.name, rows(got.collect()), rows(expected.collect()))


@pytest.fixture
def stream(spark, feed: Feed, tmp_path: Path) -> Stream:
    return Stream(spark, feed, tmp_path, buckets=6)


def contents(checkpoint: str) -> dict[str, str]:
    """The contents of all files that Spark keeps."""
    root = Path(checkpoint)
    files = [path for name in rescaling._WRITTEN for path in (root / name).rglob("*")]
    return {
        str(path.relative_to(root)): sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.is_file()
    }


def test_up_and_down_with_restarts(stream: Stream):
    stream.run(0, 10)
    assert stream.state_partitions() == {0, 1}
    done = stream.rescale(5)
    assert (done.before, done.partitions, done.buckets) == (2, 5, 6)
    assert "from 2 to 5 partitions, each of 1 or 2 of the 6 buckets," in str(done)
    stream.run(10, 20)
    assert stream.state_partitions() == {0, 1, 2, 3, 4}
    assert CatalogueFiles(stream.checkpoint).latest().settings.partitions == 5
    stream.run(20, 24)
    assert "has 5 partitions already" in str(stream.rescale(5))
    stream.rescale(1)
    stream.run(24, 40)
    assert stream.state_partitions() == {0}
    stream.rescale(6)
    stream.check()


def test_queries_come_and_go_after_it(stream: Stream):
    stream.run(0, 10)
    stream.rescale(3)
    running = stream.start("200 milliseconds")
    running.add(Query("later", aggs={"n": "count(*)"}, window=Window(range="3 minutes"), by=["k"]))
    with pytest.raises(CheckpointError, match=r"a stream runs on this checkpoint, as process \d+"):
        stream.rescale(2)
    running.stop()
    stream.rescale(2)
    stream.run(10, 20)
    stream.check()
    assert read_results(stream.spark, stream.out, "later").count() > 0


def test_there_is_a_way_back_until_the_next_micro_batch(stream: Stream):
    stream.run(0, 10)
    before = contents(stream.checkpoint)
    with pytest.raises(CheckpointError, match="there is no rescale to undo"):
        undo_rescale(stream.checkpoint)
    stream.rescale(4)
    assert set(contents(stream.checkpoint)) > set(before)
    assert undo_rescale(stream.checkpoint).partitions == 2
    assert contents(stream.checkpoint) == before
    stream.run(10, 20)
    assert stream.state_partitions() == {0, 1}
    stream.rescale(4)
    stream.run(20, 30)
    with pytest.raises(CheckpointError, match="have run since it was rescaled from 2 to 4"):
        undo_rescale(stream.checkpoint)
    stream.check()


class Crash(BaseException):
    """The process ends without any clean-up."""


@pytest.mark.parametrize("commits", [False, True])
def test_a_crash_leaves_the_old_or_the_new(stream: Stream, monkeypatch, commits: bool):
    """The crash is once before Spark's commit, which decides, and once after it."""
    stream.run(0, 10)
    before = contents(stream.checkpoint)

    def crash(*args) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(rescaling, "finish", crash)
        with pytest.raises(Crash):
            stream.rescale(4)
    if not commits:
        added = rescaling.pending(stream.checkpoint).batch
        for name in (f"commits/{added}", f"commits/.{added}.crc"):
            Path(stream.checkpoint, name).unlink()
    assert rescaling.pending(stream.checkpoint).state == "begun"
    stream.run(10, 20)
    partitions = 4 if commits else 2
    assert stream.state_partitions() == set(range(partitions))
    assert CatalogueFiles(stream.checkpoint).latest().settings.partitions == partitions
    if not commits:
        kept = contents(stream.checkpoint)
        assert {name: kept[name] for name in before} == before
    stream.check()


def test_an_error_of_spark_leaves_it_as_it_was(stream: Stream):
    stream.run(0, 10)
    before = contents(stream.checkpoint)
    in_the_way = Path(stream.checkpoint, "state", "0", "3")
    in_the_way.write_text("where the folder of a partition has to be")
    with pytest.raises(EngineError, match="Spark could not move the state from 2 to 4"):
        stream.rescale(4)
    in_the_way.unlink()
    assert contents(stream.checkpoint) == before
    assert rescaling.pending(stream.checkpoint) is None
    stream.check()


def test_what_cannot_be_is_refused(stream: Stream, tmp_path: Path):
    with pytest.raises(CheckpointError, match="no stream of weft has been started"):
        stream.rescale(2)
    stream.run(0, 10)
    with pytest.raises(EngineError, match="partitions=0: at least 1 is wanted"):
        stream.rescale(0)
    with pytest.raises(EngineError, match=r"has 6 buckets.*new checkpoint with buckets=7 or more"):
        stream.rescale(7)
    last = rescaling.written(stream.checkpoint).last
    Path(stream.checkpoint, "commits", str(last)).unlink()
    said = f"micro-batch {last} was begun and not finished: start the stream with trigger='once'"
    with pytest.raises(CheckpointError, match=said):
        stream.rescale(3)


def test_a_spark_that_cannot_says_which_can(stream: Stream, monkeypatch):
    """PySpark before 4.2 has no class that rescales state."""
    monkeypatch.delattr(type(stream.spark), "_streamingCheckpointManager")
    with pytest.raises(EngineError, match=r"Spark 4\.\S+ cannot move .* 4\.2 and newer can"):
        stream.rescale(2)


def test_while_it_is_being_rescaled_nobody_starts_it(stream: Stream):
    stream.run(0, 10)
    rescaling.begin(stream.checkpoint, 2, 4, rescaling.written(stream.checkpoint).last + 1)
    heart = Heartbeat(stream.checkpoint).start()
    try:
        with pytest.raises(CheckpointError, match="is being rescaled, by process"):
            stream.start()
    finally:
        heart.stop()
    stream.check()


def test_a_stream_that_has_no_state_yet(stream: Stream):
    stream.start("1 hour").stop()
    assert rescaling.written(stream.checkpoint).last == -1
    assert stream.rescale(4).partitions == 4
    stream.run(10, 20)
    assert stream.state_partitions() == {0, 1, 2, 3}


def test_the_rewrite_engine(spark, feed: Feed, tmp_path: Path):
    stream = Stream(spark, feed, tmp_path, engine="rewrite")
    stream.run(0, 10)
    done = stream.rescale(3)
    assert (done.before, done.partitions, done.buckets) == (2, 3, None)
    stream.run(10, 20)
    assert stream.state_partitions() == {0, 1, 2}
    stream.check()


JOB = f"""
source:
  format: parquet
  path: in
  schema: {SCHEMA}
  watermark: 5 minutes
queries:
  - {{name: long, aggs: {{n: count(*)}}, range: 20 minutes, by: [k]}}
sink: {{kind: parquet, path: out}}
checkpoint: ck
buckets: 4
"""


def test_the_command(spark, feed: Feed, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("job.yaml").write_text(JOB)
    feed.minutes(0, 10)

    def weft(*args: str, code: int = 0):
        result = CliRunner().invoke(cli, args)
        assert result.exit_code == code, result.output
        return result

    weft("stream", "job.yaml", "--once")
    last = rescaling.written("ck").last
    for name in (f"ck/commits/{last}", f"ck/commits/.{last}.crc"):
        Path(name).unlink()  # as if it had been stopped in the middle
    done = weft("rescale", "job.yaml", "--partitions", "4")
    assert "finishing the interrupted micro-batch first" in done.stderr
    assert "from 2 to 4 partitions" in done.stdout
    told = json.loads(weft("rescale", "job.yaml", "--undo", "--json").stdout)
    assert (told["before"], told["partitions"], told["buckets"]) == (4, 2, 4)
    refused = weft("rescale", "job.yaml", "--partitions", "9", code=2).stderr
    assert "4 partitions are the most" in refused
    assert "Give either --partitions or --undo" in weft("rescale", "job.yaml", code=2).stderr
