"""Where weft differs from Spark by design, refuses, or is still wrong: each with its reason."""

from __future__ import annotations

from engines import STREAMS

_INTERMEDIATE = (
    "Spark looks at every intermediate total, weft at the total of each slice and window"
)
_DOUBLES = "`approx_percentile` works on doubles"

DIFFERENCES: dict[tuple[str, str], str] = {
    ("longest", "try_sum"): _INTERMEDIATE,
    ("wide", "try_sum"): _INTERMEDIATE,
    **{
        (column, "percentiles"): _DOUBLES
        for column in ("single", "real", "long", "longest", "wide", "moment", "wall", "day", "span")
    },
}
"""By column and aggregate, a phrase of docs/aggregates.md."""


def refusal(engine: str, column: str, aggregate: str) -> str | None:
    """Why an engine refuses a case; None if it does not."""
    if engine in STREAMS and column in ("folded", "trimmed", "months"):
        return "What only Spark itself compares or holds"
    return None


def todo(engine: str, column: str, aggregate: str) -> str | None:
    """Why a case is not right yet; None if it is."""
    return None
