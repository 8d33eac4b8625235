"""The program of a stream's workers, looked up by micro-batch: data instead of a closure.

    <checkpoint>/weft/programs/schedule.json     from which micro-batch on which change holds
    <checkpoint>/weft/programs/00000007.program  what the workers need to know under change 7

All tasks of a micro-batch run while the driver delivers it. What the driver has published before
holds for every one of them, and what it publishes later for none: a change takes effect with a
micro-batch, whole, and a micro-batch that is run again finds what it ran by before. The files are
of one run: whoever starts the stream publishes anew, from the catalogue.
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
"""What this process has loaded, by signature."""


@dataclass(frozen=True)
class Lookup:
    """What tasks are given: where the programs are, and how to know that the driver wrote them."""

    location: str
    secret: bytes = field(repr=False)

    def at(self, batch: int) -> Any:
        """What a micro-batch runs by."""
        folder = Folder(self.location)
        schedule = folder.read(_SCHEDULE, "schedule")
        holding = [entry for entry in schedule if entry[0] <= batch]
        if not holding:
            raise CheckpointError(f"{folder.path}: no program for micro-batch {batch}")
        _, number, signature = holding[-1]
        if signature not in _known:
            data = folder.read_bytes(_file(number))
            # Only what the driver of this very run has written is unpickled.
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
        """The history of a store, for one bucket; data and no code, so it bears no signature."""
        root = self.location.rstrip("/").removesuffix("/programs")
        return Folder(root).sub("history").sub(place).read_bytes(history_file(bucket))

    def clock(self, batch: int) -> int:
        """What `current_timestamp()` is in a micro-batch, in microseconds.

        Spark logs it before any task begins, so that a micro-batch that is run again has the same.
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
    """The driver's side: publishes what holds from a micro-batch on.

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
        """A run begins, with another projection: what was published before holds no longer."""
        self._schedule = []

    def publish(self, batch: int, number: int, content: Any) -> None:
        """From micro-batch `batch` on, what change `number` has made of it holds."""
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
