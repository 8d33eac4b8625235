"""Faults done to a stream on purpose, one family a file, each ending in right answers or a stop.

`python -m weft.spark.faults` runs them, seeded, and writes what happened to docs/reliability.md.
Nothing else imports this package.
"""
