"""OpenLineage: a run for every query of a stream, with where its columns come from.

Read `datasets.py` (names of datasets), `facets.py` (their descriptions), `runs.py` (when events are
sent), and `transport.py` (how they are sent). Nothing here needs Spark.
"""
