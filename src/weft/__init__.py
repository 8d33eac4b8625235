"""weft: thousands of window aggregate queries on one stream for little more than one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.query.table import WindowTable as WindowTable
    from weft.query.window import Window as Window

__version__ = "0.1.0"

# Public names and where they live, loaded on first use: `import weft` starts neither Numba,
# sqlglot nor Spark.
_PUBLIC = {
    "Window": "weft.query.window",
    "WindowTable": "weft.query.table",
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
