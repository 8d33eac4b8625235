"""As-of answers from a checkpoint, in a process other than the stream's: `weft ask`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from weft.plan.time_axis import TimeAxis
from weft.sinks.files import Folder
from weft.spark.instants import At
from weft.spark.streaming.as_of import Asked, StateReader
from weft.spark.streaming.compile import compile_catalogue
from weft.spark.streaming.launch import settings
from weft.spark.workers import fit_workers
from weft.stream.as_of import AsOf
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.rows_file import SETTINGS, RowsFile
from weft.stream.status_file import read_board


def answer_from(
    spark: SparkSession,
    checkpoint: str,
    name: str,
    at: At | None = None,
    keys: Mapping[str, Any] | None = None,
    sink: Mapping[str, Any] | None = None,
) -> AsOf:
    """The result of `Running.answer`, for a stream that need not be running.

    `sink` has the sink's `kind` and `path`, by default those in the stream's last status.
    """
    known = RowsFile(checkpoint).read()
    done = [int(n) for n in Folder(checkpoint).sub("commits").names() if n.isdigit()]
    catalogue = CatalogueFiles(checkpoint).at(max(done, default=-1) + 1)
    axis = TimeAxis(catalogue.settings.time, catalogue.settings.kind)  # type: ignore[arg-type]
    posted = read_board(checkpoint)
    fit_workers(spark)
    with settings(spark, known["settings"]):
        rows = spark.createDataFrame([], T.StructType.fromJson(known["schema"]))
        compiled = compile_catalogue(catalogue, rows, axis)
        asked = Asked(catalogue, compiled, sink or (posted["sink"] if posted else None))
        return StateReader(spark, checkpoint, axis).answer(asked, name, at, keys)


def note_rows(df: DataFrame, checkpoint: str) -> None:
    """Store the schema of a stream's rows in its checkpoint."""
    conf = df.sparkSession.conf
    told = {name: value for name in SETTINGS if (value := conf.get(name, None)) is not None}
    RowsFile(checkpoint).write(df.schema.jsonValue(), told)
