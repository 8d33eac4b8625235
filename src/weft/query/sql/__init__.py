"""Queries written in SQL, one dialect a file: Spark's, CQL, Azure Stream Analytics', Flink's.

A dialect makes `Query`s of text, or says at which place of the text it cannot and why, and writes
queries as text. Nothing here runs SQL.
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
