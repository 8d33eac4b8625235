"""A stream through one stateful operator: what of it needs pyspark.

What workers do (`weft.engine`, `weft.stream.micro_batch`) needs none, and is tested without Spark.
"""
