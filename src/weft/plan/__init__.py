"""How queries share work: edge rates, costs, trees, searches and the coverage graph.

Imports only `query`; no Spark.
"""
