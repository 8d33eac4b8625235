"""The control plane of a stream, without pyspark: what runs, how it changes, and how it fares.

Read `tree_schema`, `catalogue`, `evolve`; then `requests`, `status` and the rest.
"""
