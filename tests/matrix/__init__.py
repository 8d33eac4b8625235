"""Which features work on which Spark: existing tests, run on every supported PySpark release."""
