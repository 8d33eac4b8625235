"""Who may read the files of a checkpoint: its owner, and others if the owner allows it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from pyarrow import fs

from weft.errors import EngineError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import ParquetSink
from weft.sinks.files import Folder, private_folder
from weft.sinks.modes import FILE_MODE
from weft.stream.heartbeat import Heartbeat
from weft.stream.requests import Requests

TEN = Query("ten", aggs={"n": "count(*)"}, window=Window(range="10 minutes"))


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch):
    monkeypatch.delenv(FILE_MODE, raising=False)


def modes(root: Path) -> dict[str, set[str]]:
    """The modes of the files and folders under a folder."""
    found: dict[str, set[str]] = {"files": set(), "folders": set()}
    for path in root.rglob("*"):
        kind = "folders" if path.is_dir() else "files"
        found[kind].add(oct(stat.S_IMODE(path.stat().st_mode)))
    return found


def fill(checkpoint: Path) -> None:
    """Write every kind of file that weft has in a checkpoint."""
    Folder(str(checkpoint)).sub("weft").sub("catalogue").keep("1.json", "catalogue", {"a": 1})
    requests = Requests(str(checkpoint))
    ticket, other = requests.ask_add(TEN), requests.ask_drop("ten")
    requests.reply(other, "it cannot")
    (checkpoint / "weft" / "requests" / f"{ticket}.json").write_text("{")
    assert requests.pending() == []  # set aside
    heart = Heartbeat(str(checkpoint))
    heart._write()
    folders = {path.name for path in (checkpoint / "weft").rglob("*") if path.is_dir()}
    assert folders == {"catalogue", "copies", "requests", "replies", "damaged"}


def test_files_of_a_checkpoint_are_for_its_owner(tmp_path, umask):
    private_folder(str(tmp_path / "a" / "ck"))
    fill(tmp_path / "a" / "ck")
    assert modes(tmp_path / "a") == {"files": {"0o600"}, "folders": {"0o700"}}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o777 & ~umask  # not weft's own


def test_the_owner_may_let_the_group_read(tmp_path, umask, monkeypatch):
    monkeypatch.setenv(FILE_MODE, "0640")
    fill(tmp_path / "ck")
    assert modes(tmp_path) == {"files": {"0o640"}, "folders": {"0o750"}}


@pytest.mark.parametrize("mode", ["640", "0o640", " 0640 "])
def test_a_mode_as_people_write_it(tmp_path, monkeypatch, mode):
    monkeypatch.setenv(FILE_MODE, mode)
    Folder(str(tmp_path)).write("a.json", "thing", 1)
    assert modes(tmp_path)["files"] == {"0o640"}


@pytest.mark.parametrize(
    "mode", ["x", "0440", "0000", "0777", "0700", "4600", "0680", "-600", "u=rw", "9" * 5000, "²"]
)
def test_what_is_no_mode_is_refused_before_anything_is_written(tmp_path, monkeypatch, mode):
    monkeypatch.setenv(FILE_MODE, mode)
    message = "WEFT_FILE_MODE=.*is not a mode of files: accepted are three octal digits"
    with pytest.raises(EngineError, match=message) as refused:
        Folder(str(tmp_path / "ck")).write("a.json", "thing", 1)
    assert len(str(refused.value)) < 300
    with pytest.raises(EngineError, match=message):
        private_folder(str(tmp_path / "ck"))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_becomes_private_and_one_in_use_stays(tmp_path, umask):
    empty, used, missing = tmp_path / "empty", tmp_path / "used", tmp_path / "missing"
    for folder in (empty, used):
        folder.mkdir()
        folder.chmod(0o2755 if folder is empty else 0o755)
    (used / "offsets").mkdir()
    for folder in (empty, used, missing):
        private_folder(f"file://{folder}")
    found = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.iterdir()}
    assert found == {"empty": "0o2700", "used": "0o755", "missing": "0o700"}


def test_what_spark_writes_in_it_cannot_be_reached_by_others(tmp_path, umask):
    """Spark's own files follow the umask; the folder above them keeps others out."""
    private_folder(str(tmp_path / "ck"))
    (tmp_path / "ck" / "metadata").write_text("{}")
    assert (tmp_path / "ck").stat().st_mode & 0o077 == 0


def test_other_file_systems_are_left_alone(tmp_path):
    private_folder("mock://somewhere/ck")
    system = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    before = os.umask(0o022)
    try:
        Folder("ck", system).write("a.json", "thing", 1)
    finally:
        os.umask(before)
    assert modes(tmp_path) == {"files": {"0o644"}, "folders": {"0o755"}}


def test_manifests_follow_the_umask_as_the_answers_beside_them(tmp_path, umask):
    ParquetSink(str(tmp_path)).folder.sub("_weft").sub("batches").write("1.json", "batch", {})
    assert modes(tmp_path) == {
        "files": {oct(0o666 & ~umask)},
        "folders": {oct(0o777 & ~umask)},
    }


def test_a_file_is_replaced_in_one_step_and_leaves_nothing_behind(tmp_path, monkeypatch):
    folder = Folder(str(tmp_path))
    folder.keep("a.json", "thing", 1)
    folder.write("a.json", "thing", 2)
    assert folder.read("a.json", "thing") == 2

    def full(name, flags, mode=0o777):
        opened = opener(name, flags, mode)
        if "a.json." in str(name):
            os.close(opened)
            return opener("/dev/full", os.O_WRONLY)
        return opened

    opener = os.open
    monkeypatch.setattr(os, "open", full)
    with pytest.raises(OSError, match="No space left"):
        folder.write("a.json", "thing", 3)
    monkeypatch.undo()
    assert folder.read("a.json", "thing") == 2
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.json"]
