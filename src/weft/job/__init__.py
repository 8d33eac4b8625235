"""A job file: where rows come from, what is asked of them, where the answers go.

Pure: a job is read and checked here, to the line and column of a mistake, before Spark is started;
`weft.spark.jobs` makes DataFrames and sinks of it.
"""

from weft.job.model import Job, SinkSpec, SourceSpec
from weft.job.reading import load_job, need
from weft.job.schema import job_schema
from weft.job.tables import job_on_table

__all__ = ["Job", "SinkSpec", "SourceSpec", "job_on_table", "job_schema", "load_job", "need"]
