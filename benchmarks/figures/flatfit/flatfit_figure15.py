"""FlatFIT figure 15: throughput of FlatFIT over FlatFAT with every range."""

from __future__ import annotations

from statistics import mean

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Bench, Claim, Rows, one

PICTURE = Picture("window", ("flatfit_over_flatfat", "auto_over_flatfat"), log="xy")


def run(full: bool) -> Rows:
    """From the results of figure 14, which must be there."""
    found = Bench("flatfit_figure14").rows()
    rows: Rows = []
    for n in sorted({row["window"] for row in found}):
        at = {name: one(found, window=n, structure=name)["slides_per_s"]
              for name in ("flatfat", "flatfit", "auto")}  # fmt: skip
        rows.append({"window": n, "flatfit_over_flatfat": at["flatfit"] / at["flatfat"],
                     "auto_over_flatfat": at["auto"] / at["flatfat"]})  # fmt: skip
    return rows


def claim(rows: Rows) -> Claim:
    """Ten times on average, seventeen at most."""
    gain = [row["flatfit_over_flatfat"] for row in rows]
    auto = [row["auto_over_flatfat"] for row in rows]
    return Claim(
        paper="10x on average, 17x at most",
        ours=f"{mean(gain):.1f}x on average, {max(gain):.1f}x at most; auto {max(auto):,.0f}x",
        holds=max(gain) >= 17,
        ratio=max(gain) / 17,
        comment=""
        if max(gain) >= 17
        else "FlatFIT falls short of its paper, against a FlatFAT that is compiled as well; "
        "auto is what weft runs",
    )
