"""Converts answers that Spark SQL computed back to the form of the operator's output.

Workers import this module, so its imports must be few.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark import TaskContext

from weft.algebra.ops.order import typed
from weft.sinks.wire import to_wire


class Encode:
    """For `mapInArrow`: a query's typed answers as rows of the operator's output."""

    def __init__(self, query: int, schema: pa.Schema) -> None:
        self.query, self.schema = query, schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
        if tables:
            columns = pa.concat_tables(tables).combine_chunks().columns
            arrays = [
                typed(column.combine_chunks(), field.type)
                for column, field in zip(columns, self.schema, strict=True)
            ]
            table = pa.table(arrays, schema=self.schema)
            context = TaskContext.get()
            partition = 0 if context is None else context.partitionId()  # used in file names
            yield pa.RecordBatch.from_pydict(
                {
                    "query": pa.array([self.query], pa.int32()),
                    "bucket": pa.array([partition], pa.int32()),
                    "rows": pa.array([table.num_rows], pa.int64()),
                    "payload": pa.array([to_wire(table)], pa.binary()),
                }
            )
