"""RisingWave's SQL, which weft translates into Spark SQL and then reads.

Nothing here serves another dialect: windows that Flink has too are in `dialects/in_spark.py`. Read
`risingwave.py`, then `words.py` (what RisingWave takes from PostgreSQL), `values.py` and `json.py`.
"""
