"""The part of a stream with one stateful operator that needs pyspark.

The workers' code (`weft.engine`, `weft.stream.micro_batch`) does not, and is tested without Spark.
"""
