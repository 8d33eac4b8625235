"""Every compiled operation on single partials, compared with the same operation on columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from finals_cases import CASES, Case, rows, same
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from weft.algebra.ops import bind
from weft.algebra.ops import numba_ops as tags
from weft.algebra.ops.numba_ops import combine, load, save, span, subtract

TAGGED = {
    (type(op.tag), len(op.blank(0)), op.blank(0)[-2 if len(op.blank(0)) > 1 else 0].dtype): case
    for case in CASES
    if (op := bind(case.part, case.types)).tag is not None
}


@njit(cache=True)
def combined(tag: Any, a: Any, b: Any, out: Any) -> None:
    for row in range(len(a[0])):
        save(span(out, row, row + 1), 0, combine(tag, load(a, row), load(b, row)))


@njit(cache=True)
def subtracted(tag: Any, a: Any, b: Any, out: Any) -> None:
    for row in range(len(a[0])):
        save(out, row, subtract(tag, load(a, row), load(b, row)))


def test_every_tag_is_tried() -> None:
    named = {value for value in vars(tags).values() if isinstance(value, type)}
    own = {tag for tag in named if tag.__module__ == tags.__name__}
    assert {key[0] for key in TAGGED} == own - {tags.Join}  # of lists: tried by the batches


@pytest.mark.parametrize("case", TAGGED.values(), ids=str)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_tag_does_what_its_operation_does(case: Case, data: st.DataObject) -> None:
    op, monoid = bind(case.part, case.types), case.monoid
    pairs = data.draw(st.lists(st.tuples(case.partials(), case.partials()), max_size=10))
    older, newer = [a for a, _ in pairs], [b for _, b in pairs]
    a, b = (
        tuple(np.array(column) for column in op.encode(case.arrays(some)))
        for some in (older, newer)
    )
    out = tuple(np.empty_like(column) for column in a)
    combined(op.tag, a, b, out)
    want = [monoid.combine(x, y) for x, y in pairs]
    assert all(map(same, rows(op.decode(out)), want))
    if op.laws.invertible:
        left = tuple(np.empty_like(column) for column in a)
        subtracted(op.tag, out, a, left)
        assert all(map(same, rows(op.decode(left)), newer))
