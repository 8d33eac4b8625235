"""OpenLineage: a run for every query of a stream, with where its columns come from.

Read `datasets.py` (what things are called), `facets.py` (what is said of them), `runs.py` (when),
and `transport.py` (how it is sent). Nothing here needs Spark.
"""
