"""SIGMOD'06 figure 10: cost of shared fragments over their number, and how many there are."""

from __future__ import annotations

import numpy as np

from benchmarks.support.counting import signatures, times
from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Rows, check, pick
from weft.demo.trades import NOON, market, workload

PICTURE = Picture("fragments", "aggregations", "way", where={"kind": "formula"}, log="x")
TUPLES, ALPHA = 189_445, 76
"""The paper's |T| and alpha = beta."""
TEN_MINUTES = 600_000_000


def run(full: bool) -> Rows:
    """The formula over k, and k counted: the fragments of 256 predicates in each ten minutes."""
    rows: Rows = []
    for k in np.unique(np.geomspace(1, TUPLES, 25).astype(int)):
        for way, cost in (("shared", TUPLES + int(k) * ALPHA), ("unshared", TUPLES * ALPHA)):
            rows.append({"kind": "formula", "way": way, "fragments": int(k), "tuples": TUPLES,
                         "aggregations": cost})  # fmt: skip
    table = market().joined() if full else market(300_000).joined()
    number, members = signatures(table, workload("B", 256))
    window = (times(table) - NOON) // TEN_MINUTES
    for at in range(6):
        here = number[window == at]
        found = np.unique(here)
        shared = len(here) + int(members[found].sum())
        alone = int(members[here].sum())
        check(len(found) <= len(here), "more fragments than rows")
        for way, cost in (("shared", shared), ("unshared", alone)):
            rows.append({"kind": "counted", "way": way, "fragments": len(found),
                         "tuples": len(here), "aggregations": cost})  # fmt: skip
    return rows


def claim(rows: Rows) -> Claim:
    """There are few fragments with many rows each, and so few aggregations."""
    counted = pick(rows, kind="counted")
    shared, alone = pick(counted, way="shared"), pick(counted, way="unshared")
    k = np.mean([row["fragments"] for row in shared])
    tuples = np.mean([row["tuples"] for row in shared])
    gain = sum(r["aggregations"] for r in alone) / sum(r["aggregations"] for r in shared)
    theirs = TUPLES * ALPHA / (TUPLES + 12_068 * ALPHA)
    return Claim(
        paper=f"12,068 fragments of 189,445 rows, {theirs:.1f}x fewer aggregations by formula",
        ours=f"{k:,.0f} fragments of {tuples:,.0f} rows, {gain:.1f}x fewer counted",
        holds=gain > 2 and k < tuples / 2,
        ratio=gain / theirs,
        comment="data of the paper's shape, not the paper's; the quick form has a quarter of the "
        "rows, hence fewer rows per fragment",
    )
