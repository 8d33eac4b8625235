"""Holds answers until the outer window that they go into is complete (`stream.outer_window`).

    micro-batch 7: answers  --write--> <checkpoint>/weft/held/<query>/edge=<end>/batch=7
    micro-batch 9: the watermark passes <end>  --read--> all answers held for it

What a micro-batch holds and releases depends only on its answers, its watermark and that of the
micro-batch before, so it is repeatable.
"""

from __future__ import annotations

from collections.abc import Collection

from pyarrow import fs
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from weft.sinks.files import Folder
from weft.spark.arrow import nullable_schema

_FILE, _KIND = "frontiers.json", "frontiers"
_PARTITIONS = ("edge", "batch")


class HeldAnswers:
    """The answers held in a checkpoint, processed one micro-batch after the other."""

    def __init__(self, checkpoint: str) -> None:
        self._root = f"{checkpoint.rstrip('/')}/weft/held"
        self._folder = Folder(checkpoint).sub("weft").sub("held")
        self._is_clear, self._batch = False, -1
        self._before: int | None = None
        self._frontier: int | None = None

    def begin(self, batch: int, frontier: int | None, numbers: Collection[int]) -> None:
        """Begin a micro-batch, given the watermark by which it closes windows.

        Removes answers that earlier micro-batches released, and those of queries not in `numbers`,
        which were dropped.
        """
        self._is_clear = False
        known: dict[int, int | None] = {}
        if _FILE in self._folder.kept_names():
            known = {int(at): reached for at, reached in self._folder.kept(_FILE, _KIND).items()}
        last = max((at for at in known if at < batch), default=None)
        before = None if last is None else known[last]
        self._batch, self._before = batch, before
        self._frontier = before if frontier is None else frontier
        noted = {str(batch): self._frontier}
        self._folder.keep(_FILE, _KIND, noted if last is None else {str(last): before, **noted})
        for number in self._numbers():
            if number not in numbers:
                self._remove(str(number))
                continue
            for edge in self._edges(number):
                if before is not None and edge <= before:
                    self._remove(f"{number}/edge={edge}")

    def clear(self) -> None:
        """Remove all held answers, because no query needs them."""
        if not self._is_clear:
            for number in self._numbers():
                self._remove(str(number))
            self._is_clear = True

    def exchange(
        self, number: int, answers: DataFrame, edge: str, *, has_any: bool = True
    ) -> DataFrame | None:
        """Hold a query's new answers, each until an edge; return those that are due, or None.

        `edge` is SQL of a long over an answer. Nothing is written unless `has_any`.
        """
        spark, path = answers.sparkSession, f"{self._root}/{number}"
        schema = T.StructType(  # columns by position, because a query may use any name, even `edge`
            [T.StructField(f"c{at}", f.dataType) for at, f in enumerate(answers.schema)]
        )
        schema = nullable_schema(schema)
        if has_any:
            edges = answers.select("*", F.expr(edge), F.lit(self._batch).cast("long"))
            writer = edges.toDF(*schema.names, *_PARTITIONS).write.mode("overwrite")
            writer = writer.option("partitionOverwriteMode", "dynamic").partitionBy(*_PARTITIONS)
            writer.parquet(path)
        due = [one for one in self._edges(number) if self._is_due(one)]
        if not due:
            return None
        whole = T.StructType([*schema, *(T.StructField(n, T.LongType()) for n in _PARTITIONS)])
        reader = spark.read.schema(whole).option("basePath", path)
        held = reader.parquet(*(f"{path}/edge={one}" for one in due))
        held = held.where(f"batch <= {self._batch}").select(*schema.names)
        return held.toDF(*answers.columns)

    def _is_due(self, edge: int) -> bool:
        after = self._before is None or edge > self._before
        return after and self._frontier is not None and edge <= self._frontier

    def _numbers(self) -> list[int]:
        return [int(name) for name in self._folders("") if name.isdigit()]

    def _edges(self, number: int) -> list[int]:
        names = [name for name in self._folders(str(number)) if name.startswith("edge=")]
        return [int(name.removeprefix("edge=")) for name in names]

    def _folders(self, name: str) -> list[str]:
        selector = fs.FileSelector(f"{self._folder.path}/{name}", allow_not_found=True)
        found = self._folder.system.get_file_info(selector)
        return sorted(info.base_name for info in found if info.type == fs.FileType.Directory)

    def _remove(self, name: str) -> None:
        self._folder.system.delete_dir(f"{self._folder.path}/{name}")
