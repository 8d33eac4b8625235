"""The aggregate algebra: what is kept per slice, and how answers are made of it.

A query's aggregate becomes parts (`Part`), each a monoid over slices; equal parts are shared.
Nothing here runs anything: the Python defines the meaning, the SQL says how Spark does the same.
"""

from weft.query.aggregates.aggregate import Aggregate
from weft.query.aggregates.monoid import Component, Laws, Monoid, Partial
from weft.query.aggregates.output import Output, read_output
from weft.query.aggregates.part import Part
from weft.query.aggregates.positional import ordered
from weft.query.aggregates.registry import KINDS, monoid_of, spark_merge, spark_partial

__all__ = [
    "KINDS",
    "Aggregate",
    "Component",
    "Laws",
    "Monoid",
    "Output",
    "Part",
    "Partial",
    "monoid_of",
    "ordered",
    "read_output",
    "spark_merge",
    "spark_partial",
]
