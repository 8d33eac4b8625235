"""Plans as pictures: `plan_timeline`, `cost_curve`, `coverage_graph`; `pip install 'weft[plot]'`.

The only folder that imports matplotlib. It reads plans and measures nothing but their costs;
nothing else in weft imports it, and it knows no Spark.
"""

from __future__ import annotations

from weft.plot import canvas as canvas  # first: it reports a missing matplotlib
from weft.plot.coverage import coverage_graph as coverage_graph
from weft.plot.curve import cost_curve as cost_curve
from weft.plot.curve import costs_by_count as costs_by_count
from weft.plot.timeline import plan_timeline as plan_timeline

__all__ = ["cost_curve", "costs_by_count", "coverage_graph", "plan_timeline"]
