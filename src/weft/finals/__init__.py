"""Combine slices into answers: one structure per file, and a registry of them.

Imports only earlier stages; no Spark.
"""
