"""Moves a stopped stream's state to another number of partitions, atomically despite crashes.

Spark writes the moved state as a separate micro-batch, next to the old state, and commits it last.
Before that begins, `<checkpoint>/weft/rescale.json` records the files of the checkpoint:

    begun     after a crash before Spark's commit, newer files are removed: the old state is valid
              after a crash following it, the catalogue is updated: the new state is valid
    done      until the next micro-batch it can be undone, by removing the newer files
    undoing   being undone: after a crash, this is completed

The next start or rescale of the stream recovers from a crash.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from pyarrow import fs

from weft.errors import CheckpointError
from weft.sinks.files import Folder
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.heartbeat import is_running, last_beat
from weft.stream.progress import ProgressFile

_FILE, _KIND = "rescale.json", "rescale"
_PARTITIONS = "spark.sql.shuffle.partitions"
_WRITTEN = ("state", "offsets", "commits")
"""The folders that Spark writes to when it moves state."""


@dataclass(frozen=True)
class Rescaling:
    """A change of a checkpoint's partitions, and the files that were there before it."""

    before: int
    partitions: int
    batch: int
    """The micro-batch that Spark adds for it."""
    files: tuple[str, ...]
    """The files in `state`, `offsets` and `commits`."""
    state: Literal["begun", "done", "undoing"] = "begun"


@dataclass(frozen=True)
class Written:
    """Spark's progress on a checkpoint."""

    last: int
    """The last micro-batch that was begun; -1 if none was."""
    committed: int
    """The last micro-batch that was finished."""
    partitions: int | None
    """The state partitions of the last one finished, from Spark's log."""


def written(checkpoint: str) -> Written:
    """Read Spark's logs of a checkpoint."""
    folder = Folder(checkpoint)
    offsets, commits = _numbers(folder.sub("offsets")), _numbers(folder.sub("commits"))
    committed = max(commits, default=-1)
    partitions = None
    if committed in offsets:
        partitions = _partitions(folder.sub("offsets").read_bytes(str(committed)))
    return Written(max(offsets, default=-1), committed, partitions)


def is_unfinished(checkpoint: str) -> bool:
    """Whether a micro-batch was begun but not finished; recovers from an interrupted rescale."""
    settle(checkpoint)
    so_far = written(checkpoint)
    return so_far.last != so_far.committed


def begin(checkpoint: str, before: int, partitions: int, batch: int) -> Rescaling:
    """Record the files of the checkpoint, before Spark adds to them."""
    begun = Rescaling(before, partitions, batch, tuple(_files(checkpoint)))
    _write(checkpoint, begun)
    return begun


def pending(checkpoint: str) -> Rescaling | None:
    """The last change of partitions; None if there was none."""
    folder = Folder(checkpoint).sub("weft")
    if _FILE not in folder.kept_names():
        return None
    body = folder.kept(_FILE, _KIND)
    return Rescaling(**{**body, "files": tuple(body["files"])})


def settle(checkpoint: str) -> None:
    """Recover from an interrupted change: to the old partitions, or to the new ones."""
    found = pending(checkpoint)
    if found is None or found.state == "done":
        return
    if is_running(checkpoint):
        beat = last_beat(checkpoint) or {}
        raise CheckpointError(
            f"{checkpoint} is being rescaled, by process {beat.get('pid')} on {beat.get('host')}: "
            f"wait until that is done"
        )
    if found.state == "begun" and found.batch in _numbers(Folder(checkpoint).sub("commits")):
        finish(checkpoint, found)
    else:
        go_back(checkpoint, found)


def finish(checkpoint: str, begun: Rescaling) -> None:
    """Record that Spark has moved the state, for the next start."""
    note_partitions(checkpoint, begun.partitions)
    _write(checkpoint, replace(begun, state="done"))


def go_back(checkpoint: str, found: Rescaling) -> None:
    """Remove the files written since the change of partitions began, and the record of it."""
    if found.state == "done":
        found = replace(found, state="undoing")
        _write(checkpoint, found)
    folder, before = Folder(checkpoint), set(found.files)
    # Offsets last, because Spark finds the other files by them.
    for name in sorted(set(_files(checkpoint)) - before, key=lambda name: name.startswith("off")):
        folder.remove(name)
    note_partitions(checkpoint, found.before)
    folder.sub("weft").unkeep(_FILE)


def note_partitions(checkpoint: str, partitions: int) -> None:
    """Record the number of partitions in the catalogue."""
    files = CatalogueFiles(checkpoint)
    now = files.latest()
    if now is None or now.settings.partitions == partitions:
        return
    settings = replace(now.settings, partitions=partitions)
    batch = ProgressFile(checkpoint).read().batch + 1
    files.write(replace(now, number=now.number + 1, settings=settings, batch=batch))


def _write(checkpoint: str, body: Rescaling) -> None:
    Folder(checkpoint).sub("weft").keep(_FILE, _KIND, asdict(body))


def _files(checkpoint: str) -> Iterable[str]:
    """The files of Spark's state and logs, as paths relative to the checkpoint."""
    root = Folder(checkpoint)
    for name in _WRITTEN:
        selector = fs.FileSelector(f"{root.path}/{name}", allow_not_found=True, recursive=True)
        for info in root.system.get_file_info(selector):
            if info.type == fs.FileType.File:
                yield info.path[len(root.path) + 1 :]


def _numbers(folder: Folder) -> set[int]:
    return {int(name) for name in folder.names() if name.isdigit()}


def _partitions(log: bytes) -> int | None:
    """The number of state partitions in a micro-batch's entry of Spark's offset log.

    >>> _partitions(b'v1\\n{"batchWatermarkMs":0,"conf":{"spark.sql.shuffle.partitions":"5"}}\\n{}')
    5
    """
    for line in log.decode().splitlines():
        try:
            found: Any = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and _PARTITIONS in (found.get("conf") or {}):
            return int(found["conf"][_PARTITIONS])
    return None
