"""Statistics of a frame from its Parquet files: footers and first rows, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame

from weft.plan.time_axis import TimeAxis
from weft.sinks.files import locate

Int64 = npt.NDArray[np.int64]

FILES = 8
"""Most files whose footers are read, spread evenly over all files."""


@dataclass(frozen=True)
class Footers:
    """Rows, bytes and time range of all files, estimated from the footers of some."""

    rows: float
    size: float
    first: int
    last: int
    files: tuple[str, ...] = ()
    """The files whose footers were read."""


def has_rows_of_files(df: DataFrame) -> bool:
    """Whether a frame has exactly the rows of one relation that Spark reads from Parquet files.

    The names of files do not say that: another format may be asked for, and fail.
    """
    plan = df._jdf.queryExecution().optimizedPlan()
    while plan.nodeName() == "Project":
        plan = plan.children().head()
    if not str(plan.nodeName()).startswith(("LogicalRelation", "Relation")):
        return False
    try:
        return str(plan.relation().fileFormat().toString()) == "Parquet"
    except Py4JError:  # a relation of another kind
        return False


def footers(df: DataFrame, axis: TimeAxis) -> Footers | None:
    """Read footers of a frame's files; None if they are not local Parquet, or lack the time column.

    Remote stores are left to Spark, which has their credentials; Arrow could wait for long.

    The time is assumed to be the files' column of that name. If the frame computes a different
    column of that name, only the plan's cost estimates are affected.
    """
    files = sorted(df.inputFiles())  # Spark returns them in any order
    if not files or not all(f.startswith("file:") and f.endswith(".parquet") for f in files):
        return None
    chosen = evenly(len(files), FILES)
    try:
        found = [_look(files[number], axis) for number in chosen]
    except (OSError, ValueError, OverflowError, pa.ArrowException):  # but Spark may read it
        return None
    rows, size, times = zip(*found, strict=True)
    known = [time for some in times for time in some]
    if not known:
        return None
    share = len(chosen) / len(files)
    looked = tuple(files[number] for number in chosen)
    return Footers(sum(rows) / share, sum(size) / share, min(known), max(known), looked)


def groups_of_first_rows(
    files: Sequence[str], keysets: Sequence[Sequence[str]], most: int
) -> list[Int64] | None:
    """How often each group occurs in the first rows of each file, `most` in all, by set of columns.

    None if Arrow cannot tell: columns of partitions are in the names of folders instead of the
    files, types may differ from file to file, and some cannot be grouped by.
    """
    columns = list(dict.fromkeys(name for keys in keysets for name in keys))
    found: list[pa.RecordBatch] = []
    try:
        for file in files:
            system, path = locate(file)
            with system.open_input_file(path) as opened:
                read = pq.ParquetFile(opened, coerce_int96_timestamp_unit="us")
                kinds = {field.name: field.type for field in read.schema_arrow}
                if any(name not in kinds or pa.types.is_nested(kinds[name]) for name in columns):
                    return None
                each = max(1, most // len(files))
                found += islice(read.iter_batches(each, columns=columns), 1)
        rows = pa.concat_tables([_decoded(pa.Table.from_batches([batch])) for batch in found])
        counted = [rows.group_by(list(keys)).aggregate([([], "count_all")]) for keys in keysets]
    except (OSError, pa.ArrowException):
        return None
    return [table["count_all"].to_numpy() for table in counted]


def _decoded(table: pa.Table) -> pa.Table:
    """A table without dictionaries (pandas' categories), which may differ from file to file."""
    kinds = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in table.schema]
    return table.cast(pa.schema(zip(table.column_names, kinds, strict=True)))


def evenly(count: int, most: int) -> list[int]:
    """At most `most` of the numbers below `count`, spread evenly, including the first and the last.

    >>> evenly(3, 5), evenly(100, 4)
    ([0, 1, 2], [0, 33, 66, 99])
    """
    return sorted({int(n) for n in np.linspace(0, count - 1, min(count, most)).round()})


def _look(file: str, axis: TimeAxis) -> tuple[int, int, list[int]]:
    """Rows, bytes and some times of a file."""
    system, path = locate(file)
    with system.open_input_file(path) as opened:
        read = pq.ParquetFile(opened, coerce_int96_timestamp_unit="us")
        return read.metadata.num_rows, opened.size(), list(_times(read, axis))


def _times(file: pq.ParquetFile, axis: TimeAxis) -> Iterator[int]:
    """Times that bound those of all rows, from the file's statistics.

    Without statistics (as for Spark's INT96), the times in its first and its last row group.
    """
    if axis.column not in file.schema_arrow.names:
        return
    kind = file.schema_arrow.field(axis.column).type
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    # A struct is several columns of the file.
    paths = [file.schema.column(at).path for at in range(len(file.schema))]
    told = [group.column(paths.index(axis.column)).statistics for group in groups]
    if told and all(one is not None and one.has_min_max for one in told):
        yield from _units(pa.array([t for one in told for t in (one.min, one.max)], kind))
        return
    for group in evenly(file.num_row_groups, 2):
        column = file.read_row_group(group, columns=[axis.column]).column(0)
        if column.null_count < len(column):
            found = pc.min_max(column)
            yield from _units(pa.array([found["min"].as_py(), found["max"].as_py()], kind))


def _units(times: pa.Array) -> Iterator[int]:
    """Times in units of an axis; none if an axis cannot have their type."""
    kind = times.type
    if pa.types.is_date32(kind):
        times = times.cast(pa.timestamp("us"))
    elif pa.types.is_timestamp(kind):
        times = times.cast(pa.timestamp("us", kind.tz), safe=False)
    elif not pa.types.is_integer(kind):
        return
    yield from times.cast(pa.int64()).to_pylist()
