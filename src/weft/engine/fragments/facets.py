"""Facets: fragments told apart a few predicates at a time, where all at once are too many.

A predicate needs only the classes of its own cluster. Told apart together, the classes of all
clusters multiply, until every row is a fragment of its own; told apart by facet, they add up, but
each row is aggregated once for every facet. The cheaper of the two, or something between, is
chosen before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import exp, inf, prod

from weft.engine.fragments.fragments import TAG, FragmentPlan

# Nanoseconds: a row aggregated once more, a partial sent to the finals, and a look at it for each
# predicate. Measured on two cores with 1.2M rows and 256 predicates; only their ratios matter.
ROW, PARTIAL, MASK = 100.0, 2_700.0, 3.0


@dataclass(frozen=True)
class Volume:
    """What there is to aggregate: rows, in how many slices, by how many groups of keys."""

    rows: float = 1e6
    slices: float = 60.0
    groups: float = 1.0

    def cost(self, cells: float, predicates: int) -> float:
        """Nanoseconds for one facet of so many fragments; every predicate looks at each partial."""
        here = max(self.rows / max(self.slices, 1.0), 1.0)
        most = max(cells * self.groups, 1.0)
        partials = most * (1.0 - exp(-here / most)) if most < 1e15 else here
        return self.rows * ROW + self.slices * partials * (PARTIAL + MASK * predicates)


def split_facets(plan: FragmentPlan, volume: Volume) -> FragmentPlan:
    """The plan with its clusters in the facets that cost the least.

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

    # The two of the fewest fragments go together as long as that saves anything.
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
