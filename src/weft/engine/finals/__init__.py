"""Combine slices into answers: one structure per file, and a registry of them.

Imports only earlier stages; no Spark. `make` returns a structure over any aggregate that works
slide by slide; `batch` computes all answers of a batch at once, with compiled loops.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.engine.finals.auto import Choice as Choice
    from weft.engine.finals.auto import choose as choose
    from weft.engine.finals.contract import Card as Card
    from weft.engine.finals.contract import Counting as Counting
    from weft.engine.finals.contract import Final as Final
    from weft.engine.finals.registry import STRUCTURES as STRUCTURES
    from weft.engine.finals.registry import cards as cards
    from weft.engine.finals.registry import make as make
    from weft.engine.finals.registry import servers as servers

# Public names and their modules, imported on first use: planning needs `choose` but not Numba.
_PUBLIC = {
    "Card": "contract",
    "Choice": "auto",
    "Counting": "contract",
    "Final": "contract",
    "STRUCTURES": "registry",
    "cards": "registry",
    "choose": "auto",
    "make": "registry",
    "servers": "registry",
}
__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'weft.engine.finals' has no attribute {name!r}")
    value = getattr(import_module(f"weft.engine.finals.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value
