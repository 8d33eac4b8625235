"""Memory that is reused, because allocating pages costs more than the work done in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Scratch:
    """Arrays by name, each valid until the same name is requested again.

    >>> scratch = Scratch()
    >>> a = scratch.take("a", 3, np.dtype(np.int64))
    >>> b = scratch.take("a", 2, np.dtype(np.int64))
    >>> len(b), np.shares_memory(a, b)
    (2, True)
    """

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], npt.NDArray[Any]] = {}

    def take(self, name: str, rows: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """An array of this many rows with arbitrary content."""
        held = self._held.get((name, dtype.str))
        if held is None or len(held) < rows:
            held = np.empty(rows + rows // 4, dtype=dtype)
            self._held[name, dtype.str] = held
        return held[:rows]
