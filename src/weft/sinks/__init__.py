"""Sinks for answers: one small file per sink, each stating its delivery guarantee.

A sink gets DataFrames and does not import Spark.
"""

from weft.sinks.console import ConsoleSink
from weft.sinks.contract import MicroBatch, Sink, SinkQuery
from weft.sinks.delta import DeltaSink
from weft.sinks.foreach import ForeachBatchSink
from weft.sinks.iceberg import IcebergSink
from weft.sinks.kafka import KafkaSink, newest_messages
from weft.sinks.late_files import read_late
from weft.sinks.long import LongSink, delivered_files
from weft.sinks.memory import MemorySink
from weft.sinks.parquet import ParquetSink, read_results
from weft.sinks.postgres import PostgresSink

__all__ = [
    "ConsoleSink",
    "DeltaSink",
    "ForeachBatchSink",
    "IcebergSink",
    "KafkaSink",
    "LongSink",
    "MemorySink",
    "MicroBatch",
    "ParquetSink",
    "PostgresSink",
    "Sink",
    "SinkQuery",
    "delivered_files",
    "newest_messages",
    "read_late",
    "read_results",
]
