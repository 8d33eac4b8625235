"""A plan over a batch DataFrame. Read `run`, `shards`, `finals`; `rewrite` is Spark SQL only."""
