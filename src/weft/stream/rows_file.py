"""The schema of a stream's rows as a file in its checkpoint, for reading its state later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.errors import CheckpointError
from weft.sinks.files import Folder

_FILE, _KIND = "rows.json", "rows"
SETTINGS = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled", "spark.sql.caseSensitive")
"""The session settings on which the types and values of answers depend."""


@dataclass(frozen=True)
class RowsFile:
    """`<checkpoint>/weft/rows.json`: the schema of the rows, and settings of the session.

    >>> import tempfile
    >>> file = RowsFile(tempfile.mkdtemp())
    >>> file.write({"type": "struct", "fields": []}, {"spark.sql.ansi.enabled": "true"})
    >>> file.read()["settings"]
    {'spark.sql.ansi.enabled': 'true'}
    """

    checkpoint: str

    def write(self, schema: Mapping[str, Any], settings: Mapping[str, str]) -> None:
        """Replace it."""
        self._folder.write(_FILE, _KIND, {"schema": dict(schema), "settings": dict(settings)})

    def read(self) -> dict[str, Any]:
        """What was written; an error if no stream of this release ran on the checkpoint."""
        try:
            return dict(self._folder.read(_FILE, _KIND))
        except CheckpointError as error:
            raise CheckpointError(
                f"{error}: the schema of the stream's rows is not known yet: start the stream once "
                f"to record it"
            ) from None

    def read_if_there(self) -> dict[str, Any] | None:
        """What was written; None if no stream of this release ran on the checkpoint."""
        return self.read() if self._folder.has(_FILE) else None

    @property
    def _folder(self) -> Folder:
        return Folder(self.checkpoint).sub("weft")
