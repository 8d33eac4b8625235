"""Beyond the papers: when sharing loses, a map over rows, overlap and keys."""

from __future__ import annotations

from itertools import product

from benchmarks.support.draw import Picture
from benchmarks.support.harness import Bench, Claim, Rows, pick
from benchmarks.support.loads import measured, queries
from benchmarks.support.sparks import time_left

PICTURE = Picture("rows", "overlap", "winner", panel="keys", kind="map",
                  where={"strategy": "auto"}, xlabel="rows in an hour")  # fmt: skip
WAYS = ("no_share", "share_all", "factor", "auto")
QUICK = {"rows": (5_000, 200_000), "overlap": (1, 10), "keys": (100,)}
FULL = {"rows": (5_000, 50_000, 500_000), "overlap": (1, 3, 20), "keys": (1, 100, 10_000)}
COUNT = 4


def run(full: bool) -> Rows:
    """In every field, run four queries with slides of 7 to 60 s that hardly divide each other."""
    grid = FULL if full else QUICK
    mine = Bench("beyond_sharing_loses")
    found: Rows = []
    if full and mine.file.exists():
        found = pick(mine.rows(), form="full")
    done, left = {(row["rows"], row["overlap"], row["keys"]) for row in found}, time_left()
    for rows, overlap, keys in product(*grid.values()):
        if (rows, overlap, keys) in done or not left():
            continue
        asked = queries(
            COUNT, 11, slides=[7, 11, 13, 17, 23, 29, 37, 41, 53, 59, 60], overlap=overlap,
            by=["k"] if keys > 1 else [],
        )  # fmt: skip
        times = measured(rows, keys, asked, WAYS)
        real = {row["strategy"]: row["seconds"] for row in times if row["strategy"] != "auto"}
        winner = min(real, key=lambda way: real[way])
        found += [{"overlap": overlap, "winner": winner, **row} for row in times]
    return found


def claim(rows: Rows) -> Claim:
    """Which way of running the queries wins in which fields."""
    fields = pick(rows, strategy="auto")
    wins = {way: sum(row["winner"] == way for row in fields) for way in ("plain", *WAYS[:3])}
    lost = [row for row in fields if row["winner"] in ("plain", "no_share")]
    where = ", ".join(f"{r['rows']:,} rows x {r['overlap']} x {r['keys']:,} keys" for r in lost[:4])
    return Claim(
        paper="sharing loses at low rates (SIGMOD'06 3.2.2) and high overlaps (WeaveShare 7.3)",
        ours=f"of {len(fields)} fields: "
        + ", ".join(f"{way} fastest in {count}" for way, count in wins.items()),
        holds=wins["share_all"] + wins["factor"] > 0,
        comment=f"not sharing is fastest at: {where or 'none'}; on Spark what a job costs "
        "by itself outweighs what the papers' operation counts say",
    )
