"""Thousands of window aggregate queries on one stream for little more than the price of one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.errors import WeftError as WeftError
    from weft.plan.cost import Statistics as Statistics
    from weft.plan.edges import edge_rate as edge_rate
    from weft.plan.optimizer import optimize as optimize
    from weft.plan.plan import Plan as Plan
    from weft.query.calendar import Calendar as Calendar
    from weft.query.query import Query as Query
    from weft.query.table import WindowTable as WindowTable
    from weft.query.window import Session as Session
    from weft.query.window import Window as Window
    from weft.query.workload import Workload as Workload
    from weft.sinks.late_files import read_late as read_late
    from weft.sinks.parquet import read_results as read_results
    from weft.spark.loom import Loom as Loom
    from weft.spark.streaming.rescale import rescale as rescale
    from weft.spark.training.training_set import training_set as training_set

__version__ = "0.2.0"

# Public names and where they live, loaded on first use: `import weft` starts neither Numba,
# sqlglot nor Spark.
_PUBLIC = {
    "Calendar": "weft.query.calendar",
    "Loom": "weft.spark.loom",
    "Plan": "weft.plan.plan",
    "Query": "weft.query.query",
    "Session": "weft.query.window",
    "Statistics": "weft.plan.cost",
    "WeftError": "weft.errors",
    "Window": "weft.query.window",
    "WindowTable": "weft.query.table",
    "Workload": "weft.query.workload",
    "edge_rate": "weft.plan.edges",
    "optimize": "weft.plan.optimizer",
    "read_late": "weft.sinks.late_files",
    "read_results": "weft.sinks.parquet",
    "training_set": "weft.spark.training.training_set",
    "rescale": "weft.spark.streaming.rescale",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
