"""Edge rates: how often a set of windows cuts the stream, by several methods.

`kernels` is for compiled searches, the rest for all callers. Imports only `query`; no Spark.
"""

from __future__ import annotations

from weft.plan.edges.measure import METHODS, Method, edge_rate, measure, weaveability
from weft.plan.edges.progressions import Pieces, Progressions
from weft.plan.edges.rate import Rate

__all__ = [
    "METHODS",
    "Method",
    "Pieces",
    "Progressions",
    "Rate",
    "edge_rate",
    "measure",
    "weaveability",
]
