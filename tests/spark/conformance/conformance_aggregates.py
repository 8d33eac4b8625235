"""Every aggregate, as weft's query writes it and as Spark's query for the expected answer does."""

from __future__ import annotations

from dataclasses import dataclass

from weft.algebra.catalogue import CALLABLE

TEXTS = ("text", "number_text")
PAIRED = (
    *("covar_pop", "covar_samp", "corr", "regr_sxx", "regr_syy", "regr_sxy", "regr_slope"),
    *("regr_intercept", "regr_r2"),
)
SOME = "FILTER (WHERE n % 3 <> 0)"
_VALID = "FILTER (WHERE {x} IS NOT NULL)"
_TIMED = (
    "array_sort(collect_list(CASE WHEN {x} IS NOT NULL THEN struct(ts AS at, {x} AS v) END), "
    "(a, b) -> CASE WHEN a.at < b.at THEN -1 WHEN a.at > b.at THEN 1 ELSE 0 END)"
)


@dataclass(frozen=True)
class Asked:
    """An aggregate over a column `{x}`, and its definition where Spark leaves its order open."""

    name: str
    sql: str
    defined: str | None = None
    only: tuple[str, ...] = ()
    """The columns to test it over; all if empty."""

    def of(self, column: str) -> str:
        """The aggregate in weft's query."""
        return _shown(self.sql, column)

    def plain(self, column: str) -> str:
        """The aggregate in Spark's query."""
        return _shown(self.defined or self.sql, column)


def _shown(sql: str, column: str) -> str:
    asked = sql.replace("{x}", column)
    if column != "months":
        return asked
    # As text, because Python has no intervals of months; unordered lists are sorted first.
    lists = "collect_" in sql or "_n(" in sql
    return f"CAST(sort_array({asked}) AS STRING)" if lists else f"CAST({asked} AS STRING)"


ASKED = (
    *(
        Asked(name, f"{name}({{x}})")
        for name in [
            "count",
            "sum",
            "try_sum",
            "min",
            "max",
            "avg",
            "try_avg",
            "median",
            "var_pop",
            "var_samp",
            "stddev_pop",
            "stddev_samp",
            "skewness",
            "kurtosis",
            "bool_and",
            "bool_or",
            "bit_and",
            "bit_or",
            "bit_xor",
            "collect_list",
            "collect_set",
            "approx_count_distinct",
        ]
    ),
    *(Asked(f"{name}_pair", f"{name}({{x}}, n)") for name in PAIRED),
    *(Asked(name, f"{name}({{x}}, n)") for name in ("regr_count", "regr_avgx", "regr_avgy")),
    Asked("percentile", "percentile({x}, array(0, 0.3, 0.75, 1))"),
    *(
        Asked(f"{name}_{way}", f"{name}(0.3) WITHIN GROUP (ORDER BY {{x}} {way.upper()})")
        for name in ("percentile_cont", "percentile_disc")
        for way in ("asc", "desc")
    ),
    Asked("some_median", f"median({{x}}) {SOME}"),
    # Spark leaves open which of several values is the mode, unless the query asks for the least.
    Asked("mode", "mode({x})", "mode({x}, true)"),
    Asked("mode_greatest", "mode() WITHIN GROUP (ORDER BY {x} DESC)"),
    # Its order is not defined, so its parts are sorted.
    Asked("listagg", "array_sort(split(listagg({x}, '; '), '; '))"),
    Asked("listagg_by", f"string_agg({{x}}) WITHIN GROUP (ORDER BY n DESC) {SOME}"),
    Asked("listagg_by_it", "listagg({x}, ',') WITHIN GROUP (ORDER BY {x})"),
    Asked(
        "listagg_distinct",
        "listagg(DISTINCT {x}, ',') WITHIN GROUP (ORDER BY {x} DESC)",
        None,
        TEXTS,
    ),
    Asked("min_by_n", "min_by({x}, n, 2)"),
    Asked("max_by_n", f"max_by({{x}}, n, 3) {SOME}"),
    Asked("count_if", "count_if({x} IS NULL)"),
    Asked("count_distinct", "count(DISTINCT {x})"),
    Asked("count_pairs", "count(DISTINCT {x}, k)"),
    Asked("sum_distinct", "sum(DISTINCT {x})"),
    Asked("list_distinct", "collect_list(DISTINCT {x})"),
    Asked("value_range", "value_range({x})", "max({x}) - min({x})"),
    Asked("geo_mean", "geo_mean({x})", "exp(avg(ln({x})))"),
    Asked(
        "product",
        "product({x})",
        "aggregate(collect_list(CAST({x} AS DOUBLE)), CAST(NULL AS DOUBLE), "
        "(a, v) -> coalesce(a, 1D) * v)",
    ),
    Asked("first", "first({x})", "min_by({x}, ts)"),
    Asked("last", "last({x})", "max_by({x}, ts)"),
    Asked("first_valid", "first({x}) IGNORE NULLS", f"min_by({{x}}, ts) {_VALID}"),
    Asked("last_valid", "last({x}, true)", f"max_by({{x}}, ts) {_VALID}"),
    Asked("first_n", "first_n({x}, 2)", f"slice({_TIMED}, 1, 2).v"),
    Asked("last_n", "last_n({x}, 2)", f"reverse(slice(reverse({_TIMED}), 1, 2)).v"),
    Asked("min_by", "min_by({x}, n)"),
    Asked("max_by", "max_by({x}, -n)"),
    Asked("min_by_it", "min_by(n, struct({x}, n))"),
    Asked("max_by_it", "max_by(n, struct({x}, n))"),
    Asked("percentiles", "approx_percentile({x}, array(0.0, 1.0))"),
    Asked("some_count", f"count({{x}}) {SOME}"),
    Asked("some_max", f"max({{x}}) {SOME}"),
    Asked("some_sum", f"sum({{x}}) {SOME}"),
    Asked("some_set", f"collect_set({{x}}) {SOME}"),
    Asked("some_last", f"last({{x}}) {SOME}", f"max_by({{x}}, ts) {SOME}"),
    Asked("max_struct", f"max(struct({{x}}, 1 AS one)) {SOME}"),
    Asked("list_struct", "collect_list(struct({x}, 1 AS one))"),
)

