"""Where weft differs from Spark by design, refuses, or is still wrong: each with its reason."""

from __future__ import annotations

from conformance_aggregates import OF_ORDER, PAIRED
from conformance_values import AS_THEY_ARE
from engines import STREAMS

_INTERMEDIATE = "Spark checks every intermediate total, weft the total of each slice and window"
_DOUBLES = "`approx_percentile` works on doubles: integers past 2^53 are rounded, NaN is left out"
_HASHES = "are estimates from Apache DataSketches"
_MODE = "`mode(x)` is the least of the most frequent values; Spark's is any of them"
_DIGITS = "may differ from Spark's in the last digits"
_ORDER = "Spark itself promises no order"
_INFINITE = "Covariances and correlations of infinities are NaN, where Spark's may be an infinity"

DIFFERENCES: dict[tuple[str, str], str] = {
    ("longest", "try_sum"): _INTERMEDIATE,
    ("wide", "try_sum"): _INTERMEDIATE,
    # Spark's hash of an array ignores nulls, and that of a map depends on the order of its entries.
    **{(column, "approx_count_distinct"): _HASHES for column in ("listed", "mapped")},
    # These run as plain Spark.
    **{(column, "mode"): _MODE for column in AS_THEY_ARE},
    # Slopes of numbers near 2^53 over a few seconds: every digit is a rounding error.
    **{("long", f"regr_{name}_pair"): _DIGITS for name in ("slope", "intercept")},
    **{(column, name): _ORDER for column in ("folded", "trimmed", "months") for name in OF_ORDER},
    **{
        ("huge", name): "doubles near 1e308 may overflow in one order and not in another"
        for name in [
            "var_pop",
            "var_samp",
            "stddev_pop",
            "stddev_samp",
            "skewness",
            "kurtosis",
            "product",
        ]
    },
    **{
        (column, "percentiles"): _DOUBLES
        for column in ("single", "real", "long", "longest", "wide")
    },
    **{
        (column, f"{name}_pair"): _INFINITE
        for column in ("single", "real", "huge")
        for name in PAIRED
    },
}
"""For each column and aggregate, a phrase in docs/aggregates.md."""


def refusal(engine: str, column: str, aggregate: str) -> str | None:
    """Why an engine refuses a case; None if it does not."""
    if engine not in STREAMS:
        return None
    if column in ("folded", "trimmed", "months"):
        return "Values that only Spark can compare or hold"
    if column == "any" and aggregate not in ("count", "count_if", "some_count"):
        return "A stream also refuses aggregates of VARIANT other than `count`"
    if column == "bytes" and aggregate.startswith("listagg"):
        return "of binary values it is Spark's own in a batch, and refused on a stream"
    exact = aggregate.removeprefix("some_").startswith(("median", "percentile"))
    if column == "span" and exact and aggregate != "percentiles":
        return "Over intervals, plain Spark computes them in a batch, and a stream refuses them"
    if aggregate == "percentiles" and column in ("moment", "wall", "day", "span"):
        return "of dates, times and intervals it is Spark's own in a batch, and refused on a stream"
    return None


def todo(engine: str, column: str, aggregate: str) -> str | None:
    """Why a case is not right yet; None if it is."""
    return None
