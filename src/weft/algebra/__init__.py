"""What is kept of rows: each family of aggregates in one file, with its parts and its answers.

Plain Python, NumPy, Numba and Arrow. Read `part`, `monoid` and a family (`sums`), then `ops`.
"""
