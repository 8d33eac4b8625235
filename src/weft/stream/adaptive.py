"""Compares a plan's predicted cost with the measured one, and replans when they differ too much.

What is measured is the rate and, for each store, the groups and fragments per slice; only the
`engine` cost model uses the latter two.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from weft.plan.cost import Statistics
from weft.plan.optimizer import plan_request
from weft.plan.plan import Plan
from weft.stream.catalogue import Catalogue
from weft.stream.status import Tally
from weft.stream.tree_schema import TreeSchema

PAUSE = 60.0
"""Least seconds between two changes of plan, because each needs a restart."""
BATCHES = 3
"""Micro-batches to observe before drawing conclusions."""


@dataclass
class Adapter:
    """Replans with the measured statistics when the current plan has become too expensive."""

    changed_at: float = float("-inf")

    def better_plan(
        self, catalogue: Catalogue, tally: Tally, rate: float | None, now: float | None = None
    ) -> Plan | None:
        """Another plan of the same queries, if the current one costs too much more than it."""
        now = time.monotonic() if now is None else now
        if rate is None or tally.batches < BATCHES or now - self.changed_at < PAUSE:
            return None
        plan = catalogue.planned
        plan = repriced(plan, rate, measured_statistics(plan, catalogue, tally))
        better = plan_request(plan.request)
        if plan.cost <= (1.0 + plan.request.options.tolerance) * better.cost:
            return None
        self.changed_at = now
        return better


def repriced(plan: Plan, rate: float, statistics: Statistics) -> Plan:
    """The plan with the same trees, priced at another rate and with other statistics."""
    options = replace(plan.request.options, rate=rate, statistics=statistics)
    request = replace(plan.request, options=options)
    return Plan(request, plan.labels, plan.edge_rates, plan.coverages, plan.report)


def measured_statistics(plan: Plan, catalogue: Catalogue, tally: Tally) -> Statistics:
    """The plan's statistics, with measured groups and fragments where there are any."""
    known = plan.request.options.statistics
    fragments = max((one["fragments"] for one in tally.last), default=0)
    groups: dict[str, float] = {}
    for store in catalogue.stores:
        keys = ",".join(key.value for key in store.keys)
        if keys and tally.cuts.get(store.number):
            told_apart = max(1, fragments) if store.predicates else 1
            seen = shards_per_slice(tally, store.number) / told_apart
            groups[keys] = max(1.0, seen, groups.get(keys, 0.0))
    return replace(
        known,
        groups=groups or known.groups,
        fragments=float(fragments) if fragments > 1 else known.fragments,
    )


def shards_per_slice(tally: Tally, store: int) -> float:
    """The shards per slice of a store, over all buckets."""
    return tally.shards.get(store, 0) / max(1, tally.cuts.get(store, 0))


def measured_lines(plan: Plan, catalogue: Catalogue, tally: Tally, rate: float | None) -> list[str]:
    """Predicted and measured values: the rate, and each store's shards per slice and time."""
    if rate is None:
        return ["measured: nothing yet"]
    now = repriced(plan, rate, measured_statistics(plan, catalogue, tally))
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
        lines.append(
            f"store {store.number}: {len(users)} queries, at most {predicted:,.6g} edges per unit; "
            f"{shards_per_slice(tally, store.number):,.6g} shards per slice"
            f"{expected(plan, store)}, {held['slices']:,} slices and "
            f"{held['bytes']:,} bytes held, {tally.load.seconds(store.number):.3g} s"
        )
    return lines


def expected(plan: Plan, store: TreeSchema) -> str:
    """What the plan assumed, if its cost model uses groups and fragments at all."""
    options = plan.request.options
    if options.cost != "engine":
        return ""
    groups = options.statistics.groups_of(frozenset(key.value for key in store.keys))
    fragments = options.statistics.fragments or max(1, len(store.predicates))
    return f" (planned for at most {groups * (fragments if store.predicates else 1):,.6g})"
