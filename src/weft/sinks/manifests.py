"""Which files belong to which micro-batch: readers of answers read only the files listed here.

    _weft/batches/000000000064.json                   one micro-batch, written atomically
    _weft/batches/000000000032-000000000064.parquet   those from 32 to before 64, merged

A micro-batch is visible if its manifest exists. Manifests of 32 micro-batches are merged into one
file, 32 of those into one again, and so on while they are small: a year of micro-batches is a few
hundred files. A single manifest takes precedence over merged ones, so that a stream that is reset
to an older checkpoint replaces the micro-batches that it delivers again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from weft.errors import CheckpointError, EngineError
from weft.sinks.files import Folder

TOGETHER = 32
"""The number of manifests, or of merged files, that are merged into one."""
LARGEST = 1_000_000
"""Files with this many rows are not merged further."""
_KIND = "batch"
_SCHEMA = pa.schema([("of", pa.string()), ("batch", pa.int64()), ("file", pa.string())])
_PATIENCE = 30.0
"""Seconds for which a reader retries if files are merged while it reads them."""


@dataclass(frozen=True)
class _Piece:
    """A file of manifests: of the micro-batches from `first` to before `last`."""

    name: str
    first: int
    last: int

    @property
    def is_manifest(self) -> bool:
        return self.name.endswith(".json")

    @classmethod
    def of(cls, name: str) -> _Piece:
        first, _, last = name.partition(".")[0].partition("-")
        return cls(name, int(first), int(last) if last else int(first) + 1)


class Manifests:
    """The manifests of a folder of answers.

    >>> import tempfile
    >>> manifests = Manifests(Folder(tempfile.mkdtemp()))
    >>> for batch in range(70):
    ...     manifests.write(batch, {"7": [f"{batch}.parquet"]})
    >>> len(manifests.files("7")), manifests.files("8"), manifests.newest("7", 2)
    (70, [], ['69.parquet', '68.parquet'])
    >>> [name.strip("0") for name in manifests.names()][:2]
    ['-000000000032.parquet', '32-000000000064.parquet']
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder.sub("_weft").sub("batches")

    def write(self, batch: int, files: Mapping[str, Sequence[str]]) -> None:
        """Make a micro-batch visible; its files are given by the name they belong to."""
        size = TOGETHER
        while batch and batch % size == 0 and self._put_together(batch - size, batch):
            size *= TOGETHER
        listed = {of: list(some) for of, some in files.items()}
        self._folder.write(f"{batch:012d}.json", _KIND, listed)

    def files(self, of: str) -> list[str]:
        """The files of the name `of`, in the order of their micro-batches."""
        return self._listed(of, 0)

    def newest(self, of: str, most: int) -> list[str]:
        """The files of the name `of` in the last `most` micro-batches, newest first."""
        count = max((piece.last for piece in self._pieces()), default=0)
        return self._listed(of, count - most)[::-1]

    def _listed(self, of: str, since: int) -> list[str]:
        ends = time.monotonic() + _PATIENCE
        while True:
            try:
                pieces = [piece for piece in self._pieces() if piece.last > since]
                found = pa.concat_tables(self._read(pieces, of)).sort_by("batch")
                found = found.filter(pc.field("batch") >= since)
                return [str(file) for file in found.column("file").to_pylist()]
            except FileNotFoundError:  # merged while it was read
                if time.monotonic() > ends:
                    raise
                time.sleep(0.01)

    def names(self) -> list[str]:
        """The names of the manifest files, in the order of their micro-batches."""
        return [piece.name for piece in self._pieces()]

    def tidy(self) -> None:
        """Merge manifests that an earlier version did not merge."""
        manifests = [piece for piece in self._pieces() if piece.is_manifest]
        if len(manifests) <= 2 * TOGETHER:
            return
        done = max(piece.first for piece in manifests)
        size = TOGETHER
        while size <= done:
            # Listed once for all ranges, because there may be hundreds of thousands of files.
            every = self._look()
            by_stretch: defaultdict[int, list[_Piece]] = defaultdict(list)
            for piece in every:
                by_stretch[piece.first // size].append(piece)
            large = [piece for piece in every if piece.last - piece.first > size]
            for at, inside in sorted(by_stretch.items()):
                if (at + 1) * size <= done:
                    stretch = [piece for piece in inside if piece.last <= (at + 1) * size]
                    self._put_together(at * size, (at + 1) * size, stretch, large)
            size *= TOGETHER

    def _pieces(self) -> list[_Piece]:
        """The files that are in effect."""
        return _counting(self._seen())

    def _seen(self) -> list[_Piece]:
        """All files. A listing during a merge may miss the merged file but not its inputs."""
        pieces = self._look()
        while any(later.first > one.last for one, later in pairwise(pieces)):
            before, pieces = pieces, self._look()
            if before == pieces:
                break  # there were no such micro-batches
        return pieces

    def _look(self) -> list[_Piece]:
        pieces = map(_Piece.of, self._folder.names())
        return sorted(pieces, key=lambda one: (one.first, -one.last))

    def _read(self, pieces: Sequence[_Piece], of: str | None) -> Iterator[pa.Table]:
        """The entries in some files, of one name or of all."""
        known = {piece.first for piece in pieces if piece.is_manifest}
        yield _SCHEMA.empty_table()
        for piece in pieces:
            if piece.is_manifest:
                manifest = self._manifest(piece)
                rows = [
                    {"of": key, "batch": piece.first, "file": file}
                    for key, some in manifest.items()
                    if of is None or key == of
                    for file in some
                ]
                yield pa.Table.from_pylist(rows, _SCHEMA)
                continue
            path = f"{self._folder.path}/{piece.name}"
            wanted = None if of is None else [("of", "==", of)]
            try:
                table = pq.read_table(
                    path, filesystem=self._folder.system, filters=wanted, partitioning=None
                )
            except pa.ArrowInvalid as error:
                raise EngineError(
                    f"{path} is damaged: put it back from a backup ({error})"
                ) from None
            replaced = [batch for batch in known if piece.first <= batch < piece.last]
            if replaced:
                table = table.filter(~pc.field("batch").isin(replaced))
            yield table.cast(_SCHEMA)

    def _manifest(self, piece: _Piece) -> dict[str, list[str]]:
        try:
            found: dict[str, list[str]] = self._folder.read(piece.name, _KIND)
        except CheckpointError as error:
            raise error.__cause__ if isinstance(error.__cause__, OSError) else error from None
        return found

    def _put_together(
        self,
        first: int,
        last: int,
        seen: Sequence[_Piece] | None = None,
        larger: Sequence[_Piece] = (),
    ) -> bool:
        """Merge the files of a range of micro-batches into one; False if it would be too large.

        `seen` are all files in the range, if known, and `larger` those that may contain it.
        """
        if seen is None:
            every = self._look()
            seen = [one for one in every if first <= one.first and one.last <= last]
            larger = [one for one in every if one.last - one.first > last - first]
        if any(one.first <= first and last <= one.last for one in larger):
            return True  # delivered again after a reset: its manifests precede the merged file
        pieces = _counting(seen)
        whole = _Piece(f"{first:012d}-{last:012d}.parquet", first, last)
        if sum(self._rows(piece) for piece in pieces) > LARGEST:
            return False
        if pieces and pieces != [whole]:
            table = pa.concat_tables(self._read(pieces, None))
            table = table.sort_by([("of", "ascending"), ("batch", "ascending")])
            buffer = pa.BufferOutputStream()
            pq.write_table(table, buffer, row_group_size=20_000)
            self._folder.write_bytes(whole.name, buffer.getvalue().to_pybytes())
        for piece in seen:
            if piece != whole:
                self._folder.remove(piece.name)
        return True

    def _rows(self, piece: _Piece) -> int:
        """The number of rows in a merged file."""
        if piece.is_manifest:
            return 0
        path = f"{self._folder.path}/{piece.name}"
        return int(pq.read_metadata(path, filesystem=self._folder.system).num_rows)


def _counting(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The files in effect, in order: not those that lie in another, except for manifests, which
    replace its entries.
    """
    found: list[_Piece] = []
    covered = 0
    for piece in pieces:
        if piece.is_manifest or piece.last > covered:
            found.append(piece)
        if not piece.is_manifest:
            covered = max(covered, piece.last)
    return found
