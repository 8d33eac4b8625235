"""Other engines on the same rows and windows, each with queries as its own users would write them.

`workload` has the rows and windows, `oracle` the right answers, `engines/` one file per engine.
Every measurement is a `trial`: one engine with one number of queries in a separate process
(`child`), which has a time limit and whose memory is monitored. `live_feed` sends rows at a steady
rate, for latency. The benchmarks are `peers_batch`, `peers_stream` and `peers_latency`.
"""
