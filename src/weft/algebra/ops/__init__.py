"""Partials by the column: each kind of part as vectorised operations on its components.

The meaning is the monoid's in `weft.algebra`; nothing here defines another. Arrow arrays
come in and go out; in between a column is a NumPy array where its type allows.
"""

from weft.algebra.ops.base import Columns, VectorOp
from weft.algebra.ops.bind import bind

__all__ = ["Columns", "VectorOp", "bind"]
