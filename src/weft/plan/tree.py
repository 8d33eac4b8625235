"""A tree: queries that share one set of slices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from weft.query.table import WindowTable

if TYPE_CHECKING:
    from weft.plan.coverage import CoveragePlan


@dataclass(frozen=True, eq=False)
class Tree:
    """Queries that share one set of slices, and what that costs per unit of time.

    `edge_rate` is None for a tree of a coverage plan, whose windows are computed from one another
    instead of from slices; `coverage` then describes how.
    """

    number: int
    rows: npt.NDArray[np.intp]
    """Positions of its queries in the workload."""
    queries: tuple[str, ...]
    table: WindowTable = field(repr=False)
    edge_rate: float | None
    overlap: float
    cost: float
    unshared_cost: float
    coverage: CoveragePlan | None = field(default=None, repr=False)

    @property
    def saved(self) -> float:
        """What the tree saves compared with one tree for each query."""
        return self.unshared_cost - self.cost

    def to_dict(self) -> dict[str, Any]:
        """The tree as JSON values."""
        return {
            "queries": list(self.queries),
            "edge_rate": self.edge_rate,
            "overlap": self.overlap,
            "cost": self.cost,
            "unshared_cost": self.unshared_cost,
            "coverage": self.coverage.to_dict() if self.coverage else None,
        }
