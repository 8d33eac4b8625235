"""How fast answers are combined from slices: every structure in one run, on doubles, with MAX.

FlatFIT's experiments 1 to 3 (one range, every range, memory), and what they leave out: the slowest
slides, many keys in lockstep, and whole batches of many keys and queries. Every answer is checked.
Seconds are of processor time, warm, the best of several; ratios are what counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from time import thread_time
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weft.algebra.extremes import MAX
from weft.algebra.ops import bind
from weft.algebra.ops.numbers import NumberOp, number_op
from weft.algebra.part import Part
from weft.bench.report import BenchReport
from weft.bench.slide_latency import spike, timed_slides
from weft.engine.finals import Final, choose, sliding
from weft.engine.finals.batch import Slices, WindowRequest, answer
from weft.engine.finals.lanes import ArrayStore
from weft.engine.finals.per_range import PerRange
from weft.engine.finals.slides import slides

Float64: TypeAlias = npt.NDArray[np.float64]

ONE = ("naive", "flatfat", "bint", "flatfit", "two_stacks", "daba", "auto")
EVERY = ("naive", "flatfat", "bint", "flatfit", "shift", "auto")
KEYS, LOCKSTEP_WINDOW = 1_000, 256
COPY_TARGET, LOCKSTEP_TARGET = 1.4e9, 600e6
MINUTE = 60_000_000


def run(quick: bool = True) -> BenchReport:
    """Measure, check every answer, and say how the targets were met."""
    report = BenchReport()
    rng = np.random.default_rng(17)
    copy_rate = _copy_rate()
    report.add({"float64 copied per second": copy_rate})
    windows = [1, 4, 16, 64, 256, 4096, 65_536] if quick else [4**k for k in range(11)]
    one_range(report, rng, windows, 1 << 19 if quick else 1 << 22)
    every_range(report, rng, [4, 16, 64, 256, 1024] if quick else [2**k for k in range(11)])
    memory(report, [8, 100, 1024, 1025] if quick else [8, 100, 1024, 1025, 65_536, 1_000_000])
    _latency(report, rng, 4096, 20_000 if quick else 200_000)
    _lockstep(report, rng, copy_rate)
    _batch(report, rng, 500_000 if quick else 10_000_000)
    return report


def _op() -> NumberOp:
    """MAX over doubles, none of them null."""
    op = number_op("max", MAX.laws, [pa.float64()], nullable=False)
    assert op is not None
    return op


def _best(work: Callable[[], Any], enough: float = 0.05, most: int = 12) -> float:
    """Processor seconds of the fastest run, after one to warm up; long ones are run less often."""
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


def _copy_rate() -> float:
    source = np.random.default_rng(0).random(4_000_000)
    target = np.empty_like(source)
    return len(source) / _best(lambda: np.copyto(target, source))


def _sliding_max(values: Float64, window: int) -> Float64:
    """The maximum of the newest `window` values at every position, by doubling."""
    result: Float64 = values.copy()
    have = 1
    while have < window:
        step = min(have, window - have)
        result[step:] = np.maximum(result[step:], result[:-step])
        have += step
    return result


def _filled(name: str, values: Float64, window: int, ranges: int = 1) -> Final | PerRange:
    """A structure whose window is full."""
    final = sliding(name, _op(), capacity=window, ranges=ranges)
    counts: Any = window if ranges == 1 else np.arange(1, window + 1)[None]
    if name == "naive":  # whose answers over a long window take for ever, and leave no trace
        counts = 1
    fill = window + 1 if ranges == 1 else window
    for low in range(0, fill, 1 << 16):  # by parts: all answers of a long fill need not be held
        part = values[low : min(fill, low + (1 << 16))]
        slides(final, (part,), counts, hold=window)
    return final


def one_range(
    report: BenchReport, rng: np.random.Generator, windows: Iterable[int], most: int
) -> None:
    """Experiment 1: slides per second with one range."""
    flatfit_gain, auto_gain = [], {}
    for window in windows:
        rates: dict[str, float] = {}
        batch = max(most, 4 * window)
        values = rng.random(batch + window + 1)
        want = _sliding_max(values, window)
        out = (np.empty(batch),)
        for name in ONE:
            if name == "naive" and window > 4096:
                continue
            count = min(batch, max(1024, 2**25 // window)) if name == "naive" else batch
            final = _filled(name, values, window)
            fresh = values[window + 1 : window + 1 + count]
            here = (out[0][:count],)
            slides(final, (fresh,), window, out=here)
            if not np.array_equal(here[0], want[window + 1 : window + 1 + count]):
                report.failures.append(f"{name}, one range of {window}: wrong answers")

            rates[name] = count / _best(partial(slides, final, (fresh,), window, out=here))
        report.add(
            {
                "one range of": window,
                **{f"{name} M/s": rates[name] / 1e6 if name in rates else None for name in ONE},
                "flatfit/flatfat": rates["flatfit"] / rates["flatfat"],
                "auto/flatfit": rates["auto"] / rates["flatfit"],
            }
        )
        flatfit_gain.append(rates["flatfit"] / rates["flatfat"])
        if window >= 256:
            auto_gain[window] = rates["auto"] / rates["flatfit"]
    least = min(auto_gain, key=lambda window: auto_gain[window])
    report.summary += [
        f"one range: FlatFIT {np.mean(flatfit_gain):.1f}x FlatFAT on average, "
        f"{max(flatfit_gain):.1f}x at most (paper: 1.8x, 2.6x)",
        f"one range: auto at least {auto_gain[least]:.1f}x FlatFIT from 256 slices on, at {least} "
        f"({_met(auto_gain[least] >= 3, '3x')})",
    ]


def every_range(report: BenchReport, rng: np.random.Generator, windows: Iterable[int]) -> None:
    """Experiment 2: slides per second with every range from 1 to the window."""
    flatfit_gain, auto_gain = [], {}
    for window in windows:
        rates: dict[str, float] = {}
        batch = max(256, 2**18 // window)
        values = rng.random(batch + window)
        counts = np.arange(1, window + 1)[None]
        want = np.stack([_sliding_max(values, count)[window:] for count in counts[0]], axis=1)
        for name in EVERY:
            count = batch if name in ("flatfit", "shift", "auto") else max(16, 2**14 // window)
            if name == "naive":
                count = max(4, count // window)
            final = _filled(name, values, window, ranges=window)
            fresh = values[window : window + count]
            out = (np.empty((count, window)),)
            slides(final, (fresh,), counts, out=out)
            if not np.array_equal(out[0], want[:count]):
                report.failures.append(f"{name}, every range to {window}: wrong answers")

            rates[name] = count / _best(partial(slides, final, (fresh,), counts, out=out))
        report.add(
            {
                "every range to": window,
                **{f"{name} k/s": rates[name] / 1e3 for name in EVERY},
                "auto answers G/s": rates["auto"] * window / 1e9,
                "flatfit/flatfat": rates["flatfit"] / rates["flatfat"],
                "auto/flatfit": rates["auto"] / rates["flatfit"],
            }
        )
        flatfit_gain.append(rates["flatfit"] / rates["flatfat"])
        auto_gain[window] = rates["auto"] / rates["flatfit"]
    widest = max(auto_gain)
    report.summary += [
        f"every range: FlatFIT {np.mean(flatfit_gain):.1f}x FlatFAT on average, "
        f"{max(flatfit_gain):.1f}x at most (paper: 10x, 17x)",
        f"every range: auto {auto_gain[widest]:.1f}x FlatFIT at {widest} "
        f"({_met(auto_gain[widest] >= 10, '10x')})",
    ]


def memory(report: BenchReport, windows: Iterable[int]) -> None:
    """Experiment 3: bytes that a structure holds with one range."""
    names = ("naive", "flatfat", "bint", "flatfit", "two_stacks", "daba")
    saved = []
    for window in windows:
        held: dict[str, int] = {}
        for name in names:
            final = _filled(name, np.arange(window + 1, dtype=np.float64), window)
            assert isinstance(final, Final)
            assert isinstance(final.store, ArrayStore)
            cells = final.store.named.values()
            held[name] = sum(column.nbytes for c in cells for column in c.columns)
            held[name] += sum(p.array.nbytes for p in final.store.numbered.values())
        report.add(
            {
                "memory of": window,
                **{f"{name} bytes": held[name] for name in names},
                "flatfat/flatfit": held["flatfat"] / held["flatfit"],
            }
        )
        saved.append(held["flatfat"] / held["flatfit"])
    report.summary.append(
        f"memory: FlatFAT {np.mean(saved):.2f}x FlatFIT on average, {max(saved):.2f}x at most "
        f"(paper: 1.4x, 1.9x)"
    )


def _latency(report: BenchReport, rng: np.random.Generator, window: int, count: int) -> None:
    """Nanoseconds of single slides: what hides in an average."""
    timed = timed_slides()
    if timed is None:
        report.summary.append("latency: not measured, no clock_gettime on this system")
        return
    values = rng.random(window + 1 + count)
    for name in ("flatfat", "flatfit", "two_stacks", "daba"):
        final = _filled(name, values, window)
        assert isinstance(final, Final)
        spent = timed(final, values[window + 1 :], window)
        p50, p999 = np.percentile(spent, [50, 99.9])
        report.add(
            {
                "latency at": window,
                "structure": name,
                "p50 ns": float(p50),
                "p99.9 ns": float(p999),
                "max ns": float(spent.max()),
                # The slide of a hundred windows that is slowest whatever else the machine does:
                # turns of other processes are longer, and fall on other slides every time.
                "spike ns": spike(spent, window),
            }
        )
    by_name = {row["structure"]: row for row in report.rows if "spike ns" in row}
    flatfit, daba = by_name["flatfit"], by_name["daba"]
    report.summary.append(
        f"latency at {window}: FlatFIT's slowest recurring slide (wReset) takes "
        f"{flatfit['spike ns'] / 1e3:.1f} us, {flatfit['spike ns'] / flatfit['p50 ns']:.0f}x its "
        f"median; DABA's {daba['spike ns']:.0f} ns, {daba['spike ns'] / daba['p50 ns']:.1f}x"
    )


def _lockstep(report: BenchReport, rng: np.random.Generator, copy_rate: float) -> None:
    """A thousand keys that slide together."""
    window, batch = LOCKSTEP_WINDOW, 2 * LOCKSTEP_WINDOW
    values = rng.random((window + 1 + batch, KEYS))
    want = np.stack([_sliding_max(values[:, key], window) for key in range(KEYS)], axis=1)
    rates = {}
    for name in ("auto", "flatfit"):
        final = sliding(name, _op(), capacity=window, lanes=KEYS)
        slides(final, (values[: window + 1],), window)
        fresh, out = values[window + 1 :], (np.empty((batch, KEYS)),)
        slides(final, (fresh,), window, out=out)
        if not np.array_equal(out[0], want[window + 1 :]):
            report.failures.append(f"{name} in lockstep: wrong answers")

        rates[name] = batch * KEYS / _best(partial(slides, final, (fresh,), window, out=out))
    few = values[: window + 4]
    start = thread_time()
    for at in range(window, window + 4):
        few[at + 1 - window : at + 1].max(axis=0)
    rates["numpy"] = 4 * KEYS / (thread_time() - start)
    report.add(
        {
            "keys in lockstep": KEYS,
            "window": window,
            **{f"{name} M/s": rate / 1e6 for name, rate in rates.items()},
            "auto/copy": rates["auto"] / copy_rate,
        }
    )
    wanted = LOCKSTEP_TARGET / COPY_TARGET
    report.summary.append(
        f"lockstep: {rates['auto'] / 1e6:.0f} M key-answers/s with {KEYS} keys at window {window}, "
        f"{rates['auto'] / copy_rate:.2f} of the {copy_rate / 1e9:.2f} G/s at which doubles are "
        f"copied ({_met(rates['auto'] / copy_rate >= wanted, '600 M/s at 1.4 G/s, 0.43')})"
    )


def _batch(report: BenchReport, rng: np.random.Generator, rows: int) -> None:
    """A bucket of keys, fifty queries, three parts: the way batches on Spark take."""
    keys = max(1, rows // 1_000)
    each = rows // keys
    layout = Slices(np.repeat(np.arange(keys), each), np.tile(np.arange(each), keys) * MINUTE)
    values = rng.random(len(layout))
    counts = rng.integers(1, 9, len(layout))
    parts = [
        (bind(Part("sum", ("x",)), [pa.float64()]), [pa.array(values)]),
        (bind(Part("count", ("x",)), [pa.int64()]), [pa.array(counts)]),
        (bind(Part("max", ("x",)), [pa.float64()]), [pa.array(values)]),
    ]
    asks = []
    for query in range(50):
        slide = int(rng.choice([5, 10, 15, 20, 30, 60]))
        span = slide * int(rng.integers(1, 12))
        asks.append(WindowRequest(range=span * MINUTE, slide=slide * MINUTE, parts=(query % 3,)))
    answers = 0
    start = thread_time()
    for found in answer(layout, parts, asks):
        answers += len(found)
    cold = thread_time() - start
    for found in answer(layout, parts, asks):  # one key of each piece, by the definition
        at = len(found) // 2
        ask, key = asks[found.ask], int(found.key[at])
        mine = slice(key * each, (key + 1) * each)
        inside = layout.position[mine] >= found.start[at]
        inside &= layout.position[mine] < found.start[at] + ask.range
        chosen = (values, counts, values)[ask.parts[0]][mine][inside]
        want = chosen.max() if ask.parts[0] == 2 else chosen.sum()
        if not np.isclose(found.parts[0][0][at].as_py(), want, rtol=1e-9):
            report.failures.append(f"batch: a wrong answer of query {found.ask}")
    seconds = _best(lambda: [None for _ in answer(layout, parts, asks)])
    report.add(
        {
            "batch of partials": len(layout),
            "keys": keys,
            "queries": len(asks),
            "answers": answers,
            "seconds": seconds,
            "first time": cold,
            "answers M/s": answers / seconds / 1e6,
        }
    )
    report.summary.append(
        f"batch: {len(layout):,} partials of {keys:,} keys x 50 queries, {answers:,} answers in "
        f"{seconds:.2f} s; by {choose(MAX.laws, form='batch', ranges=17)}"
    )


def _met(reached: bool, target: str) -> str:
    return f"target {target} met" if reached else f"target {target} missed"
