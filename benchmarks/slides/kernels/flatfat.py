"""FlatFAT, compiled."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.numba_ops import combine, load, save
from weft.engine.finals.batch.in_order import between

Int64: TypeAlias = npt.NDArray[np.int64]


@njit(cache=True)
def slides(
    tag: Any,
    nodes: Any,
    numbers: Int64,
    x: Any,
    counts: Int64,
    order: Int64,
    hold: int,
    commutes: bool,
    out: Any,
) -> None:
    first, end, capacity, leaves = numbers[0], numbers[1], numbers[2], numbers[4]
    ranges = counts.shape[1]
    step = 0 if counts.shape[0] == 1 else 1
    slot = end % capacity
    for slide in range(len(x[0])):
        node = leaves + slot
        save(nodes, node, load(x, slide))
        while node > 1:
            node >>= 1
            save(nodes, node, combine(tag, load(nodes, 2 * node), load(nodes, 2 * node + 1)))
        slot = slot + 1 if slot + 1 < capacity else 0
        end += 1
        first = max(first, end - hold)
        newest = slot - 1 if slot > 0 else capacity - 1
        for place in range(ranges):
            query = order[place]
            count = min(counts[slide * step, query], end - first)
            at = slot - count if slot >= count else slot - count + capacity
            if count == capacity and (commutes or at == 0):
                total = load(nodes, 1)
            elif at <= newest:
                total = between(tag, nodes, leaves + at, leaves + newest)
            else:
                older = between(tag, nodes, leaves + at, leaves + capacity - 1)
                total = combine(tag, older, between(tag, nodes, leaves, leaves + newest))
            save(out, slide * ranges + query, total)
    numbers[0], numbers[1] = first, end
