"""Combines rows, or partials, by group, with the operation of a part.

rows (arguments, filter) --lift--> a partial a row --combine by group--> a partial a group
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.algebra.ops import bind
from weft.algebra.ops.base import validity
from weft.algebra.part import Part
from weft.algebra.types import component_types
from weft.engine.finals.batch.grouped import by_group
from weft.engine.groups import Groups

Arrays: TypeAlias = tuple[pa.Array, ...]


def lift_rows(
    part: Part, arguments: Sequence[pa.Array], where: pa.Array | None, groups: Groups
) -> Arrays:
    """The part's partial for each group of rows; `where` marks the rows that pass its filter.

    >>> from weft.engine.groups import group_rows
    >>> groups = group_rows([pa.array(["a", "b", "a"])], 3)
    >>> [c.to_pylist() for c in lift_rows(Part("count"), [], None, groups)]
    [[2, 1]]
    """
    let_in = None
    if where is not None:
        let_in = np.asarray(pc.fill_null(where, False).to_numpy(zero_copy_only=False))
    if part.kind == "count":
        return (_counts(arguments, let_in, groups),)
    op = bind(part, component_types(part, [argument.type for argument in arguments]))
    found = op.lift_groups(arguments, let_in, groups.ids, groups.count)
    if found is None:
        found = by_group(op, op.lift(arguments, let_in), groups.ids, groups.count)
    return tuple(op.decode(found))


def _counts(arguments: Sequence[pa.Array], let_in: np.ndarray | None, groups: Groups) -> pa.Array:
    """Counts the rows of each group without making a partial for every row."""
    for argument in arguments:
        if argument.null_count:
            valid = validity(argument)
            let_in = valid if let_in is None else let_in & valid
    ids = groups.ids if let_in is None else groups.ids[let_in]
    return pa.array(np.bincount(ids, minlength=groups.count).astype(np.int64))


def combine_partials(part: Part, columns: Arrays, groups: Groups) -> Arrays:
    """The partials of each group combined, older first: one row per group.

    >>> from weft.engine.groups import group_rows
    >>> groups = group_rows([pa.array(["a", "b", "a"])], 3)
    >>> x = pa.array([1, None, 4])
    >>> [c.to_pylist() for c in combine_partials(Part("sum", ("x",)), (x,), groups)]
    [[5, None]]
    """
    if groups.distinct:
        return columns
    op = bind(part, [column.type for column in columns])
    return tuple(op.decode(by_group(op, op.encode(columns), groups.ids, groups.count)))
