"""Compares the plan's answers with those of the plain Spark queries (`native`), row by row."""
