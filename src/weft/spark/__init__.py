"""Run it on Spark: the only folder that imports pyspark.

Schemas, rewriting, batch, streaming and verification live here.
"""
