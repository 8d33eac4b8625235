"""Partials as columns: each kind of part as vectorised operations on its components.

The monoids in `weft.algebra` define the semantics; the operations here must agree with them. Input
and output are Arrow arrays; in between a column is a NumPy array where its type allows.
"""

from weft.algebra.ops.base import Columns, VectorOp
from weft.algebra.ops.bind import bind

__all__ = ["Columns", "VectorOp", "bind"]
