"""Spark SQL text as trees and back, exactly: lexer, reader (sqlglot), tree, writer.

Nothing here knows queries or aggregates, and nothing else in weft touches sqlglot or SQL text.
"""