OF_LISTS = {
    *[
        "collect_list",
        "collect_set",
        "count_distinct",
        "count_pairs",
        "sum_distinct",
        "list_distinct",
    ],
    *["some_set", "list_struct"],
    *["median", "percentile", "percentile_cont_asc", "percentile_cont_desc", "some_median"],
    *["percentile_disc_asc", "percentile_disc_desc", "mode", "mode_greatest"],
}
"""Aggregates whose state grows with the rows."""

OF_SKETCHES = {"approx_count_distinct", "percentiles", "listagg", "listagg_by", "listagg_by_it"}
OF_SKETCHES |= {"listagg_distinct"}
OF_MEANS = {"try_avg"}
"""Aggregates that may make a whole query run as plain Spark, and so are tested in a separate query:
otherwise Spark's own first and last beside them would take any row. (Spark 4.3 fails on an ordered
listagg beside DISTINCT.) Means of wide decimals are computed without SQL, sketches only in SQL."""
OF_ORDER = {"first", "last", "first_valid", "last_valid", "first_n", "last_n", "some_last"}

OF_NUMBERS = {
    *[
        "sum",
        "try_sum",
        "avg",
        "var_pop",
        "var_samp",
        "stddev_pop",
        "stddev_samp",
        "skewness",
        "kurtosis",
        "geo_mean",
    ],
    *[
        "product",
        *(f"{name}_pair" for name in PAIRED),
        "regr_count",
        "regr_avgx",
        "regr_avgy",
        "try_avg",
        "median",
        "some_median",
        "percentile",
        "percentile_cont_asc",
        "percentile_cont_desc",
        "percentile_disc_asc",
        "percentile_disc_desc",
        "sum_distinct",
        "value_range",
        "some_sum",
    ],
    *["bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "percentiles"],
}
"""Aggregates for which Spark casts a string to a number or Boolean."""

ALIASES = {"mean", "variance", "stddev", "std", "first_value", "any_value", "last_value", "every"}
ALIASES |= {"some", "any", "array_agg", "percentile_approx", "string_agg"}


def untested() -> set[str]:
    """Names that a query may call but no case above calls."""
    called = {asked.sql.partition("(")[0] for asked in ASKED}
    return set(CALLABLE) - called - ALIASES
