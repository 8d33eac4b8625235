"""Cut and pre-aggregate: timestamp to slice, row to fragment signature.

Imports only `query` and `plan`; no Spark.
"""
