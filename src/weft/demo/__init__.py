"""A generated market: what `weft demo`, the examples and the tutorial run on.

`trades` makes an hour of trades and queries on them; `trades.yaml` has the queries of the demo.
Imports `query` only.
"""
