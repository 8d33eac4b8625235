"""Random workloads for Spark, and the time that every strategy takes on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.support.harness import Row, Rows
from benchmarks.support.sparks import best, cached, compare, plainly, woven
from weft.query.query import Query
from weft.query.window import Window

SECOND = 1_000_000
HOUR = 3600
STRATEGIES = ("no_share", "share_all", "weave", "factor", "auto")
REWRITE = ("factor",)
"""Strategies whose plans only Spark SQL can run."""
START = 1_700_000_000 // HOUR * HOUR * SECOND


def stream(rows: int, keys: int, seed: int = 0) -> pa.Table:
    """An hour of rows: time, key, and a value that adds up exactly."""
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "ts": pa.array(
                START + np.sort(draw.integers(0, HOUR * SECOND, rows)), pa.timestamp("us", "UTC")
            ),
            "k": pa.array(draw.integers(0, keys, rows).astype(np.int32)),
            "v": pa.array(draw.integers(0, 1_000, rows)),
        }
    )


def queries(
    count: int, seed: int, *, slides: Sequence[int], overlap: int, by: Sequence[str] = ()
) -> list[Query]:
    """Queries with distinct windows: slides from a list (seconds), ranges to `overlap` slides."""
    draw = np.random.default_rng(seed)
    found: dict[tuple[int, int], Query] = {}
    for _ in range(200 * count):
        slide = int(draw.choice(slides))
        range_ = min(int(slide * draw.uniform(1, overlap + 1)), HOUR)
        if (range_, slide) not in found:
            window = Window.of_units(range_ * SECOND, slide * SECOND)
            aggs = {"hi": "max(v)", "n": "count(*)"}
            name = f"q{len(found) + 1}"
            found[range_, slide] = Query(name, aggs=aggs, window=window, by=list(by))
        if len(found) == count:
            break
    return list(found.values())


def random_load(seed: int) -> tuple[int, int, list[Query]]:
    """Rows, keys and queries of the workload with this number."""
    draw = np.random.default_rng([8, seed])
    rows = int(draw.choice([20_000, 60_000, 200_000, 500_000]))
    keys = int(draw.choice([1, 10, 100, 1_000]))
    slides = [range(5, 61), (10, 20, 30, 60), (60, 300, 600), range(60, 600)][draw.integers(4)]
    asked = queries(
        int(draw.integers(2, 13)),
        seed,
        slides=list(slides),
        overlap=int(draw.choice([1, 3, 10])),
        by=["k"] if keys > 1 else [],
    )
    return rows, keys, asked


def measured(rows: int, keys: int, asked: list[Query], strategies: Sequence[str]) -> Rows:
    """The predicted and the measured time of each strategy, and the time of the plain queries.

    Strategies that find the same plan are timed once, because times would only differ by noise.
    """
    found: Rows = []
    timed: dict[Any, float] = {}
    with cached(stream(rows, keys)) as df:
        seconds, expected = best(plainly(df, asked), repeats=1)
        head: Row = {"rows": rows, "keys": keys, "queries": len(asked)}
        found.append(head | {"strategy": "plain", "seconds": seconds})
        for strategy in strategies:
            options: dict[str, Any] = {"strategy": strategy}
            if strategy in REWRITE:
                options["engine"] = "rewrite"
            loom, plan, answer = woven(df, asked, **options)
            engine = None if plan.coverages else options.get("engine")
            made = (plan.labels.tobytes(), tuple(plan.coverages.values()), engine)
            if made not in timed:
                timed[made], answers = best(answer, repeats=1)
                compare(answers, expected, asked, f"{strategy} on {head}")
            span = loom.measured().statistics.span or 1.0
            found.append(
                head
                | {
                    "strategy": strategy,
                    "chose": plan.strategy,
                    "trees": len(plan.trees),
                    "seconds": timed[made],
                    # Nanoseconds of one core per second of stream, times the length of the stream.
                    "predicted": plan.cost * span / 1e9,
                }
            )
    return found


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """The rank correlation of two sequences; ties have their mean rank.

    >>> round(spearman([1, 2, 3], [10, 20, 30]), 6), round(spearman([1, 2, 3], [3, 2, 1]), 6)
    (1.0, -1.0)
    """
    ranks = []
    for values in (np.asarray(a, dtype=float), np.asarray(b, dtype=float)):
        order = np.sort(values)
        low, high = np.searchsorted(order, values), np.searchsorted(order, values, side="right")
        ranks.append((low + high - 1) / 2)
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
