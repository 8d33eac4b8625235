"""History for queries added later: the shards of rows before the seam, a file for every bucket.

    history --the stream's projection--> rows --the stream's pre-aggregation--> parcels by task
        --merged by bucket--> <checkpoint>/weft/history/PLACE/BUCKET.parcel

The operator merges a bucket's file in the first micro-batch whose program names it (decision 0022).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyarrow import fs
from pyspark.sql import DataFrame

from weft.engine.groups import group_rows
from weft.engine.parcel import ROWS, Parcel, Shipment
from weft.engine.preaggregate import BUCKET, SPARK_SCHEMA, Preaggregate
from weft.engine.program import Program
from weft.engine.shards import FRAGMENT, SLICE, flat, merged
from weft.engine.state.index import Index
from weft.errors import EngineError
from weft.plan.time_axis import TimeAxis
from weft.sinks.files import Folder
from weft.spark.as_written import as_written
from weft.spark.streaming.compile import Compiled, compile_catalogue
from weft.spark.streaming.menu import Menu
from weft.spark.streaming.pipeline import projected_rows
from weft.spark.workers import fit_workers
from weft.stream.catalogue import Catalogue
from weft.stream.deployment import history_file

_WRITTEN = "bucket int, rows long"


@dataclass(frozen=True)
class Gather:
    """For `applyInArrow`: merges the parcels of a bucket to one, and writes it."""

    program: Program
    location: str

    def __call__(self, table: pa.Table) -> pa.Table:
        bucket = table.column(BUCKET)[0].as_py()
        parcels = [Parcel.from_bytes(data) for data in table.column("parcel").to_pylist()]
        index = Index()
        tables = []
        for shipment in (shipment for parcel in parcels for shipment in parcel.shipments):
            numbers = np.array([index.fragment(s) for s in shipment.signatures], dtype=np.int64)
            renamed = numbers[flat(shipment.shards, FRAGMENT).to_numpy()]
            at = shipment.shards.column_names.index(FRAGMENT)
            shards = shipment.shards.set_column(at, FRAGMENT, pa.array(renamed))
            tables.append((shipment.store, shards))
        signatures = tuple(int(text, 16) for text in index.fragments)
        shipments = [
            Shipment(
                number, signatures, self._merged(number, [t for n, t in tables if n == number])
            )
            for number in dict.fromkeys(number for number, _ in tables)
        ]
        rows = sum(int(np.sum(one.shards.column(ROWS).to_numpy())) for one in shipments)
        parcel = Parcel(None, rows, tuple(shipments))
        Folder(self.location).write_bytes(history_file(bucket), parcel.to_bytes())
        return pa.table({"bucket": pa.array([bucket], pa.int32()), "rows": pa.array([rows])})

    def _merged(self, number: int, tables: Sequence[pa.Table]) -> pa.Table:
        """A store's shards of all tasks, merged to one per slice, fragment and group."""
        store = next(store for store in self.program.stores if store.number == number)
        joined = pa.concat_tables(tables).combine_chunks()
        by = [SLICE, FRAGMENT, *(key.column for key in store.schema.keys)]
        groups = group_rows([flat(joined, name) for name in by], joined.num_rows)
        counts = np.bincount(groups.ids, joined.column(ROWS).to_numpy(), groups.count)
        table = merged(joined, by, store.schema.parts, groups).select(store.schema.arrow.names)
        return table.append_column(ROWS, pa.array(counts.astype(np.int64)))


def check_history(df: DataFrame, axis: TimeAxis, stream: DataFrame) -> None:
    """Refuse a DataFrame that cannot be the history of a stream, before anything is done."""
    if df.isStreaming:
        raise EngineError("history= is a batch DataFrame, and this one is streaming")
    ours, theirs = ({f.name.lower(): f for f in frame.schema.fields} for frame in (stream, df))
    time = axis.column.lower()
    if time not in theirs:
        raise EngineError(
            f"history: there is no column {axis.column!r}, the time of the stream's rows; it has "
            f"{', '.join(df.columns)}"
        )
    if time in ours and ours[time].dataType != theirs[time].dataType:
        raise EngineError(
            f"history: the time {axis.column!r} is {theirs[time].dataType.simpleString()}, and "
            f"{ours[time].dataType.simpleString()} on the stream: cast it"
        )


