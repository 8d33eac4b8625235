"""F1's experiments 1 to 5: planning time with every method of counting edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import geometric_mean, mean

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Row, Rows, pick
from benchmarks.support.planning import FULL_LIMITS, QUICK_LIMITS, point, warm_up
from benchmarks.support.workloads import EXPERIMENTS

SHORT = 0.002
"""Seconds below which a ratio is noise."""
PAPER = {1: (350, 790, "28%"), 2: (2200, 10_000, "18%"), 3: (3800, 16_000, "19%"),
         4: (14_000, 60_000, "18%"), 5: (5600, 16_000, "26%")}  # fmt: skip
"""Table 2: F1's speedup over Bit Set on average and at most, and the gain by the GCD table."""
BEST = {1: (550, "1M"), 2: (800, "10K"), 3: (900, "1M"), 4: (2.25, "100"), 5: (40, "1")}
"""Table 2: the largest parameter that Bit Set and F1 reached."""


def measured(number: int, full: bool) -> Iterator[Row]:
    """Run every method on every setting of an experiment; fail if their plans differ."""
    experiment = EXPERIMENTS[number - 1]
    limits = FULL_LIMITS if full else QUICK_LIMITS
    warm_up()
    for fragments in (False, True):
        for setting in experiment.settings(fragments):
            head: Row = {"value": getattr(setting, experiment.parameter), "fragments": fragments}
            yield from point(head, setting, limits)


def picture(parameter: str) -> Picture:
    """A picture of seconds by parameter, as in the paper; lines end where the budget was spent."""
    return Picture("value", "done_seconds", "method", panel="fragments", log="xy",
                   xlabel=parameter, ylabel="seconds of planning")  # fmt: skip


def with_done(rows: Iterable[Row]) -> Rows:
    """The rows, with a column of seconds that is empty for runs that did not finish."""
    return [row | {"done_seconds": row["seconds"] if row["status"] == "ok" else None}
            for row in rows]  # fmt: skip


def speedups(rows: Rows) -> dict[str, list[float]]:
    """For each point, the ratio of one method's seconds to another's.

    A method that spent its budget would have taken longer, so its ratio is a lower bound, which
    counts only if it is above 1.
    """
    found: dict[str, list[float]] = {
        "bitset/f1": [], "f1/f1_table": [], "f1/exact": [], "bitset/exact": []
    }  # fmt: skip
    for value, fragments in dict.fromkeys((row["value"], row["fragments"]) for row in rows):
        at = {row["method"]: row for row in pick(rows, value=value, fragments=fragments)}
        for pair, some in found.items():
            slow, fast = (at[name] for name in pair.split("/"))
            ratio = slow["seconds"] / fast["seconds"]
            known = slow["status"] == "ok" or ratio > 1.0
            if fast["status"] == "ok" and known and slow["seconds"] > SHORT:
                some.append(ratio)
    return found


def reached(rows: Rows, method: str) -> str:
    """How many points a method planned within its budget."""
    mine = pick(rows, method=method)
    return f"{len(pick(mine, status='ok'))} of {len(mine)}"


def told(number: int, rows: Rows) -> Claim:
    """The paper's row of Table 2, and ours."""
    average, most, gain = PAPER[number]
    times = speedups(rows)
    all_planned = all(row["status"] == "ok" for row in pick(rows, method="exact"))
    stops = {m: len(pick(rows, method=m, status="ok")) for m in ("bitset", "f1", "exact")}
    bits, exact, both = times["bitset/f1"], times["f1/exact"], times["bitset/exact"]
    comment = (
        "a method that spent its budget counts with the time until then, so ratios are at least "
        f"so, and ours of Bit Set are as far as it was let run; the paper's table of "
        f"GCDs gained {gain}"
    )
    if times["f1/f1_table"]:
        comment += f", ours {geometric_mean(times['f1/f1_table']) - 1:+.0%}"
    return Claim(
        paper=f"F1 {average:,}x Bit Set on average, {most:,}x at most; Bit Set ends at "
        f"{BEST[number][0]}, F1 at {BEST[number][1]}",
        ours=(f"F1 {mean(bits):,.3g}x Bit Set on average, {max(bits):,.3g}x at most; " if bits
              else "")
        + f"exact up to {max(exact, default=1):,.3g}x F1, {max(both, default=1):,.3g}x Bit Set; "
        f"planned: Bit Set {reached(rows, 'bitset')}, F1 {reached(rows, 'f1')}, exact "
        f"{reached(rows, 'exact')}",
        holds=all_planned and stops["bitset"] <= stops["f1"] <= stops["exact"],
        ratio=max(both, default=1) / most,
        comment=comment,
    )  # fmt: skip
