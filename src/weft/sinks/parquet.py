"""Parquet: a folder per query, or one long table; micro-batches become visible atomically."""

from __future__ import annotations

import errno
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from weft.errors import EngineError
from weft.sinks.contract import Figures, MicroBatch, Sink, SinkQuery, write_each
from weft.sinks.files import Folder
from weft.sinks.manifests import Manifests
from weft.sinks.wire import FIGURES, WRITTEN, figures_in, from_wire, written

_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)


class ParquetSink(Sink):
    """`<path>/<query>/<number>/<batch>-<bucket>.parquet`, written by the workers.

    A micro-batch becomes visible to `weft.read_results` when its manifest, which lists its files,
    is written atomically (`weft.sinks.manifests`); a repeated micro-batch overwrites its files and
    its manifest.
    """

    guarantee: ClassVar[str] = "exactly once, read with weft.read_results"

    def __init__(self, path: str) -> None:
        self.path = path
        # Manifests must be readable by the readers of the answers, so their modes follow the umask.
        self.folder = Folder(path, private=False)
        self.manifests = Manifests(self.folder)

    def open(self, queries: Mapping[int, SinkQuery], mode: str) -> None:
        super().open(queries, mode)
        self.manifests.tidy()
        described = self.folder.sub("_weft").sub("queries")
        known = set(described.names())
        for number, query in queries.items():
            name = f"{number:08d}.json"
            if name not in known:
                body = {
                    "name": query.name,
                    "number": number,
                    "folder": folder_name(query.name, number),
                    "schema": query.schema.jsonValue(),
                    "keys": None if query.keys is None else list(query.keys),
                    "mode": mode,
                }
                described.write(name, "query", body)

    def deliver(self, batch: MicroBatch) -> Figures:
        folders = {n: folder_name(q.name, n) for n, q in batch.queries.items()}
        writer = FileWriter(self.path, batch.number, folders)
        told = batch.frame.mapInArrow(writer, WRITTEN).collect()
        manifest: dict[str, list[str]] = {}
        for row in told:
            if row["query"] != FIGURES:
                manifest.setdefault(str(row["query"]), []).append(row["text"])
        self.manifests.write(batch.number, manifest)
        return figures_in(told)

    def write(self, batch: MicroBatch, counts: Mapping[int, int]) -> None:
        raise EngineError("a Parquet sink writes as it computes; call deliver")


class FileWriter:
    """For `mapInArrow`: writes answers to files, one per query and task."""

    def __init__(self, path: str, batch: int, folders: Mapping[int, str]) -> None:
        self.path, self.batch, self.folders = path, batch, dict(folders)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[int, int, str]] = []
        tables: dict[int, list[pa.Table]] = {}
        first: dict[int, int] = {}
        for batch in batches:
            for row in batch.to_pylist():
                query = row["query"]
                if query == FIGURES:
                    rows.append((query, 0, row["payload"].decode()))
                elif query in self.folders:
                    tables.setdefault(query, []).append(from_wire(row["payload"]))
                    first[query] = min(first.get(query, row["bucket"]), row["bucket"])
        folder = Folder(self.path)

        def write(query: int) -> None:
            table = pa.concat_tables(tables[query])
            name = f"{self.folders[query]}/{self.batch:012d}-{first[query]:04d}.parquet"
            folder.system.create_dir(f"{folder.path}/{self.folders[query]}", recursive=True)
            pq.write_table(table, f"{folder.path}/{name}", filesystem=folder.system)
            rows.append((query, table.num_rows, name))

        write_each(tables, write, self._is_well)
        yield written(rows)

    def _is_well(self, errors: Iterable[Exception]) -> bool:
        """Whether the sink can be written to at all; no query is to blame for a full disk."""
        if any(getattr(error, "errno", None) in _OF_THE_DISK for error in errors):
            return False
        probe = Folder(self.path, private=False).sub("_weft")
        name = f"probe-{uuid.uuid4().hex}"
        try:
            probe.write_bytes(name, b"?" * 65536)
            probe.remove(name)
        except OSError:
            return False
        return True


def folder_name(name: str, number: int) -> str:
    """The folder of a query's files; the number distinguishes successive queries of one name.

    >>> folder_name("a/b", 3)
    'a_b/3'
    """
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}/{number}"


def described_query(path: str, query: str) -> dict[str, Any]:
    """The description that a Parquet sink stored of the newest query with this name."""
    folder = Folder(path).sub("_weft").sub("queries")
    known = [folder.read(name, "query") for name in folder.names()]
    named = [entry for entry in known if entry["name"].lower() == query.lower()]
    if not named:
        names = ", ".join(sorted({repr(entry["name"]) for entry in known})) or "none"
        raise EngineError(f"no query {query!r} in {path!r}; it has {names}")
    return max(named, key=lambda entry: int(entry["number"]))


def read_results(spark: Any, path: str, query: str) -> Any:
    """One query's answers as a DataFrame with the plain query's schema.

    Only complete micro-batches are read, each once. In update mode the newest answer of every
    window and group is returned. If several queries have had the name, the newest one is read.
    """
    entry = described_query(path, query)
    schema = spark_schema(spark, entry["schema"])
    listed = Manifests(Folder(path)).files(str(entry["number"]))
    files = [f"{path.rstrip('/')}/{file}" for file in listed]
    if not files:
        return spark.createDataFrame([], schema)
    frame = spark.read.schema(schema).parquet(*files)
    return frame if entry["mode"] == "append" else newest(spark, frame, entry["keys"])


def newest(spark: Any, frame: Any, keys: list[str]) -> Any:
    """The rows of the latest micro-batch for every window and group."""
    by = ", ".join(["window", *("`" + key.replace("`", "``") + "`" for key in keys)])
    ranked = frame.selectExpr(
        "*",
        f"row_number() OVER (PARTITION BY {by} ORDER BY substring_index("
        "input_file_name(), '/', -1) DESC) AS weft_rank",
    )
    return ranked.where("weft_rank = 1").drop("weft_rank")


def spark_schema(spark: Any, described: dict[str, Any]) -> Any:
    """A Spark schema from JSON values, without importing Spark here."""
    kind = type(spark.range(0).schema)
    return kind.fromJson(described)
