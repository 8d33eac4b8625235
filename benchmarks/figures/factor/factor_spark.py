"""Factor windows on Spark: the same plans executed, time beside predicted cost."""

from __future__ import annotations

from statistics import geometric_mean

from benchmarks.support.draw import Picture
from benchmarks.support.generators import (
    chain_windows,
    graph_windows,
    random_windows,
    star_windows,
)
from benchmarks.support.harness import Claim, Rows, pick
from benchmarks.support.loads import SECOND, spearman, stream
from benchmarks.support.sparks import best, cached, compare, plainly, time_left, timed, woven
from weft.query.query import Query
from weft.query.window import Window

PICTURE = Picture("cost", "seconds", "way", panel="tumbling", kind="points", log="xy",
                  xlabel="predicted inputs per second")  # fmt: skip
GENERATORS = {"RandomGen": random_windows, "ChainGen": chain_windows, "StarGen": star_windows,
              "RandomGraphGen": graph_windows}  # fmt: skip
QUICK, FULL = 100, 1000
"""Rows per second; each run has an hour of them."""


def run(full: bool) -> Rows:
    """Run MIN over general sets, which may overlap, and SUM over tumbling ones, in seconds."""
    rows: Rows = []
    left = time_left()
    rate = FULL if full else QUICK
    with cached(stream(rate * 3600, 20)) as df:
        for name, make in GENERATORS.items():
            for tumbling in (False, True):
                for seed in range(3 if full else 1):
                    if not left():
                        continue
                    options = {} if name == "RandomGraphGen" else {"count": 5}
                    windows = make(seed=seed, tumbling=tumbling, **options)
                    head = {"generator": name, "tumbling": tumbling, "set": seed, "rate": rate}
                    rows += [head | row for row in _ways(df, windows, tumbling, rate)]
    return rows


def _ways(df: object, windows: tuple[Window, ...], tumbling: bool, rate: int) -> Rows:
    """The plans to run: plain, the graph without and with factor windows, one tree of slices."""
    aggs = {"a": "sum(v)" if tumbling else "min(v)"}
    queries = [
        Query(f"q{n + 1}", aggs=aggs, by=["k"],
              window=Window.of_units(window.range * SECOND, window.slide * SECOND))
        for n, window in enumerate(windows)
    ]  # fmt: skip
    plain = plainly(df, queries)
    plain()
    seconds, expected = timed(plain)
    overlap = sum(window.range / window.slide for window in windows)
    rows: Rows = [{"way": "BL", "cost": rate * overlap, "seconds": seconds}]
    for way, strategy in (("WCG", "coverage"), ("WCG-FW", "factor"), ("SP", "share_all")):
        # The paper's cost model, so that costs are those of its figures; the engine runs the plan.
        options = {"strategy": strategy, "rate": rate, "cost": "paper"}
        engine = "operator" if strategy == "share_all" else "rewrite"
        _, plan, answer = woven(df, queries, engine=engine, **options)
        seconds, found = best(answer, repeats=1)
        compare(found, expected, queries, f"{way} of {windows}")
        rows.append({"way": way, "cost": plan.cost, "seconds": seconds})
    return rows


def claim(rows: Rows) -> Claim:
    """Whether the order of the times is the paper's order of the costs."""
    rank = spearman([row["cost"] for row in rows], [row["seconds"] for row in rows])

    def over(slow: str, fast: str, column: str) -> float:
        pairs = zip(pick(rows, way=slow), pick(rows, way=fast), strict=True)
        return geometric_mean(a[column] / b[column] for a, b in pairs)

    return Claim(
        paper="costs only: no plan was executed",
        ours=f"rank correlation of cost and time {rank:.2f}; plain "
        f"{over('BL', 'WCG-FW', 'cost'):.1f}x the cost and "
        f"{over('BL', 'WCG-FW', 'seconds'):.1f}x the time of factor windows, shared "
        f"slices {over('SP', 'WCG-FW', 'cost'):.2f}x and {over('SP', 'WCG-FW', 'seconds'):.2f}x",
        holds=rank > 0 and over("BL", "WCG-FW", "seconds") > 1,
        comment=f"{len(pick(rows, way='BL'))} sets, {rows[0]['rate'] * 3600:,} rows, 20 keys; "
        "every answer equal",
    )
