"""The dialects: how each one is read, written, and translated into Spark SQL.

Whatever two dialects share is a file here and imports none of the folders; a dialect's folder
imports no other dialect's. Read `dialect.py` (what a dialect consists of), `vocabulary.py` (its
operators, functions and types), `spark.py`, `in_spark.py` and `standard.py` (translating whole
statements), `ksql.py`; then `cql`, `flink`, `risingwave` and `azure`.
"""
