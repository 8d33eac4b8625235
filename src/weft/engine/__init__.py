"""Aggregates rows into slices and slices into answers, for batch and streaming; no pyspark, no I/O.

Read `program`, `preaggregate`, `answer`; then `slicing/`, `fragments/`, `finals/` and `state/`.
"""
