"""Aggregates: one file for each family, with the parts that slices store and how answers are made.

Plain Python, NumPy, Numba and Arrow. Read `part`, `monoid` and a family (`sums`), then `ops`.
"""
