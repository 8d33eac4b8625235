"""Slides per second and bytes of every structure, for MAX over doubles; every answer is checked.

These are FlatFIT's experiments 1 to 3. Times are seconds of processor time, warm, best of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import thread_time
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.slides.array_store import ArrayStore
from benchmarks.slides.per_range import PerRange
from benchmarks.slides.slides import slides, sliding
from benchmarks.support.harness import Row, check
from weft.algebra.extremes import MAX
from weft.algebra.ops.numbers import NumberOp, number_op
from weft.engine.finals import Final

Float64: TypeAlias = npt.NDArray[np.float64]

ONE = ("naive", "flatfat", "bint", "flatfit", "two_stacks", "daba", "auto")
EVERY = ("naive", "flatfat", "bint", "flatfit", "shift", "auto")
HELD = ("naive", "flatfat", "bint", "flatfit", "two_stacks", "daba")


def max_op() -> NumberOp:
    """MAX over doubles, none of them null."""
    op = number_op("max", MAX.laws, [pa.float64()], nullable=False)
    assert op is not None
    return op


def best_of(work: Callable[[], Any], enough: float = 0.05, most: int = 12) -> float:
    """Processor seconds of the fastest run after a warm-up; long runs are repeated less often."""
    work()
    best, spent, runs = np.inf, 0.0, 0
    while runs < 3 or (spent < 6 * enough and runs < most):
        start = thread_time()
        work()
        taken = thread_time() - start
        best, spent, runs = min(best, taken), spent + taken, runs + 1
        if taken > 1.0:
            break
    return float(best)


def sliding_max(values: Float64, window: int) -> Float64:
    """The maximum of the newest `window` values at every position, computed by doubling."""
    result: Float64 = values.copy()
    have = 1
    while have < window:
        step = min(have, window - have)
        result[step:] = np.maximum(result[step:], result[:-step])
        have += step
    return result


def filled(name: str, values: Float64, window: int, ranges: int = 1) -> Final | PerRange:
    """A structure whose window is full."""
    final = sliding(name, max_op(), capacity=window, ranges=ranges)
    counts: Any = window if ranges == 1 else np.arange(1, window + 1)[None]
    if name == "naive":  # its answers over a long window take very long and store nothing
        counts = 1
    fill = window + 1 if ranges == 1 else window
    for low in range(0, fill, 1 << 16):  # in parts, so as not to hold all answers in memory
        part = values[low : min(fill, low + (1 << 16))]
        slides(final, (part,), counts, hold=window)
    return final


def one_range(rng: np.random.Generator, windows: Iterable[int], most: int) -> Iterator[Row]:
    """Experiment 1: slides per second with one range."""
    for window in windows:
        rates: dict[str, float] = {}
        batch = max(most, 4 * window)
        values = rng.random(batch + window + 1)
        want = sliding_max(values, window)
        out = (np.empty(batch),)
        for name in ONE:
            if name == "naive" and window > 4096:
                continue
            count = min(batch, max(1024, 2**25 // window)) if name == "naive" else batch
            final = filled(name, values, window)
            fresh = values[window + 1 : window + 1 + count]
            here = (out[0][:count],)
            slides(final, (fresh,), window, out=here)
            right = np.array_equal(here[0], want[window + 1 : window + 1 + count])
            check(right, f"{name}, one range of {window}: wrong answers")
            rates[name] = count / best_of(partial(slides, final, (fresh,), window, out=here))
        yield {
            "one range of": window,
            **{f"{name} M/s": rates[name] / 1e6 if name in rates else None for name in ONE},
            "flatfit/flatfat": rates["flatfit"] / rates["flatfat"],
            "auto/flatfit": rates["auto"] / rates["flatfit"],
        }


def every_range(rng: np.random.Generator, windows: Iterable[int]) -> Iterator[Row]:
    """Experiment 2: slides per second with every range from 1 to the window."""
    for window in windows:
        rates: dict[str, float] = {}
        batch = max(256, 2**18 // window)
        values = rng.random(batch + window)
        counts = np.arange(1, window + 1)[None]
        want = np.stack([sliding_max(values, count)[window:] for count in counts[0]], axis=1)
        for name in EVERY:
            count = batch if name in ("flatfit", "shift", "auto") else max(16, 2**14 // window)
            if name == "naive":
                count = max(4, count // window)
            final = filled(name, values, window, ranges=window)
            fresh = values[window : window + count]
            out = (np.empty((count, window)),)
            slides(final, (fresh,), counts, out=out)
            right = np.array_equal(out[0], want[:count])
            check(right, f"{name}, every range to {window}: wrong answers")
            rates[name] = count / best_of(partial(slides, final, (fresh,), counts, out=out))
        yield {
            "every range to": window,
            **{f"{name} k/s": rates[name] / 1e3 for name in EVERY},
            "auto answers G/s": rates["auto"] * window / 1e9,
            "flatfit/flatfat": rates["flatfit"] / rates["flatfat"],
            "auto/flatfit": rates["auto"] / rates["flatfit"],
        }


def every_range_wide(rng: np.random.Generator, windows: Iterable[int]) -> Iterator[Row]:
    """Experiment 2 for windows so wide that answering while they fill would take too long."""
    for window in windows:
        rates: dict[str, float] = {}
        most = max(8, 2**17 // window)
        values = rng.random(most + window)
        counts = np.arange(1, window + 1)[None]
        for name in ("flatfat", "flatfit"):
            count = max(2, most // 8) if name == "flatfat" else most
            final = sliding(name, max_op(), capacity=window, ranges=window)
            slides(final, (values[:window],), 1, hold=window)
            fresh = values[window : window + count]
            out = (np.empty((count, window)),)
            slides(final, (fresh,), counts, out=out)
            for at, found in enumerate(out[0]):
                want = np.maximum.accumulate(values[at + 1 : at + 1 + window][::-1])
                check(
                    np.array_equal(found, want), f"{name}, every range to {window}: wrong answers"
                )
            rates[name] = count / best_of(partial(slides, final, (fresh,), counts, out=out))
        yield {"window": window, **rates}


def memory(windows: Iterable[int]) -> Iterator[Row]:
    """Experiment 3: bytes that a structure holds with one range."""
    for window in windows:
        held: dict[str, int] = {}
        for name in HELD:
            final = filled(name, np.arange(window + 1, dtype=np.float64), window)
            assert isinstance(final, Final)
            assert isinstance(final.store, ArrayStore)
            cells = final.store.named.values()
            held[name] = sum(column.nbytes for c in cells for column in c.columns)
            held[name] += sum(p.array.nbytes for p in final.store.numbered.values())
        yield {
            "memory of": window,
            **{f"{name} bytes": held[name] for name in HELD},
            "flatfat/flatfit": held["flatfat"] / held["flatfit"],
        }
