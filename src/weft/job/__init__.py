"""A job file: where rows come from, the queries over them, and where the answers go.

No Spark here: a job is parsed and checked, with line and column of every mistake, before Spark is
started; `weft.spark.jobs` makes DataFrames and sinks from it.
"""

from weft.job.model import Job, SinkSpec, SourceSpec
from weft.job.reading import load_job, need
from weft.job.schema import job_schema
from weft.job.tables import job_on_table

__all__ = ["Job", "SinkSpec", "SourceSpec", "job_on_table", "job_schema", "load_job", "need"]
