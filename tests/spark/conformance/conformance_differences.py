"""Where weft differs from Spark by design, refuses, or is still wrong: each with its reason."""

from __future__ import annotations

from engines import BATCHES, STREAMS

_INTERMEDIATE = (
    "Spark looks at every intermediate total, weft at the total of each slice and window"
)
_DOUBLES = "`approx_percentile` works on doubles"

_DIGITS = "may differ from Spark's in the last digits"
_RANGE = "where totals leave the range of doubles on the way"
_AS_IT_IS = "In a batch such a query runs as it is"
_BY_ORDER = ("first", "last", "first_valid", "last_valid", "first_n", "last_n", "some_last")
_MOMENTS = ("var_pop", "var_samp", "stddev_pop", "stddev_samp", "covar_pop_pair", "covar_samp_pair")

DIFFERENCES: dict[tuple[str, str], str] = {
    ("longest", "try_sum"): _INTERMEDIATE,
    ("wide", "try_sum"): _INTERMEDIATE,
    ("whole", "covar_samp_pair"): _DIGITS,
    ("longest", "skewness"): _DIGITS,
    ("money", "skewness"): _DIGITS,
    **{("huge", name): _RANGE for name in ("sum", "try_sum", "avg", "product", *_MOMENTS)},
    **{("single", name): _RANGE for name in ("covar_pop_pair", "covar_samp_pair")},
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
    distinct = ("approx_count_distinct", "count_distinct", "count_pairs", "list_distinct")
    sets = (*distinct, "collect_set", "some_set")
    if engine in STREAMS and column == "mapped" and aggregate in sets:
        return "What only Spark itself compares or holds"
    whole = column in ("folded", "trimmed", "months", "mapped")
    if engine in BATCHES and whole and aggregate in _BY_ORDER:
        return _AS_IT_IS  # and Spark's own first and last are of any row
    return None


def todo(engine: str, column: str, aggregate: str) -> str | None:
    """Why a case is not right yet; None if it is."""
    if engine == "rewrite" and column == "any" and aggregate in ("collect_set", "some_set"):
        return "Spark's array_distinct takes no VARIANT: the rewrite engine fails in analysis"
    return None
