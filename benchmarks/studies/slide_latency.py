"""Nanoseconds of single slides, which an average hides, measured inside compiled code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.slides.array_store import ArrayStore
from weft.engine.finals import Final

Float64: TypeAlias = npt.NDArray[np.float64]
_MONOTONIC = 1


def spike(spent: npt.NDArray[np.int64], window: int) -> float:
    """The slowest slide in each run of window + 1 slides, and of these the median."""
    stretches = len(spent) // (window + 1)
    if stretches == 0:
        return float(spent.max())
    whole = spent[: stretches * (window + 1)].reshape(stretches, window + 1)
    return float(np.median(whole.max(axis=1)))


def timed_slides() -> Callable[[Final, Float64, int], npt.NDArray[np.int64]] | None:
    """A function that times every slide of a structure within compiled code."""
    from numba import njit

    from benchmarks.slides.kernels import daba, flatfat, flatfit, two_stacks

    try:
        clock = ctypes.CDLL(None).clock_gettime
    except (AttributeError, OSError, TypeError):
        return None
    clock.argtypes = [ctypes.c_int, ctypes.c_void_p]
    clock.restype = ctypes.c_int
    fat, fit, two, da = flatfat.slides, flatfit.slides, two_stacks.slides, daba.slides

    @njit
    def now(moment: Any) -> Any:
        clock(_MONOTONIC, moment.ctypes)
        return moment[0] * 1_000_000_000 + moment[1]

    @njit
    def flatfat_slides(tag, nodes, numbers, x, counts, order, hold, out, spent):  # type: ignore[no-untyped-def]
        moment = np.zeros(2, dtype=np.int64)
        for at in range(len(spent)):
            before = now(moment)
            one, answer = (x[0][at : at + 1],), (out[0][at : at + 1],)
            fat(tag, nodes, numbers, one, counts, order, hold, True, answer)
            spent[at] = now(moment) - before

    @njit
    def flatfit_slides(tag, ring, pointers, numbers, x, counts, order, hold, out, spent):  # type: ignore[no-untyped-def]
        moment = np.zeros(2, dtype=np.int64)
        for at in range(len(spent)):
            before = now(moment)
            one, answer = (x[0][at : at + 1],), (out[0][at : at + 1],)
            fit(tag, ring, pointers, numbers, one, counts, order, hold, answer)
            spent[at] = now(moment) - before

    @njit
    def two_slides(tag, ring, registers, numbers, x, counts, room, out, spent):  # type: ignore[no-untyped-def]
        moment = np.zeros(2, dtype=np.int64)
        for at in range(len(spent)):
            before = now(moment)
            one, answer = (x[0][at : at + 1],), (out[0][at : at + 1],)
            two(tag, ring, registers, numbers, one, counts, room, room, answer)
            spent[at] = now(moment) - before

    @njit
    def daba_slides(tag, ring, registers, blank, numbers, x, counts, out, spent):  # type: ignore[no-untyped-def]
        moment = np.zeros(2, dtype=np.int64)
        for at in range(len(spent)):
            before = now(moment)
            one, answer = (x[0][at : at + 1],), (out[0][at : at + 1],)
            da(tag, ring, registers, blank, numbers, one, counts, answer)
            spent[at] = now(moment) - before

    def timed(final: Final, values: Float64, window: int) -> npt.NDArray[np.int64]:
        store = final.store
        assert isinstance(store, ArrayStore)
        tag, numbers = store.algebra.op.tag, np.array(list(final.numbers().values()))
        cells = {
            name: tuple(column.reshape(-1) for column in held.columns)
            for name, held in store.named.items()
        }
        out, spent = (np.empty(len(values)),), np.empty(len(values), dtype=np.int64)
        counts, order, x = np.array([[window]]), np.array([0]), (values,)
        rest = (x, counts, order, window, out)

        def go(part: Any) -> None:
            if final.card.name == "flatfat":
                flatfat_slides(tag, cells["nodes"], numbers, *rest, part)
            elif final.card.name == "flatfit":
                pointers = store.numbered["pointers"].array
                flatfit_slides(tag, cells["partials"], pointers, numbers, *rest, part)
            elif final.card.name == "two_stacks":
                room = (np.empty(window),)
                queue, registers = cells["queue"], cells["registers"]
                two_slides(tag, queue, registers, numbers, x, counts[0], room, out, part)
            else:
                blank = store.algebra.op.blank(1)
                queue, registers = cells["queue"], cells["registers"]
                daba_slides(tag, queue, registers, blank, numbers, x, counts[0], out, part)

        go(spent[:1])  # compiles it
        go(spent)
        return spent

    return timed
