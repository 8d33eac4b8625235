"""Benchmarks: each compares in one run, checks its answers, and returns a `BenchReport`.

`weft bench NAME` runs `weft.bench.NAME.run(quick=...)`; nothing else imports this folder.
"""
