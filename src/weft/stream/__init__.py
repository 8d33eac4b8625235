"""The control plane of a stream, without pyspark: its queries, their changes, and its status.

Read `tree_schema`, `catalogue`, `evolve`; then `requests`, `status` and the rest.
"""
