"""F1 figure 3: the alternating sums for 20 queries converge to the number of edges."""

from __future__ import annotations

import itertools
from math import lcm

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check
from weft.plan.edges import Progressions
from weft.plan.edges.bitset import bitset_rate
from weft.plan.edges.f1 import f1_terms
from weft.plan.edges.measure import exact_rate

PICTURE = Picture("step", ("edges", "answer"), xlabel="sums added", ylabel="edges")


def run(full: bool) -> Rows:
    """Slides 2 to 21 (to 16 in the quick form): the last sum must equal a bit set's count."""
    slides = list(range(2, 22 if full else 17))
    period = lcm(*slides)
    terms, groups = f1_terms([0] * len(slides), slides, budget=2 ** len(slides))
    check(groups == 2 ** len(slides) - 1, f"{groups:,} groups are not all there are")
    edges = Progressions.of_arrays([0] * len(slides), slides)
    want = bitset_rate(edges).value * period
    by_exact = float(exact_rate(edges)) * period
    rows: Rows = []
    total = 0.0
    for size, term in enumerate(terms):
        total += (-1) ** size * float(term * period)
        rows.append({"step": size + 1, "edges": total, "answer": float(want), "groups": groups})
    check(abs(total / want - 1) < 1e-9, f"F1 counts {total:,.0f} edges, a bit set {want:,.0f}")
    check(abs(by_exact / want - 1) < 1e-9, f"exact counts {by_exact:,.0f} edges")
    return rows


def claim(rows: Rows) -> Claim:
    """The sums rise and fall with each query until they reach the answer."""
    steps = [row["edges"] for row in rows]
    # The last sums differ by less than the digits that the CSV keeps.
    signs = [b > a for a, b in itertools.pairwise(steps) if a != b]
    alternate = all(a != b for a, b in itertools.pairwise(signs))
    return Claim(
        paper="20 queries converge in 20 steps, up and down",
        ours=f"{len(rows)} queries in {len(rows)} steps, highest {max(steps) / steps[-1]:.3g}x the "
        f"answer on the way; {rows[0]['groups']:,} groups",
        holds=alternate and abs(steps[-1] / rows[0]["answer"] - 1) < 1e-6,
        comment="exact gives the same answer without cancellation",
    )
