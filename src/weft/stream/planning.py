"""The plan that a new stream starts with, which needs no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.job.model import Job
from weft.plan.optimizer import optimize
from weft.plan.plan import Plan
from weft.query.query import Query


def stream_plan(queries: Sequence[Query], **planning: Any) -> Plan:
    """The plan that a new stream of these queries starts with."""
    engine = planning.get("engine") or "operator"
    strategy = "weave" if engine == "operator" else "factor"
    planning = {"rate": 1000.0, "strategy": strategy, **planning, "engine": engine}
    return optimize(list(queries), **planning)


def plan_options(job: Job, *, streaming: bool = False) -> dict[str, Any]:
    """The job's plan options in the form that `Loom` accepts."""
    options = dict(job.plan)
    if streaming and options.get("engine") == "auto":
        del options["engine"]  # streams have another default
    return options
