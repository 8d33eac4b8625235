"""What a plan predicted beside what is measured, and a better plan when they are far apart."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from weft.plan.optimizer import optimize
from weft.plan.plan import Plan
from weft.spark.streaming.catalogue import Catalogue
from weft.spark.streaming.status import Tally

PAUSE = 60.0
"""Seconds between two changes of plan: each costs a restart."""
BATCHES = 3
"""Micro-batches to be seen before anything is concluded."""


@dataclass
class Adapter:
    """Re-plans with the measured rate when the present plan has become too dear."""

    changed_at: float = float("-inf")

    def better_plan(
        self, catalogue: Catalogue, tally: Tally, rate: float | None, now: float | None = None
    ) -> Plan | None:
        """Another plan of the same queries, if the present one costs more than its tolerance."""
        now = time.monotonic() if now is None else now
        if rate is None or tally.batches < BATCHES or now - self.changed_at < PAUSE:
            return None
        plan = repriced(Plan.from_dict(catalogue.plan), rate)
        options = plan.request.options
        given = {name: getattr(options, name) for name in options.__dataclass_fields__}
        better = optimize(list(plan.queries), **{**given, **given.pop("search")})
        if plan.cost <= (1.0 + options.tolerance) * better.cost:
            return None
        self.changed_at = now
        return better


def repriced(plan: Plan, rate: float) -> Plan:
    """The same trees, priced at another rate."""
    request = replace(plan.request, options=replace(plan.request.options, rate=rate))
    return Plan(request, plan.labels, plan.edge_rates, plan.coverages, plan.report)


def measured_lines(plan: Plan, catalogue: Catalogue, tally: Tally, rate: float | None) -> list[str]:
    """Predicted against measured: the rate, and each store's shards per slice and time."""
    if rate is None:
        return ["measured: nothing yet"]
    now = repriced(plan, rate)
    lines = [
        f"measured: {rate:,.6g} rows per second (planned for {plan.rate:,.6g}); "
        f"at that rate the plan costs {now.cost:,.6g} (predicted {plan.cost:,.6g})"
    ]
    for store in catalogue.stores:
        users = [
            entry.query.name
            for entry in catalogue.entries
            if any(assignment.store == store.number for assignment in entry.assignments)
        ]
        predicted = sum(1.0 / step for _, step in store.cuts()) * now.request.unit
        held = tally.store(store.number)
        shards = tally.shards.get(store.number, 0)
        cuts = max(1, tally.cuts.get(store.number, 0))
        seconds = tally.merging.get(store.number, 0.0) + tally.answering.get(store.number, 0.0)
        lines.append(
            f"store {store.number}: {len(users)} queries, at most {predicted:,.6g} edges per unit; "
            f"{shards / cuts:,.6g} shards per slice, {held['slices']:,} slices and "
            f"{held['bytes']:,} bytes held, {seconds:.3g} s"
        )
    return lines
