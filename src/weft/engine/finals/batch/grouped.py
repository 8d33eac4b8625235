"""Combines partials by group: the rows of each group, older first, become one partial.

The operations are the same as over ranges (`combined`): if an operation has a compiled form, every
row is combined into its group's total in one pass; otherwise the rows are sorted stably by group,
and each group is a range.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit

from weft.algebra.ops.base import Columns, VectorOp
from weft.algebra.ops.numba_ops import combine, load, save
from weft.engine.finals.batch.combined import combined

Int64: TypeAlias = npt.NDArray[np.int64]


def by_group(op: VectorOp, columns: Columns, ids: Int64, count: int) -> Columns:
    """The combined partials of every group; `ids` gives each row's group, out of `count`.

    >>> import pyarrow as pa
    >>> from weft.algebra.ops import bind
    >>> from weft.algebra.part import Part
    >>> op = bind(Part("max", ("price",)), [pa.float64()])
    >>> columns = op.encode([pa.array([3.0, None, 9.0, None])])
    >>> op.decode(by_group(op, columns, np.array([1, 0, 1, 0]), 2))[0].tolist()
    [None, 9.0]
    """
    if op.tag is not None:
        totals = tuple(np.array(column) for column in op.blank(count))
        rows = tuple(np.ascontiguousarray(column) for column in columns)
        _scatter(op.tag, rows, ids, totals)
        return totals
    order = np.argsort(ids, kind="stable")
    cuts = np.searchsorted(ids[order], np.arange(count + 1))
    return combined(op, op.take(columns, order)).over(cuts[:-1], cuts[1:])


@njit(cache=True)
def _scatter(tag: Any, partials: Any, ids: Int64, totals: Any) -> None:
    for row in range(len(ids)):
        group = ids[row]
        save(totals, group, combine(tag, load(totals, group), load(partials, row)))
