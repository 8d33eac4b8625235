"""Queries: windows, aggregates, predicates, queries and workloads.

Pure Python and NumPy: nothing here plans, runs or imports Spark.
"""
