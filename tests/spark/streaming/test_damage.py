"""Truncated, changed or missing files of a checkpoint: recovery, or an error that names them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from weft.errors import CheckpointError
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks.files import Folder
from weft.spark.streaming.starting import _refuse_lost, stream_plan
from weft.stream.catalogue import Catalogue, Settings
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.evolve import first_catalogue
from weft.stream.progress import Progress, ProgressFile
from weft.stream.requests import Requests

TEN = Query("ten", aggs={"n": "count(*)"}, window=Window(range="10 minutes"))
DAMAGES = {
    "cut short": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "changed": lambda data: data[:-8] + b"#" + data[-7:],
    "not JSON": lambda data: b"\x00\xff" * 20,
    "another": lambda data: b"[1, 2]",
    "nested": lambda data: b"[" * 100_000,
}


@pytest.fixture(params=DAMAGES)
def damage(request):
    def spoil(path: Path) -> None:
        path.write_bytes(DAMAGES[request.param](path.read_bytes()))

    return spoil


def catalogue(number: int = 1) -> Catalogue:
    settings = Settings("ts", "timestamp", "1 minute", (0, 1), 2, "append")
    made = first_catalogue(stream_plan([TEN]), settings)
    return Catalogue(**{**made.__dict__, "number": number})


def test_a_damaged_catalogue_is_put_back_from_its_copy(tmp_path, damage):
    files, written = CatalogueFiles(str(tmp_path)), catalogue()
    files.write(written)
    path = tmp_path / "weft" / "catalogue" / "00000001.json"
    whole = path.read_bytes()
    damage(path)
    assert files.latest() == written
    assert path.read_bytes() == whole
    assert list(files.ever()) == ["ten"]


def test_a_catalogue_that_is_gone_is_put_back_from_its_copy(tmp_path):
    files = CatalogueFiles(str(tmp_path))
    files.write(catalogue(1))
    files.write(catalogue(2))
    (tmp_path / "weft" / "catalogue" / "00000002.json").unlink()
    assert files.latest().number == 2


def test_without_a_copy_it_stops_and_names_both_files(tmp_path, damage):
    files = CatalogueFiles(str(tmp_path))
    files.write(catalogue())
    folder = tmp_path / "weft" / "catalogue"
    damage(folder / "00000001.json")
    damage(folder / "copies" / "00000001.json")
    said = r"catalogue/00000001.json is damaged .*copies/00000001.json: put one of them back"
    with pytest.raises(CheckpointError, match=said):
        files.latest()


def test_a_catalogue_that_the_stream_ran_under_must_be_there(tmp_path):
    with pytest.raises(CheckpointError, match=r"nothing after change 1.*put 00000003.json back"):
        _refuse_lost("ck", catalogue(1), Progress(batch=7, change=3))
    with pytest.raises(CheckpointError, match="has no catalogue"):
        _refuse_lost("ck", None, Progress(batch=7, change=3))
    _refuse_lost("ck", None, Progress())


def test_damaged_progress_is_put_back_and_is_never_older(tmp_path, damage):
    file = ProgressFile(str(tmp_path))
    file.write(Progress(1, 10, 5))
    file.write(Progress(2, 20, 15, change=1, clock=99))
    damage(tmp_path / "weft" / "progress.json")
    assert file.read() == Progress(2, 20, 15, change=1, clock=99)


def test_another_version_or_layout_is_refused():
    for name in ("version", "layout"):
        with pytest.raises(CheckpointError, match=rf"{name} 1?0?.*; this weft reads"):
            Catalogue.from_dict({**catalogue().to_dict(), name: 0})


def test_a_damaged_request_is_set_aside_and_the_rest_goes_on(tmp_path, damage):
    requests = Requests(str(tmp_path))
    first, second = requests.ask_add(TEN), requests.ask_drop("ten")
    damage(tmp_path / "weft" / "requests" / f"{first}.json")
    pending = requests.pending()
    assert [(ticket, asked["op"]) for ticket, asked in pending] == [(second, "drop")]
    (aside,) = requests.damaged()
    assert Path(aside).name == f"{first}.json"
    assert Path(aside).exists()
    with pytest.raises(CheckpointError, match=r"is damaged.*set aside: ask again"):
        requests.wait(first, timeout=1)
    assert len(requests.pending()) == 1


def test_requests_keep_their_order_when_the_clock_goes_back(tmp_path, monkeypatch):
    requests = Requests(str(tmp_path))
    clock = iter([5_000, 3_000, 4_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(clock))
    asked = [requests.ask_add(TEN), requests.ask_drop("ten"), requests.ask_drop("other")]
    assert [ticket for ticket, _ in requests.pending()] == asked


def test_a_reply_is_taken_away_by_whoever_waited(tmp_path):
    requests = Requests(str(tmp_path))
    ticket = requests.ask_drop("ten")
    requests.reply(ticket, None)
    requests.wait(ticket, timeout=1)
    assert list((tmp_path / "weft" / "replies").iterdir()) == []


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    folder = Folder(str(tmp_path))
    folder.keep("a.json", "thing", 1)

    class Full:
        def __init__(self, system):
            self.system = system

        def move(self, source, target):
            raise OSError(28, "No space left on device")

        def __getattr__(self, name):
            return getattr(self.system, name)

    folder.system = Full(folder.system)
    with pytest.raises(OSError, match="No space left"):
        folder.write("a.json", "thing", 2)
    assert folder.read("a.json", "thing") == 1
    assert folder.names() == ["a.json"]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["a.json"]
