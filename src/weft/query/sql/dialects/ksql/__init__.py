"""ksqlDB's SQL, which weft translates into Spark SQL and then reads.

Nothing here serves another dialect. Read `ksql.py`, then `calls.py` (functions that Spark calls
otherwise).
"""
