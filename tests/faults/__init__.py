"""Faults injected into a stream, a file per family; each must end in right answers or a stop.

`python -m tests.faults` (in the root of the repository) runs them, seeded, and writes what happened
to docs/reliability.md; `python -m tests.faults.chaos` kills a stream repeatedly, and
`python -m tests.faults.soak` runs one for an hour. `rig` makes the streams, `outcome` checks them.
"""
