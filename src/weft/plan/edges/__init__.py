"""How often a set of windows cuts the stream: edge rates, by several methods.

Imports only `query`; no Spark.
"""
