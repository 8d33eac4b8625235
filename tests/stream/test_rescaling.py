"""What a checkpoint says about a change of its partitions, and how it recovers from a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.stream import rescaling
from weft.stream.labels import bucket_labels, spark_hash


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint with two finished micro-batches, of two partitions each."""
    for number in range(2):
        put(tmp_path / f"offsets/{number}", _log(2))
        put(tmp_path / f"commits/{number}", "v1\n{}")
        for partition in range(2):
            put(tmp_path / f"state/0/{partition}/{number + 1}.changelog", f"{number}")
    put(tmp_path / "weft/progress.json", "untouched")
    return tmp_path


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _log(partitions: int) -> str:
    return f'v1\n{{"conf":{{"spark.sql.shuffle.partitions":"{partitions}"}}}}\n{{}}'


def files(checkpoint: Path) -> set[str]:
    return {str(p.relative_to(checkpoint)) for p in checkpoint.rglob("*") if p.is_file()}


def moved(checkpoint: Path, *, commits: bool) -> None:
    """Write the files that Spark adds when it moves state to three partitions."""
    put(checkpoint / "offsets/2", _log(3))
    for partition in range(3):
        put(checkpoint / f"state/0/{partition}/3.zip", "moved")
    if commits:
        put(checkpoint / "commits/2", "v1\n{}")


def test_what_spark_has_written(checkpoint: Path):
    assert rescaling.written(str(checkpoint)) == rescaling.Written(1, 1, 2)
    moved(checkpoint, commits=False)
    assert rescaling.written(str(checkpoint)) == rescaling.Written(2, 1, 2)
    put(checkpoint / "commits/2", "v1\n{}")
    assert rescaling.written(str(checkpoint)) == rescaling.Written(2, 2, 3)
    assert rescaling.written(str(checkpoint / "none")) == rescaling.Written(-1, -1, None)


def test_what_was_not_committed_is_removed(checkpoint: Path):
    before = files(checkpoint)
    rescaling.begin(str(checkpoint), 2, 3, 2)
    moved(checkpoint, commits=False)
    assert files(checkpoint) > before
    rescaling.settle(str(checkpoint))
    assert files(checkpoint) == before
    rescaling.settle(str(checkpoint))


def test_what_was_committed_stays_and_can_be_undone(checkpoint: Path):
    before = files(checkpoint)
    rescaling.begin(str(checkpoint), 2, 3, 2)
    moved(checkpoint, commits=True)
    rescaling.settle(str(checkpoint))
    found = rescaling.pending(str(checkpoint))
    assert found is not None
    assert (found.state, found.before, found.partitions) == ("done", 2, 3)
    assert rescaling.written(str(checkpoint)).partitions == 3
    rescaling.go_back(str(checkpoint), found)
    assert files(checkpoint) == before


def test_a_crash_on_the_way_back_is_gone_to_its_end(checkpoint: Path, monkeypatch):
    before = files(checkpoint)
    rescaling.begin(str(checkpoint), 2, 3, 2)
    moved(checkpoint, commits=True)
    rescaling.settle(str(checkpoint))
    found = rescaling.pending(str(checkpoint))
    assert found is not None

    def crash(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rescaling, "note_partitions", crash)
        with pytest.raises(KeyboardInterrupt):
            rescaling.go_back(str(checkpoint), found)
    assert rescaling.pending(str(checkpoint)) is not None
    rescaling.settle(str(checkpoint))
    assert files(checkpoint) == before


@pytest.mark.parametrize("buckets", [1, 2, 7, 64])
def test_labels_are_dealt_evenly_to_any_partitions(buckets: int):
    labels = bucket_labels(buckets)
    assert len(set(labels)) == buckets
    for partitions in range(1, buckets + 1):
        dealt = [0] * partitions
        for label in labels:
            dealt[spark_hash(label) % partitions] += 1
        assert max(dealt) - min(dealt) <= 1
