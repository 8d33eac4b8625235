"""The files of a catalogue in a checkpoint: a numbered one per change.

Each is written atomically, so that a crash during a change leaves either the old set of queries or
the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from weft.errors import CheckpointError
from weft.query.query import Query
from weft.sinks.files import Folder
from weft.stream.catalogue import Catalogue

_KIND = "catalogue"
_PAST = "past.json"
KEPT = 100
"""Least number of catalogues kept: a repeated micro-batch needs the last but one."""


class CatalogueFiles:
    """The catalogue's files in a checkpoint: `<checkpoint>/weft/catalogue/00000001.json`.

    Of old catalogues only the queries are kept, in `<checkpoint>/weft/past.json`.
    """

    def __init__(self, checkpoint: str) -> None:
        self._weft = Folder(checkpoint).sub("weft")
        self.folder = self._weft.sub("catalogue")

    def latest(self) -> Catalogue | None:
        """The catalogue after the last change; None on a new checkpoint."""
        names = self.folder.kept_names()
        if not names:
            return None
        return Catalogue.from_dict(self.folder.kept(names[-1], _KIND))

    def numbers(self) -> list[int]:
        """The numbers of the changes so far, oldest first."""
        return [int(name.removesuffix(".json")) for name in self.folder.kept_names()]

    def read(self, number: int) -> Catalogue:
        """The catalogue after one change."""
        return Catalogue.from_dict(self.folder.kept(_file(number), _KIND))

    def at(self, batch: int) -> Catalogue:
        """The catalogue that a micro-batch uses, or else the oldest one."""
        numbers = self.numbers()
        for number in reversed(numbers):
            found = self.read(number)
            if found.batch <= batch or number == numbers[0]:
                return found
        raise CheckpointError(f"{self.folder.path} is empty")

    def ever(self) -> dict[str, Query]:
        """Every query that ever ran on the checkpoint, by name in lower case, as last known."""
        known = {name: Query.from_dict(query) for name, query in self._past().items()}
        for name in self.folder.kept_names():
            past = Catalogue.from_dict(self.folder.kept(name, _KIND))
            known.update({query.name.lower(): query for query in past.queries})
        return known

    def write(self, catalogue: Catalogue) -> None:
        """Make this the latest catalogue."""
        self.folder.keep(_file(catalogue.number), _KIND, catalogue.to_dict())
        names = self.folder.kept_names()
        if len(names) > 2 * KEPT:
            self._forget(names[:-KEPT], catalogue.batch)

    def _forget(self, names: Sequence[str], batch: int) -> None:
        """Remove old catalogues after noting their queries, but keep any that may be used again."""
        past, gone = self._past(), []
        for name, after in pairwise(names):
            try:
                body, later = (self.folder.kept(one, _KIND) for one in (name, after))
            except CheckpointError:  # damaged: kept for an investigation
                break
            if later["batch"] >= batch - 1:
                break  # the micro-batch that may be repeated uses this one
            for entry in body["entries"]:
                past[entry["query"]["name"].lower()] = entry["query"]
            gone.append(name)
        if gone:
            self._weft.keep(_PAST, "past", past)
        for name in gone:
            self.folder.unkeep(name)

    def _past(self) -> dict[str, Any]:
        """The queries of removed catalogues, by name in lower case."""
        found: dict[str, Any] = {}
        if _PAST in self._weft.kept_names():
            found = self._weft.kept(_PAST, "past")
        return found

    def withdraw(self, catalogue: Catalogue) -> None:
        """Undo a change with which the stream could not start: the previous catalogue applies."""
        self.folder.unkeep(_file(catalogue.number))


def _file(number: int) -> str:
    return f"{number:08d}.json"
