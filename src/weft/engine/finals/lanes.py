"""One row of partials per slice, one lane per key, all keys combined in lockstep."""

from __future__ import annotations

from weft.algebra.ops.base import Columns, VectorOp


class Lanes:
    """A vectorised operation as an algebra whose partials are rows, one lane per key.

    A lane without rows in a slice holds the identity.
    """

    def __init__(self, op: VectorOp, lanes: int = 1) -> None:
        self.op = op
        self.lanes = lanes
        self.kind, self.laws = op.kind, op.laws
        self.combine, self.subtract = op.combine, op.subtract

    @property
    def identity(self) -> Columns:
        return self.op.blank(self.lanes)

    def is_identity(self, row: Columns) -> bool:
        """Whether no lane of the row holds anything."""
        return bool(self.op.is_blank(row).all())
