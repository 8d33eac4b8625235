"""Measure what the engine's steps cost on this machine, for the `engine` cost model."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
import pyarrow as pa

from weft.plan.cost import Constants

ROWS = 1_000_000
SLICES, GROUPS = 200, 100


def calibrate(*, rows: int = ROWS, repeats: int = 3) -> Constants:
    """The nanoseconds that a row, a partial, a combine and an answer take, best of `repeats`.

    The steps are those of the operator engine in miniature: hash aggregation by slice and key,
    sorting partials for the finals, combining neighbours, writing answers as Arrow. They are
    measured in one run, because only their ratios matter to a plan.
    """
    random = np.random.default_rng(0)
    raw = pa.table(
        {
            "slice": random.integers(0, SLICES, rows),
            "key": random.integers(0, GROUPS, rows),
            "x": random.random(rows),
        }
    )
    values = random.random(rows)

    def aggregate() -> object:
        return raw.group_by(["slice", "key"]).aggregate([("x", "sum"), ("x", "count")])

    def sort() -> object:
        return raw.sort_by([("key", "ascending"), ("slice", "ascending")])

    def combine() -> object:
        return np.maximum(values[1:], values[:-1])

    def answer() -> object:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, raw.schema) as writer:
            writer.write_table(raw)
        return sink.getvalue()

    def cost(step: Callable[[], object]) -> float:
        return round(min(_seconds(step) for _ in range(repeats)) / rows * 1e9, 2)

    return Constants(
        row=cost(aggregate), partial=cost(sort), combine=cost(combine), answer=cost(answer)
    )


def _seconds(step: Callable[[], object]) -> float:
    start = perf_counter()
    step()
    return perf_counter() - start
