"""F1 figure 6: operations that Bit Set and F1 need, by the paper's formulas."""

from __future__ import annotations

from fractions import Fraction
from math import lcm, log2, log10

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check, one
from weft.plan.edges import Progressions
from weft.plan.edges.bitset import bitset_rate
from weft.plan.edges.f1 import f1_rate
from weft.plan.edges.measure import exact_rate

PICTURE = Picture("queries", ("log10_bitset", "log10_f1", "log10_exact"),
                  ylabel="log10 of operations")  # fmt: skip
COUNTS = (5, 10, 20, 30, 50, 100, 200, 300, 400, 500)


def run(full: bool) -> Rows:
    """Bit Set and F1 by the formulas for slides 1 to n (section 4); ours counted on slides 2 to n.

    With slide 1 among them, every instant is an edge, which `exact` detects at once.
    """
    rows: Rows = []
    for n in COUNTS:
        bits = lcm(*range(1, n + 1)) * sum(Fraction(1, s) for s in range(1, n + 1))
        edges = Progressions.of_arrays([0] * (n - 1), list(range(2, n + 1)))
        exact = exact_rate(edges)
        if n <= 20:
            check(abs(float(f1_rate(edges)) - float(exact)) < 1e-9, f"n={n}: F1 and exact differ")
            check(abs(float(bitset_rate(edges)) - float(exact)) < 1e-9, f"n={n}: bit set differs")
        rows.append(
            {
                "queries": n,
                "log10_bitset": _log10(bits),
                "log10_f1": (n - 1) * log10(2) + log10(n) + log10(log2(n)),
                "log10_exact": log10(exact.work),
                "how": exact.how,
            }
        )
    return rows


def _log10(number: Fraction) -> float:
    """The decimal logarithm of a number that may be too large for a float."""
    whole = number.numerator // number.denominator
    digits = len(str(whole))
    return digits - 15 + log10(int(str(whole)[:15])) if digits > 15 else log10(whole)


def claim(rows: Rows) -> Claim:
    """The ratio of Bit Set's operations to F1's at 500 queries."""
    last = one(rows, queries=500)
    orders = last["log10_bitset"] - last["log10_f1"]
    return Claim(
        paper="10^62 times fewer operations at 500 queries",
        ours=f"the formulas give 10^{orders:.0f}; exact needs 10^{last['log10_exact']:.1f} steps "
        f"where F1 needs 10^{last['log10_f1']:.0f}",
        holds=orders >= 61,
        ratio=orders / 62,
        comment="ratio of the exponents",
    )
