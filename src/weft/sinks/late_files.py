"""Rows that a stream lost, as Parquet: readers see all lost rows of a micro-batch, or none.

    lost/000000000012-0000.parquet    rows of micro-batch 12, with the reason for the loss
    lost/_weft/batches/               the list of valid files (`weft.sinks.manifests`)
    lost/_weft/late.json              the columns, for readers of a folder without rows
    lost/_weft/writing/               files that Spark is writing

Most micro-batches lose nothing, and write nothing here.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pyarrow import fs

from weft.errors import EngineError
from weft.sinks.files import Folder
from weft.sinks.manifests import TOGETHER, Manifests
from weft.sinks.parquet import spark_schema

REASON, QUERIES, BATCH = "weft_reason", "weft_queries", "weft_batch"
"""The columns added to the source's: the reason, the queries, and the micro-batch."""
_OF, _DESCRIPTION, _KIND = "rows", "late.json", "late"


class LateFiles:
    """The files of a folder of lost rows.

    A repeated micro-batch replaces its files one by one, under the same names, and then its
    manifest.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._folder = Folder(path, private=False)  # readable by the readers of the answers
        self._weft = self._folder.sub("_weft")
        self._manifests = Manifests(self._folder)
        self._committed = 0

    def open(self, schema: dict[str, Any]) -> None:
        """Store the rows' schema, in Spark's JSON form."""
        self._weft.write(_DESCRIPTION, _KIND, {"schema": schema})
        self._manifests.tidy()

    def begin(self, batch: int) -> None:
        """Remove what an earlier run may have left of a micro-batch."""
        made = self._writing(batch)
        with suppress(FileNotFoundError):
            made.system.delete_dir(made.path)

    def writing(self, batch: int) -> str:
        """The folder to which Spark writes the rows of a micro-batch.

        A local folder is a URI, because Spark resolves a bare path on its default file system.
        """
        made = self._writing(batch)
        if isinstance(made.system, fs.LocalFileSystem):
            return f"file://{made.path}"
        return f"{self.path.rstrip('/')}{made.path[len(self._folder.path) :]}"

    def has(self, batch: int) -> bool:
        """Whether the rows of a recent micro-batch have been committed."""
        return self._weft.sub("batches").has(f"{batch:012d}.json")

    def commit(self, batch: int) -> None:
        """Make the rows that Spark has written of a micro-batch visible, if there are any."""
        made, files = self._writing(batch), []
        for at, name in enumerate(one for one in made.names() if one.endswith(".parquet")):
            files.append(f"{batch:012d}-{at:04d}.parquet")
            self._folder.system.move(f"{made.path}/{name}", f"{self._folder.path}/{files[-1]}")
        self._manifests.write(batch, {_OF: files})
        with suppress(FileNotFoundError):
            made.system.delete_dir(made.path)
        self._committed += 1
        if self._committed % TOGETHER == 0:  # `write` rarely merges, as most batches lose nothing
            self._manifests.tidy()

    def _writing(self, batch: int) -> Folder:
        return self._weft.sub("writing").sub(f"{batch:012d}")


def read_late(spark: Any, path: str) -> Any:
    """The rows that a stream with `late="deliver"` lost, as a DataFrame.

    It has the source's own columns, `weft_reason` ("late", "ahead" or "failed"), `weft_queries`
    (the names of the queries that lost the row) and `weft_batch` (the micro-batch). Only complete
    micro-batches are read, each once.
    """
    folder = Folder(path)
    if not folder.sub("_weft").has(_DESCRIPTION):
        raise EngineError(
            f"{path!r} has no late rows: it is not what late_to= of a stream with late='deliver' "
            f"named"
        )
    schema = spark_schema(spark, folder.sub("_weft").read(_DESCRIPTION, _KIND)["schema"])
    files = [f"{path.rstrip('/')}/{file}" for file in Manifests(folder).files(_OF)]
    if not files:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(*files)
