"""The program of a stream's workers, looked up by micro-batch: data instead of a closure.

    <checkpoint>/weft/programs/schedule.json     the change that each micro-batch uses
    <checkpoint>/weft/programs/00000007.program  the workers' program after change 7

All tasks of a micro-batch run while the driver delivers it. Programs that the driver published
before apply to all of them, later ones to none: a change takes effect for whole micro-batches, and
a repeated micro-batch finds the program it used before. The files belong to one run: whoever starts
the stream publishes again, from the catalogue.
"""

from __future__ import annotations

import hmac
import json
import pickle
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from weft.errors import CheckpointError
from weft.sinks.files import Folder

_SCHEDULE = "schedule.json"
_REMEMBERED = 4
_known: OrderedDict[str, Any] = OrderedDict()
"""The programs that this process has loaded, by signature."""


@dataclass(frozen=True)
class Lookup:
    """What tasks get: the location of the programs, and the secret to verify who wrote them."""

    location: str
    secret: bytes = field(repr=False)

    def at(self, batch: int) -> Any:
        """The program of a micro-batch."""
        folder = Folder(self.location)
        schedule = folder.read(_SCHEDULE, "schedule")
        holding = [entry for entry in schedule if entry[0] <= batch]
        if not holding:
            raise CheckpointError(f"{folder.path}: no program for micro-batch {batch}")
        _, number, signature = holding[-1]
        if signature not in _known:
            data = folder.read_bytes(_file(number))
            # Only data written by the driver of this run is unpickled.
            if not hmac.compare_digest(_sign(self.secret, data), signature):
                raise CheckpointError(
                    f"{folder.path}/{_file(number)} is not what this run of the stream wrote: does "
                    f"another stream use the checkpoint?"
                )
            _known[signature] = pickle.loads(data)
        _known.move_to_end(signature)
        while len(_known) > _REMEMBERED:
            _known.popitem(last=False)
        return _known[signature]

    def history(self, place: str, bucket: int) -> bytes:
        """The history of a store, for one bucket; it is data, not code, so it is not signed."""
        root = self.location.rstrip("/").removesuffix("/programs")
        return Folder(root).sub("history").sub(place).read_bytes(history_file(bucket))

    def clock(self, batch: int) -> int:
        """The `current_timestamp()` of a micro-batch, in microseconds.

        Spark logs it before any task begins, so that a repeated micro-batch has the same.
        """
        folder = Folder(self.location.rstrip("/").removesuffix("/weft/programs")).sub("offsets")
        data = folder.read_bytes(str(batch))
        try:
            _, metadata, *_ = data.decode().splitlines()
            return int(json.loads(metadata)["batchTimestampMs"]) * 1000
        except (ValueError, KeyError, TypeError):
            raise CheckpointError(
                f"{folder.path}/{batch} does not tell when the micro-batch began, as Spark's log "
                f"does: start with max_ahead='off', which does without a clock"
            ) from None


def history_file(bucket: int) -> str:
    """The file of a bucket's history.

    >>> history_file(-7)
    '-7.parcel'
    """
    return f"{bucket}.parcel"


class Deployment:
    """The driver's side: publishes the programs that apply from a micro-batch on.

    >>> import tempfile
    >>> deployment = Deployment(tempfile.mkdtemp())
    >>> deployment.publish(0, 1, "first"); deployment.publish(7, 2, "second")
    >>> deployment.lookup.at(6), deployment.lookup.at(7)
    ('first', 'second')
    """

    def __init__(self, checkpoint: str) -> None:
        self._folder = Folder(checkpoint).sub("weft").sub("programs")
        self._schedule: list[tuple[int, int, str]] = []
        location = checkpoint.rstrip("/") + "/weft/programs"
        self.lookup = Lookup(location, secrets.token_bytes(32))

    def begin(self) -> None:
        """Begin a run, with a new projection: earlier programs no longer apply."""
        self._schedule = []

    def publish(self, batch: int, number: int, content: Any) -> None:
        """Make `content`, the program after change `number`, apply from micro-batch `batch` on."""
        data = pickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL)
        self._folder.write_bytes(_file(number), data)
        before = [entry for entry in self._schedule if entry[0] < batch][-_REMEMBERED:]
        self._schedule = [*before, (batch, number, _sign(self.lookup.secret, data))]
        self._folder.write(_SCHEDULE, "schedule", self._schedule)
        kept = {_file(entry[1]) for entry in self._schedule}
        for name in self._folder.names():
            if name.endswith(".program") and name not in kept:
                self._folder.remove(name)


def _sign(secret: bytes, data: bytes) -> str:
    return hmac.new(secret, data, sha256).hexdigest()


def _file(number: int) -> str:
    return f"{number:08d}.program"
