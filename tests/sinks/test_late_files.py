"""Files of lost rows appear atomically, and are replaced when a micro-batch is run again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weft.errors import EngineError
from weft.sinks.files import Folder
from weft.sinks.late_files import LateFiles, read_late
from weft.sinks.manifests import TOGETHER, Manifests


def write(files: LateFiles, batch: int, *parts: list[int]) -> None:
    """Write as Spark does: part files with random names, and a success marker."""
    files.begin(batch)
    folder = Path(files.writing(batch).removeprefix("file://"))
    folder.mkdir(parents=True)
    for at, values in enumerate(parts):
        pq.write_table(pa.table({"x": values}), folder / f"part-{at:05d}-{id(values)}.parquet")
    (folder / "_SUCCESS").touch()


def values(path: Path) -> list[int]:
    listed = Manifests(Folder(str(path))).files("rows")
    return [x for file in listed for x in pq.read_table(path / file)["x"].to_pylist()]


def test_what_is_written_is_seen_when_it_is_committed(tmp_path: Path) -> None:
    files = LateFiles(str(tmp_path))
    files.open({})
    write(files, 3, [1, 2], [3])
    assert values(tmp_path) == []
    assert not files.has(3)
    files.commit(3)
    assert values(tmp_path) == [1, 2, 3]
    assert files.has(3)
    assert not list(tmp_path.glob("_weft/writing/*"))


def test_a_micro_batch_that_is_run_again_replaces_what_it_gave(tmp_path: Path) -> None:
    files = LateFiles(str(tmp_path))
    write(files, 3, [1], [2])
    files.commit(3)
    write(files, 4, [9])
    files.commit(4)
    write(files, 3, [5])
    files.commit(3)
    assert values(tmp_path) == [5, 9]
    files.commit(3)  # this time it lost nothing
    assert values(tmp_path) == [9]


def test_manifests_do_not_pile_up(tmp_path: Path) -> None:
    """This holds whichever micro-batches lose rows: here every third."""
    files, count = LateFiles(str(tmp_path)), 5 * TOGETHER
    for at in range(count):
        write(files, 3 * at + 1, [at])
        files.commit(3 * at + 1)
    assert values(tmp_path) == list(range(count))
    assert len(list((tmp_path / "_weft" / "batches").iterdir())) < 3 * TOGETHER


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="has no late rows: it is not what late_to="):
        read_late(None, str(tmp_path))
