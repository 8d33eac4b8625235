"""Which Spark does what: tests that exist, run on every release of PySpark that weft claims."""
