"""Queries written in SQL: of Spark, CQL, Azure Stream Analytics, Flink, ksqlDB and RisingWave.

SQL becomes a `Query`, or an error that says where the text cannot be read and why, and a `Query`
becomes SQL. Nothing here plans or runs SQL. Imports between the folders go one way: `select` (one
SELECT as a syntax tree) imports none of them, `tokens` (clauses found in a token list) imports
`select`, and `text` (a text split into statements) and `dialects` import those two.

Read `reading.py` (the entry point), `recognise.py` (which dialect a statement is in), then
`dialects/spark.py` and `select/select.py` (one SELECT), `composed.py` (statements with several
SELECTs) and `writing.py`.
"""

from weft.query.sql.reading import (
    DIALECTS,
    parse_queries,
    parse_query,
    parse_statement,
    read_statements,
)
from weft.query.sql.writing import write_query

__all__ = [
    "DIALECTS",
    "parse_queries",
    "parse_query",
    "parse_statement",
    "read_statements",
    "write_query",
]
