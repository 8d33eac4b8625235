"""The Spark adapter: the only folder that imports pyspark.

It has schemas, rewriting, batch, streaming and verification.
"""
