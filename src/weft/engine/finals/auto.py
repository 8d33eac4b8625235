"""`auto`: which structure is best for a use, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.algebra.monoid import Laws
from weft.engine.finals.registry import BLOCKS, refuse_unserved, servers
from weft.errors import FinalsError

Form = Literal["batch", "slides", "stream"]
"""All slices at once; batches of slides over numbers in memory; or state stored in pieces."""

FEW_SLICES = 8
"""Up to this many slices in a window, folding them is as fast as any structure."""
SWEEPS = 2
"""Up to this many queries are swept one by one over a batch: sweeping a row takes 1.3 ns, preparing
it in blocks 3 to 4 ns, and an answer the same either way (measured, doubles, one core)."""
SUFFIXES_PER_RANGE = 6
"""Updating a suffix takes 0.4 ns, a slide of two stacks for one range 2 to 3 ns."""


@dataclass(frozen=True)
class Choice:
    """A structure by name, and the reason for it, shown by `explain`."""

    structure: str
    reason: str

    def __str__(self) -> str:
        return f"{self.structure}: {self.reason}"


def choose(
    laws: Laws,
    *,
    form: Form = "slides",
    ranges: int = 1,
    window: int | None = None,
    keys: int = 1,
    numbers: bool = True,
) -> Choice:
    """The structure for this number of ranges, slices per window and keys.

    `window` is the number of slices in the longest window, None if unknown. `numbers` says whether
    compiled loops can handle the partials; others are combined by slower code, so that the number
    of combines decides.

    >>> laws = Laws(commutative=True, invertible=False, idempotent=True)
    >>> print(choose(laws, window=256))
    two_stacks: one range: two chains over the slices, then one combine per answer in parallel
    >>> print(choose(laws, window=1024, ranges=1024))
    shift: 1024 ranges over 1024 slices: every suffix at once, one combine per answer in parallel
    >>> print(choose(laws, form="stream", window=1440))
    flatfit: one range over the same pieces: what one answer combined others skip
    """
    for name, value in (("ranges", ranges), ("keys", keys), ("window", window)):
        if value is not None and value < 1:
            raise FinalsError(f"{name}={value!r} must be at least 1")
    if form == "batch":
        return _for_batch(laws, ranges, numbers)
    if form == "stream":
        return _for_stream(laws, ranges, window)
    return _for_slides(laws, ranges, window, keys, numbers)


def named(structure: str, laws: Laws, kind: str) -> Choice:
    """The structure requested by name; an error if it cannot serve the aggregate.

    >>> print(named("flatfit", Laws(commutative=True, invertible=False, idempotent=True), "max"))
    flatfit: as asked for
    """
    if structure != BLOCKS.name:
        refuse_unserved(structure, laws, kind)
    return Choice(structure, "as asked for")


def _exact(laws: Laws) -> bool:
    return "subtract" in servers(laws)


def _for_batch(laws: Laws, ranges: int, numbers: bool) -> Choice:
    if _exact(laws) and numbers:
        return Choice("subtract", "exact numbers: every answer is a difference of running totals")
    if ranges <= SWEEPS or not numbers:
        return Choice(
            "two_stacks", f"{_queries(ranges)}: swept one by one, at most three combines a slice"
        )
    return Choice(
        "blocks",
        f"{_queries(ranges)} over the same slices: prepared once, three combines an answer",
    )


def _for_stream(laws: Laws, ranges: int, window: int | None) -> Choice:
    if window is not None and window <= FEW_SLICES:
        return Choice("naive", f"windows of at most {window} slices: folding them is cheapest")
    if _exact(laws):
        return Choice("subtract", "exact numbers: a slide adds a slice to a total, takes one back")
    return Choice(
        "flatfit", f"{_ranges(ranges)} over the same pieces: what one answer combined others skip"
    )


def _for_slides(laws: Laws, ranges: int, window: int | None, keys: int, numbers: bool) -> Choice:
    if window is not None and window <= FEW_SLICES and keys == 1 and ranges == 1 and not numbers:
        return Choice("naive", f"windows of at most {window} slices: folding them is cheapest")
    if ranges == 1:
        if not numbers:
            return Choice("two_stacks", "one range: three combines a slide whatever the window")
        if keys > 1:
            return Choice(
                "two_stacks", f"{keys} keys in lockstep: the same two combines for all of them"
            )
        return Choice(
            "two_stacks",
            "one range: two chains over the slices, then one combine per answer in parallel",
        )
    if not numbers:
        return Choice("flatfit", f"{ranges} ranges: what one has combined the others skip")
    if keys == 1 and window is not None and window <= SUFFIXES_PER_RANGE * ranges:
        return Choice(
            "shift",
            f"{ranges} ranges over {window} slices: every suffix at once, one combine per answer "
            f"in parallel",
        )
    if keys > 1:
        return Choice("flatfit", f"{ranges} ranges, {keys} keys: one walk serves all keys")
    return Choice("two_stacks", f"{ranges} ranges, few for the window: one structure for each")


def _ranges(ranges: int) -> str:
    return "one range" if ranges == 1 else f"{ranges} ranges"


def _queries(ranges: int) -> str:
    return "one query" if ranges == 1 else f"{ranges} queries"
