"""Queries written in SQL, one dialect a file: Spark's is `spark`.

A dialect makes `Query`s of text, or says at which place of the text it cannot and why. Nothing
here runs SQL.
"""

from weft.query.sql.spark import parse_queries, parse_query

__all__ = ["parse_queries", "parse_query"]
