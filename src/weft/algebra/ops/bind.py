"""The vectorised operation of a part, given the types of its components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.types as pt

from weft.algebra.ops import lists, number_picks, picks
from weft.algebra.ops.base import VectorOp
from weft.algebra.ops.numbers import MomentsOp, TrySumDouble, number_op
from weft.algebra.ops.objects import ObjectOp, SketchOp
from weft.algebra.ops.wide import WideSum
from weft.algebra.part import Part
from weft.algebra.registry import monoid_of
from weft.errors import FinalsError


def bind(part: Part, types: Sequence[pa.DataType]) -> VectorOp:
    """The operation of a part whose components have these Arrow types.

    >>> bind(Part("sum", ("price",)), [pa.float64()])
    NumberOp(sum: double)
    >>> bind(Part("max", ("name",)), [pa.string()])
    PickOp(max: string)
    """
    monoid = monoid_of(part)
    kinds = tuple(types)
    if len(kinds) != len(monoid.components):
        raise FinalsError(
            f"part {part}: {len(kinds)} component types were given, and {part.kind} has "
            f"{len(monoid.components)} ({', '.join(c.name for c in monoid.components)})"
        )
    laws = monoid.laws
    if part.kind in ("sum", "try_sum") and not pt.is_floating(kinds[0]):
        return WideSum(part.kind, replace(laws, invertible=True), kinds)
    if part.kind == "try_sum":
        return TrySumDouble(part.kind, laws, kinds)
    if laws.invertible and pt.is_floating(kinds[0]):
        laws = replace(laws, invertible=False)  # an infinity cannot be subtracted
    if part.kind in ("moments", "moments4", "comoments"):
        return MomentsOp(part.kind, laws, kinds)
    numbers = number_op(part.kind, laws, kinds) if len(kinds) == 1 else None
    if numbers is not None:
        return numbers
    if part.kind in number_picks.TAGS and all(map(number_picks.is_number, kinds)):
        return number_picks.NumberPickOp(part.kind, laws, kinds)
    if part.kind in picks.CHOICES:
        return picks.PickOp(part.kind, laws, kinds)
    if part.kind in lists.KINDS:
        return lists.list_op(part.kind, laws, kinds, part.options)
    if part.kind in ("hll", "kll"):
        return SketchOp(part, monoid, kinds)
    return ObjectOp(monoid, kinds)
