"""Faults done to a stream on purpose, one family a file, each ending in right answers or a stop.

`python -m tests.faults` (in the root of the repository) runs them, seeded, and writes what happened
to docs/reliability.md; `python -m tests.faults.chaos` kills a stream again and again, and
`python -m tests.faults.soak` runs one for an hour. `rig` makes the streams, `outcome` judges them.
"""
