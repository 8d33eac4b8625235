"""The manifests of micro-batches: no files lost or repeated, and few manifests, in all cases."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import EngineError
from weft.sinks import manifests as module
from weft.sinks.files import Folder
from weft.sinks.manifests import TOGETHER, Manifests


def new(folder: Path) -> Manifests:
    return Manifests(Folder(str(folder)))


def file(batch: int, attempt: int = 0) -> str:
    return f"q/{batch}-{attempt}.parquet"


@settings(max_examples=12, deadline=None)
@given(
    st.integers(1, 1200),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 70)), max_size=3),
)
def test_each_micro_batch_counts_once_as_it_was_last_written(
    tmp_path_factory: pytest.TempPathFactory, count: int, back: list[tuple[float, int]]
) -> None:
    """A stream may be reset to an older checkpoint, and then delivers micro-batches again."""
    manifests = new(tmp_path_factory.mktemp("manifests"))
    expected: dict[int, str] = {}
    runs = [(0, count)]
    for place, length in back:
        first = int(place * (count - 1))
        runs.append((first, min(count, first + length)))
    for attempt, (first, last) in enumerate(runs):
        for batch in range(first, last):
            expected[batch] = file(batch, attempt)
            others = {"b": ["x"]} if batch % 7 == 0 else {}
            manifests.write(batch, {"a": [expected[batch]], **others})
    whole = [expected[batch] for batch in range(count)]
    assert manifests.files("a") == whole
    assert len(manifests.files("b")) == len(range(0, count, 7))
    assert manifests.newest("a", 5) == whole[:-6:-1]
    assert manifests.files("c") == []
    written = [name for name in manifests.names() if name.endswith(".parquet")]
    assert len(written) <= 2 * TOGETHER


@pytest.mark.parametrize("crash", range(6))
def test_a_crash_while_files_are_put_together_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crash: int
) -> None:
    manifests = new(tmp_path)
    for batch in range(TOGETHER):
        manifests.write(batch, {"a": [file(batch)]})
    left = [crash * 7]
    remove, write_bytes = Folder.remove, Folder.write_bytes

    def dies(real):
        def call(self, name, *given):
            left[0] -= 1
            if left[0] < 0:
                raise OSError("the machine is gone")
            return real(self, name, *given)

        return call

    with monkeypatch.context() as patched:
        patched.setattr(Folder, "remove", dies(remove))
        patched.setattr(Folder, "write_bytes", dies(write_bytes))
        try:
            manifests.write(TOGETHER, {"a": [file(TOGETHER)]})
        except OSError:
            assert new(tmp_path).files("a") == [file(batch) for batch in range(TOGETHER)]
    for batch in range(TOGETHER, 2 * TOGETHER + 1):
        new(tmp_path).write(batch, {"a": [file(batch)]})
    assert new(tmp_path).files("a") == [file(batch) for batch in range(2 * TOGETHER + 1)]


def test_a_reader_beside_the_writer_sees_every_micro_batch_so_far(tmp_path: Path) -> None:
    manifests, done = new(tmp_path), threading.Event()
    count = [0]

    def write() -> None:
        for batch in range(1100):
            manifests.write(batch, {"a": [file(batch)]})
            count[0] = batch + 1
            time.sleep(0.003)  # a stream takes longer
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while not done.is_set():
            least = count[0]
            found = new(tmp_path).files("a")
            assert found == [file(batch) for batch in range(len(found))]
            assert len(found) >= least
    finally:
        writer.join()


def test_what_an_earlier_version_left_is_put_together(tmp_path: Path) -> None:
    batches = Folder(str(tmp_path)).sub("_weft").sub("batches")
    for batch in range(1500):
        batches.write(f"{batch:012d}.json", "batch", {"a": [file(batch)]})
    manifests = new(tmp_path)
    whole = manifests.files("a")
    manifests.tidy()
    assert manifests.files("a") == whole == [file(batch) for batch in range(1500)]
    assert len(manifests.names()) < 50
    manifests.write(1500, {"a": [file(1500)]})
    assert manifests.files("a") == [*whole, file(1500)]


def test_large_ones_are_left_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 3 * TOGETHER)
    manifests = new(tmp_path)
    for batch in range(TOGETHER**2 + 1):
        manifests.write(batch, {"a": [file(batch)]})
    assert len(manifests.names()) == TOGETHER + 1
    assert len(manifests.files("a")) == TOGETHER**2 + 1


def test_a_damaged_one_is_named(tmp_path: Path) -> None:
    manifests = new(tmp_path)
    for batch in range(TOGETHER + 1):
        manifests.write(batch, {"a": [file(batch)]})
    (damaged,) = (tmp_path / "_weft/batches").glob("*.parquet")
    damaged.write_bytes(b"?")
    with pytest.raises(EngineError, match=f"{damaged.name} is damaged"):
        manifests.files("a")
