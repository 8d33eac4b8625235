"""Flink SQL.

Nothing here serves another dialect: windows that RisingWave has too are in `dialects/in_spark.py`.
Read `flink.py` (one SELECT), `statements.py` (whole statements), `words.py` (its vocabulary) and
`calls.py`.
"""
