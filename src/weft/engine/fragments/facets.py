"""Facets: groups of predicates with separate fragments, used where joint ones would be too many.

A predicate needs only the classes of its own cluster. In joint fragments the classes of all
clusters multiply, in the worst case until every row is a separate fragment; with facets they only
add up, but each row is aggregated once per facet. The cheapest combination is chosen before
anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import exp, inf, prod

from weft.engine.fragments.fragments import TAG, FragmentPlan

# Nanoseconds for aggregating a row once more, for sending a partial to the finals, and for testing
# it for one predicate. Measured on two cores with 1.2M rows and 256 predicates; only ratios matter.
ROW, PARTIAL, MASK = 100.0, 2_700.0, 3.0


@dataclass(frozen=True)
class Volume:
    """The volume of data: the number of rows, of slices, and of groups of keys."""

    rows: float = 1e6
    slices: float = 60.0
    groups: float = 1.0

    def cost(self, cells: float, predicates: int) -> float:
        """Nanoseconds for one facet with `cells` fragments; each predicate tests each partial."""
        here = max(self.rows / max(self.slices, 1.0), 1.0)
        most = max(cells * self.groups, 1.0)
        partials = most * (1.0 - exp(-here / most)) if most < 1e15 else here
        return self.rows * ROW + self.slices * partials * (PARTIAL + MASK * predicates)


def split_facets(plan: FragmentPlan, volume: Volume) -> FragmentPlan:
    """The plan with its clusters divided into the cheapest facets.

    >>> from weft.engine.fragments.fragments import plan_fragments
    >>> asked = [f"{x} > {c}" for x in "ab" for c in range(100)]
    >>> plan = plan_fragments(asked, lambda _: {"a": "int", "b": "int"})
    >>> split_facets(plan, Volume(rows=1e6, slices=10)).words  # 101 + 101 fragments, not 101 * 101
    2
    >>> split_facets(plan, Volume(rows=1e3, slices=10)).words  # never more fragments than rows
    1
    """
    if len(plan.clusters) < 2:
        return plan
    sizes = [len(cluster.members) for cluster in plan.clusters]
    predicates = len(plan.predicates)

    def cost(members: Sequence[int]) -> float:
        if sum(plan.clusters[at].width for at in members) > TAG:
            return inf
        return volume.cost(float(prod(sizes[at] for at in members)), predicates)

    # Greedily merge the two facets with the fewest fragments while that saves anything.
    facets = [(size, [at]) for at, size in enumerate(sizes)]
    heapify(facets)
    total = sum(cost(members) for _, members in facets)
    while len(facets) > 1:
        (low, a), (high, b) = heappop(facets), heappop(facets)
        change = cost([*a, *b]) - cost(a) - cost(b)
        if change >= 0.0:
            heappush(facets, (low, a))
            heappush(facets, (high, b))
            break
        total += change
        heappush(facets, (low * high, sorted([*a, *b])))
    together = volume.cost(prod(map(float, sizes)), predicates)
    if len(facets) == 1 or len(facets) > 1 << (62 - TAG) or together <= total:
        return plan
    facets.sort(key=lambda facet: facet[1])
    places = [(0, 0)] * len(sizes)
    for number, (_, members) in enumerate(facets):
        shift = 0
        for at in members:
            places[at] = (number, shift)
            shift += plan.clusters[at].width
    return replace(plan, places=tuple(places), faceted=True)
