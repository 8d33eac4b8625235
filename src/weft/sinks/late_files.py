"""Rows that a stream lost, as Parquet: each micro-batch's are seen whole or not at all.

    lost/000000000012-0000.parquet    rows of micro-batch 12, with why they were lost
    lost/_weft/batches/               which files count (`weft.sinks.manifests`)
    lost/_weft/late.json              the columns, for readers of a folder without rows
    lost/_weft/writing/               what Spark is writing

Most micro-batches lose nothing, and leave nothing here.
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
"""The columns beside the source's own: why, for which queries, in which micro-batch."""
_OF, _DESCRIPTION, _KIND = "rows", "late.json", "late"


class LateFiles:
    """The files of a folder of lost rows.

    A micro-batch that is run again replaces its files one by one, under the same names, and then
    its manifest.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._folder = Folder(path, private=False)  # for whoever reads answers, as they are
        self._weft = self._folder.sub("_weft")
        self._manifests = Manifests(self._folder)
        self._committed = 0

    def open(self, schema: dict[str, Any]) -> None:
        """Take note of the rows' schema, as Spark describes it in JSON."""
        self._weft.write(_DESCRIPTION, _KIND, {"schema": schema})
        self._manifests.tidy()

    def begin(self, batch: int) -> None:
        """Make way for the rows of a micro-batch, of which an earlier run may have left some."""
        made = self._writing(batch)
        with suppress(FileNotFoundError):
            made.system.delete_dir(made.path)

    def writing(self, batch: int) -> str:
        """The folder into which Spark is to write the rows of a micro-batch.

        A local one as a URI, because a bare path means Spark's own file system to Spark.
        """
        made = self._writing(batch)
        if isinstance(made.system, fs.LocalFileSystem):
            return f"file://{made.path}"
        return f"{self.path.rstrip('/')}{made.path[len(self._folder.path) :]}"

    def has(self, batch: int) -> bool:
        """Whether the rows of one of the last micro-batches are here."""
        return self._weft.sub("batches").has(f"{batch:012d}.json")

    def commit(self, batch: int) -> None:
        """Make what Spark has written of a micro-batch visible: nothing, if it has not."""
        made, files = self._writing(batch), []
        for at, name in enumerate(one for one in made.names() if one.endswith(".parquet")):
            files.append(f"{batch:012d}-{at:04d}.parquet")
            self._folder.system.move(f"{made.path}/{name}", f"{self._folder.path}/{files[-1]}")
        self._manifests.write(batch, {_OF: files})
        with suppress(FileNotFoundError):
            made.system.delete_dir(made.path)
        self._committed += 1
        if self._committed % TOGETHER == 0:  # not every micro-batch has a manifest to do it with
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
