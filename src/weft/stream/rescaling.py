"""A stopped stream's state moved to other partitions: a checkpoint is the old one or the new one.

Spark writes the moved state as a micro-batch of its own, beside the state as it was, and commits it
last. Before that begins, `<checkpoint>/weft/rescale.json` says what the checkpoint held:

    begun     crashed before Spark's commit: what has come since is removed, the old state holds
              crashed after it: the catalogue is told, and the new state holds
    done      until the next micro-batch there is a way back, by removing what has come since
    undoing   on that way: it is gone to its end

Whoever starts or rescales the stream next settles what a crash has left.
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
    """A change of a checkpoint's partitions, and what lay there before it."""

    before: int
    partitions: int
    batch: int
    """The micro-batch that Spark adds for it."""
    files: tuple[str, ...]
    """What `state`, `offsets` and `commits` held."""
    state: Literal["begun", "done", "undoing"] = "begun"


@dataclass(frozen=True)
class Written:
    """How far Spark has come on a checkpoint."""

    last: int
    """The last micro-batch that was begun; -1 if none was."""
    committed: int
    """The last one that was finished."""
    partitions: int | None
    """State partitions of the last one finished, as Spark noted them."""


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
    """Whether a micro-batch was begun that was not finished, once what a crash left is settled."""
    settle(checkpoint)
    so_far = written(checkpoint)
    return so_far.last != so_far.committed


def begin(checkpoint: str, before: int, partitions: int, batch: int) -> Rescaling:
    """Note what the checkpoint holds, before Spark adds to it."""
    begun = Rescaling(before, partitions, batch, tuple(_files(checkpoint)))
    _write(checkpoint, begun)
    return begun


def pending(checkpoint: str) -> Rescaling | None:
    """The last change of partitions, if there ever was one."""
    folder = Folder(checkpoint).sub("weft")
    if _FILE not in folder.kept_names():
        return None
    body = folder.kept(_FILE, _KIND)
    return Rescaling(**{**body, "files": tuple(body["files"])})


def settle(checkpoint: str) -> None:
    """Bring what a crash has interrupted to its end: the old partitions, or the new ones."""
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
    """Spark has moved the state: the next start is to know of it."""
    note_partitions(checkpoint, begun.partitions)
    _write(checkpoint, replace(begun, state="done"))


def go_back(checkpoint: str, found: Rescaling) -> None:
    """Remove what has come since the change of partitions began, and forget it."""
    if found.state == "done":
        found = replace(found, state="undoing")
        _write(checkpoint, found)
    folder, before = Folder(checkpoint), set(found.files)
    # Offsets last: by them Spark knows that there is anything to look for.
    for name in sorted(set(_files(checkpoint)) - before, key=lambda name: name.startswith("off")):
        folder.remove(name)
    note_partitions(checkpoint, found.before)
    folder.sub("weft").unkeep(_FILE)


def note_partitions(checkpoint: str, partitions: int) -> None:
    """Have the catalogue say how many partitions there are."""
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
    """The files that Spark keeps state and its logs in, by their paths in the checkpoint."""
    root = Folder(checkpoint)
    for name in _WRITTEN:
        selector = fs.FileSelector(f"{root.path}/{name}", allow_not_found=True, recursive=True)
        for info in root.system.get_file_info(selector):
            if info.type == fs.FileType.File:
                yield info.path[len(root.path) + 1 :]


def _numbers(folder: Folder) -> set[int]:
    return {int(name) for name in folder.names() if name.isdigit()}


def _partitions(log: bytes) -> int | None:
    """The state partitions that a micro-batch's entry in Spark's log of offsets speaks of.

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
