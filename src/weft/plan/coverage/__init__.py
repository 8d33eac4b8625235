"""Windows computed from one another: the coverage graph and the cheapest forests over it.

FactorWindows, with rates in place of a common period. Imports only `query` and `errors`; no Spark
and no SQL.
"""

from __future__ import annotations

from weft.plan.coverage.link import Link as Link
from weft.plan.coverage.plan import CoveragePlan as CoveragePlan
from weft.plan.coverage.relation import covers as covers
from weft.plan.coverage.relation import partitions as partitions
from weft.plan.coverage.weave import weave_coverage as weave_coverage

__all__ = ["CoveragePlan", "Link", "covers", "partitions", "weave_coverage"]
