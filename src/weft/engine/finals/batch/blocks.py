"""Many queries over the same rows: prefixes and suffixes of blocks, and a table over blocks.

Preparation takes about three combines per row; then any range takes at most three, in order,
whatever its length (Alon and Schieber, "Optimal preprocessing for answering on-line product
queries", 1987). A range within one block is folded.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save

Int64: TypeAlias = npt.NDArray[np.int64]

BLOCK = 16


def levels(rows: int) -> int:
    """The number of levels of the table over the blocks of this many rows."""
    return max(1, (-(-rows // BLOCK) - 1).bit_length())


@njit(cache=True)
def prepare(tag: Any, partials: Any, prefix: Any, suffix: Any, table: Any) -> None:
    """Fill the prefixes and suffixes within blocks, and the table of whole blocks.

    Level l of the table divides the blocks into runs of 2^(l+1) and holds, for each block, the
    combination of the blocks between it and the middle of its run.
    """
    rows = len(partials[0])
    blocks = (rows + BLOCK - 1) // BLOCK
    for block in range(blocks):
        begin, end = block * BLOCK, min(rows, (block + 1) * BLOCK)
        total = load(partials, begin)
        save(prefix, begin, total)
        for row in range(begin + 1, end):
            total = combine(tag, total, load(partials, row))
            save(prefix, row, total)
        total = load(partials, end - 1)
        save(suffix, end - 1, total)
        for row in range(end - 2, begin - 1, -1):
            total = combine(tag, load(partials, row), total)
            save(suffix, row, total)
    half, level = 1, 0
    while half < blocks:
        base = level * blocks
        for middle in range(half, blocks, 2 * half):
            total = load(suffix, (middle - 1) * BLOCK)
            save(table, base + middle - 1, total)
            for block in range(middle - 2, middle - half - 1, -1):
                total = combine(tag, load(suffix, block * BLOCK), total)
                save(table, base + block, total)
            total = load(suffix, middle * BLOCK)
            save(table, base + middle, total)
            for block in range(middle + 1, min(middle + half, blocks)):
                total = combine(tag, total, load(suffix, block * BLOCK))
                save(table, base + block, total)
        half, level = 2 * half, level + 1


@njit(cache=True)
def combine_ranges(
    tag: Any,
    partials: Any,
    prefix: Any,
    suffix: Any,
    table: Any,
    low: Int64,
    high: Int64,
    out: Any,
) -> None:
    """Combine every range `[low, high)`, in any order, none empty."""
    blocks = (len(partials[0]) + BLOCK - 1) // BLOCK
    for answer in range(len(low)):
        begin, last = low[answer], high[answer] - 1
        first_block, last_block = begin // BLOCK, last // BLOCK
        if first_block == last_block:
            total = load(partials, begin)
            for row in range(begin + 1, last + 1):
                total = combine(tag, total, load(partials, row))
        else:
            total = load(suffix, begin)
            between = last_block - first_block - 1
            if between == 1:
                total = combine(tag, total, load(suffix, (first_block + 1) * BLOCK))
            elif between > 1:
                left, right = first_block + 1, last_block - 1
                differ, level = left ^ right, -1
                while differ:
                    differ >>= 1
                    level += 1
                base = level * blocks
                total = combine(tag, total, load(table, base + left))
                total = combine(tag, total, load(table, base + right))
            total = combine(tag, total, load(prefix, last))
        save(out, answer, total)
