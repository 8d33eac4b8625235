"""On-the-fly sharing (SIGMOD'06)."""