def last_time(df: DataFrame, axis: TimeAxis) -> int | None:
    """The time of the latest row; None if there is none."""
    found = df.selectExpr(f"max({axis.units()})").collect()[0][0]
    return None if found is None else int(found)


def write_history(
    df: DataFrame,
    axis: TimeAxis,
    catalogue: Catalogue,
    compiled: Compiled,
    checkpoint: str,
    names: Sequence[str],
) -> dict[str, str]:
    """Write the shards of queries that wait for history; returns the places by lower-case name.

    `catalogue` and `compiled` are those of the stream in which the queries wait.
    """
    asked = {name.lower() for name in names}
    waiting = [e for e in catalogue.entries if e.waiting and e.query.name.lower() in asked]
    stores = {
        store.number: store
        for store in catalogue.stores
        if store.seam is not None and store.history is None
    }
    fit_workers(df.sparkSession)
    found = {}
    for number, store in stores.items():
        users = [entry for entry in waiting if entry.assignments[0].store == number]
        if not users:
            continue
        part = replace(
            catalogue,
            entries=tuple(replace(e, assignments=e.assignments[:1]) for e in users),
            stores=(store,),
        )
        place = f"{number}-{uuid.uuid4().hex[:12]}"
        with as_written(df.sparkSession):
            _write(df, axis, part, compiled, f"{checkpoint.rstrip('/')}/weft/history/{place}")
        found.update({entry.query.name.lower(): place for entry in users})
    # A query none of whose open windows starts before the seam needs no history.
    return {entry.query.name.lower(): "none" for entry in waiting} | found


def tidy_history(checkpoint: str, catalogues: Sequence[Catalogue]) -> None:
    """Remove histories that no store of these catalogues needs."""
    stores = [store for catalogue in catalogues for store in catalogue.stores]
    needed = {store.history[0] for store in stores if store.history is not None}
    folder = Folder(checkpoint).sub("weft").sub("history")
    selector = fs.FileSelector(folder.path, allow_not_found=True)
    for info in folder.system.get_file_info(selector):
        if info.type == fs.FileType.Directory and info.base_name not in needed:
            folder.system.delete_dir(info.path)


def _write(
    df: DataFrame, axis: TimeAxis, part: Catalogue, streaming: Compiled, location: str
) -> None:
    menu = Menu.of(df, axis)
    program = compile_catalogue(part, df, axis, menu).program
    (store,) = program.stores
    _check_types(streaming, program)
    oldest = store.needed_from(-(1 << 62))
    units = axis.units()
    rows = df.where(f"{units} >= {oldest}L AND {units} < {store.seam}L")
    every = replace(program, stores=(replace(store, seam=None, history=None),))
    projected = projected_rows(menu, len(program.labels), rows)
    parcels = projected.mapInArrow(Preaggregate(every), SPARK_SCHEMA)
    gather = Gather(every, location)
    # A lambda, because Spark would count `self` as an argument of a method.
    merged_by_bucket = parcels.groupBy(BUCKET).applyInArrow(lambda table: gather(table), _WRITTEN)
    written = merged_by_bucket.collect()
    folder = Folder(location)
    for label in set(program.labels) - {row[0] for row in written}:  # if no task had any rows
        folder.write_bytes(history_file(label), Parcel(None, 0).to_bytes())


def _check_types(streaming: Compiled, program: Program) -> None:
    """Refuse a history whose values have other types than those of the stream."""
    (store,) = program.stores
    own = next(tree for tree in streaming.program.stores if tree.number == store.number)
    if own.schema != store.schema:
        ours, theirs = own.schema.arrow, store.schema.arrow
        wrong = next(
            (f"{a.type} on the stream and {b.type} in the history"
             for a, b in zip(ours, theirs, strict=True) if a != b),
            "another",
        )  # fmt: skip
        raise EngineError(
            f"history: a key or argument is {wrong}: cast the history's columns to the types of "
            f"the stream's"
        )
