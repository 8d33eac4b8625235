"""Measures what the engine's steps cost on a Spark session; choices and plans use these numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weft.plan.cost import Constants
from weft.query.query import Query
from weft.query.window import Window
from weft.spark.loom import Loom


@dataclass(frozen=True)
class _Job:
    """A benchmark job: windows with some grouping keys over a share (`part`) of the rows."""

    part: float
    by: tuple[str, ...]
    windows: tuple[tuple[int, int], ...]


# The jobs differ in which step dominates: rows, partials, answers.
_JOBS = (
    _Job(0.25, (), ((600, 600), (1200, 1200))),
    _Job(1.0, (), ((600, 600), (1200, 1200))),
    _Job(1.0, ("k",), ((600, 600), (1200, 1200))),
    _Job(1.0, ("k",), ((12, 6), (60, 60))),
    _Job(1.0, ("k",), ((12, 6), (60, 6), (600, 6))),
)


def constants(spark: SparkSession, rows: int = 2_000_000, repeats: int = 3) -> Constants:
    """Measure what rows, partials and answers cost on this session; takes a minute or two.

    A few jobs with different numbers of each are timed in turn, and the equations of their best
    times are solved for the costs. The fixed cost of a job is not counted. The cost of combining
    two partials is far too small to measure here, so its default is kept.
    """
    df = spark.range(0, rows, 1, 4).selectExpr(
        f"timestamp_micros(id * {3_600_000_000 // rows}L) AS ts",
        "hash(id) % 500 AS k",
        "rand(1) AS v",
    )
    df = df.cache()
    df.count()
    looms = [_loom(df, job) for job in _JOBS]
    plans = [loom.plan(strategy="share_all") for loom in looms]

    def runner(loom: Loom, at: int) -> Callable[[], object]:
        return lambda: (
            loom.run(plan=plans[at], persist=False)
            .all().write.format("noop").mode("overwrite").save()
        )  # fmt: skip

    best = best_times({str(at): runner(loom, at) for at, loom in enumerate(looms)}, repeats)
    seconds = np.array(list(best.values())) * spark.sparkContext.defaultParallelism
    counted = np.array([_counts(loom, job) for loom, job in zip(looms, _JOBS, strict=True)])
    df.unpersist()
    solved = np.linalg.lstsq(np.c_[np.ones(len(counted)), counted], seconds * 1e9, rcond=None)[0]
    row, partial, answer = (max(float(value), 1.0) for value in solved[1:])
    return replace(
        Constants(), row=round(row, 1), partial=round(partial, 1), answer=round(answer, 1)
    )


def _loom(df: DataFrame, job: _Job) -> Loom:
    loom = Loom(df.where(f"pmod(hash(k, v), 100) < {round(100 * job.part)}").cache(), "ts")
    loom.df.count()
    for number, (range_, slide) in enumerate(job.windows):
        window = Window.of_units(range_ * 1_000_000, slide * 1_000_000)
        loom.add(Query(f"q{number}", aggs={"s": "sum(v)"}, window=window, by=list(job.by)))
    return loom


def _counts(loom: Loom, job: _Job) -> tuple[int, int, int]:
    """Rows, partials and answers of a job."""
    cut = min(slide for _, slide in job.windows)
    slice_ = F.floor(F.unix_micros("ts") / (cut * 1_000_000))
    partials = loom.df.groupBy(slice_, *job.by).count().count()
    with loom.run(strategy="share_all") as results:
        answers = results.all().count()
    rows = loom.df.count()
    loom.df.unpersist()
    return rows, partials, answers


def best_times(actions: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The best time of each action, run in turn; the first round is a warm-up."""
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats + 1):
        for name, action in actions.items():
            start = perf_counter()
            action()
            times[name].append(perf_counter() - start)
    return {name: min(some[1:]) for name, some in times.items()}
