"""Every aggregate function that weft supports: its parts, and how its answer is made from them."""

from __future__ import annotations

from weft.algebra import function as made
from weft.algebra import lowering as low
from weft.algebra.collected import lower_text, text_sql
from weft.algebra.counted import lower_mode, lower_percentile, mode_sql, percentile_sql
from weft.algebra.function import Function
from weft.algebra.regression import FUNCTIONS as REGRESSIONS
from weft.algebra.sketches import estimate_distinct

_LAST_N = "reverse(slice(reverse(collect_list({0}){where}), 1, {n}))"

BY_ORDER = {
    "first": "first(x)",
    "first_valid": "first(x) IGNORE NULLS",
    "last": "last(x)",
    "last_valid": "last(x) IGNORE NULLS",
    "first_n": "first_n(x, n)",
    "last_n": "last_n(x, n)",
    "collect_list": "collect_list(x)",
    "listagg": "listagg(x, s)",
}
"""Functions whose answer depends on the order of rows, and how they are written. Each has a form,
named with `_at`, that takes an order column as its last argument."""

FUNCTIONS: tuple[Function, ...] = (
    Function(
        "count",
        made.of_kinds("count"),
        made.component(),
        made.column(),
        arity=(0, 99),
        distinct="other",
        note="count_if(c) is count(*) FILTER (WHERE c)",
    ),
    Function(
        "count_distinct",
        made.of_kinds("set"),
        lambda partials, options: len(partials[0][0]),
        lambda columns, options, types: f"CAST(size({columns[0][0]}) AS BIGINT)",
        arity=(1, 99),
        written="count(DISTINCT x)",
    ),
    Function(
        "sum",
        made.of_kinds("sum"),
        lambda partials, options: low.lower_sum(partials[0][0]),
        lambda columns, options, types: low.lower_sum_sql(columns[0][0], types),
        distinct="other",
        note="an integer total past 64 bits is an error",
    ),
    Function(
        "sum_distinct",
        made.of_kinds("set"),
        lambda partials, options: low.lower_distinct_sum(partials[0][0]),
        lambda columns, options, types: low.distinct_sum_sql(columns[0][0], types),
        written="sum(DISTINCT x)",
    ),
    Function(
        "try_sum",
        made.of_kinds("try_sum"),
        made.of_first(low.lower_try_sum),
        lambda columns, options, types: low.lower_sum_sql(columns[0][0], types),
        note="null instead of an error",
    ),
    Function("min", made.of_kinds("min"), made.component(), made.column(), distinct="same"),
    Function("max", made.of_kinds("max"), made.component(), made.column(), distinct="same"),
    Function(
        "value_range",
        made.of_kinds("max", "min"),
        made.lower_range,
        lambda columns, options, types: f"{columns[0][0]} - {columns[1][0]}",
        distinct="same",
        definition="max({0}){where} - min({0}){where}",
        note="weft's own: max(x) - min(x)",
    ),
    Function(
        "avg",
        made.of_kinds("sum", "count"),
        lambda partials, options: low.lower_mean(partials[0][0], partials[1][0]),
        lambda columns, options, types: low.lower_mean_sql(columns[0][0], columns[1][0], types),
        aliases=("mean",),
        note="of integers, the exact sum divided as a double; of bigint, a sum of doubles",
    ),
    Function(
        "try_avg",
        made.of_kinds("try_sum", "count"),
        lambda partials, options: low.lower_try_mean(partials[0], partials[1][0]),
        lambda columns, options, types: low.lower_mean_sql(columns[0][0], columns[1][0], types),
        note="null where a sum of decimals or intervals overflows",
    ),
    Function(
        "geo_mean",
        made.log_parts,
        made.lower_geo_mean,
        lambda columns, options, types: f"exp({columns[0][0]} / nullif({columns[1][0]}, 0))",
        definition="exp(avg(ln({0})){where})",
        note="weft's own: exp(avg(ln(x))), which leaves out what is not above zero",
    ),
    Function(
        "product",
        made.of_kinds("product"),
        made.component(),
        made.column(),
        definition="aggregate(collect_list(CAST({0} AS DOUBLE)){where}, CAST(NULL AS DOUBLE), "
        "(a, v) -> coalesce(a, 1D) * v)",
        note="as the DataFrame function product; Spark's SQL has none",
    ),
    Function(
        "var_pop",
        made.of_kinds("moments"),
        lambda partials, options: low.lower_variance(partials[0], 0),
        lambda columns, options, types: low.variance_sql(columns, 0),
    ),
    Function(
        "var_samp",
        made.of_kinds("moments"),
        lambda partials, options: low.lower_variance(partials[0], 1),
        lambda columns, options, types: low.variance_sql(columns, 1),
        aliases=("variance",),
    ),
    Function(
        "stddev_pop",
        made.of_kinds("moments"),
        lambda partials, options: low.root(low.lower_variance(partials[0], 0)),
        lambda columns, options, types: f"sqrt({low.variance_sql(columns, 0)})",
    ),
    Function(
        "stddev_samp",
        made.of_kinds("moments"),
        lambda partials, options: low.root(low.lower_variance(partials[0], 1)),
        lambda columns, options, types: f"sqrt({low.variance_sql(columns, 1)})",
        aliases=("stddev", "std"),
    ),
    Function(
        "skewness",
        made.of_kinds("moments4"),
        made.of_first(low.lower_skewness),
        lambda columns, options, types: (
            "CASE WHEN {0} > 0 AND {2} <> 0 "
            "THEN sqrt({0}) * {3} / sqrt({2} * {2} * {2}) END".format(*columns[0])
        ),
    ),
    Function(
        "kurtosis",
        made.of_kinds("moments4"),
        made.of_first(low.lower_kurtosis),
        lambda columns, options, types: (
            "CASE WHEN {0} > 0 AND {2} <> 0 THEN {0} * {4} / ({2} * {2}) - 3D END".format(
                *columns[0]
            )
        ),
    ),
    Function(
        "covar_pop",
        made.of_kinds("comoments"),
        lambda partials, options: low.lower_covariance(partials[0], 0),
        lambda columns, options, types: "CASE WHEN {0} > 0 THEN {3} / {0} END".format(*columns[0]),
        arity=(2, 2),
    ),
    Function(
        "covar_samp",
        made.of_kinds("comoments"),
        lambda partials, options: low.lower_covariance(partials[0], 1),
        lambda columns, options, types: "CASE WHEN {0} > 1 THEN {3} / ({0} - 1) END".format(
            *columns[0]
        ),
        arity=(2, 2),
    ),
    Function(
        "corr",
        made.of_kinds("comoments"),
        made.of_first(low.lower_correlation),
        lambda columns, options, types: (
            "CASE WHEN {0} > 1 THEN {3} / nullif(sqrt({4} * {5}), 0D) END".format(*columns[0])
        ),
        arity=(2, 2),
    ),
    *(made.regression(name) for name in REGRESSIONS),
    Function(
        "first",
        made.of_kinds("first"),
        made.component(1),
        made.column(1),
        aliases=("first_value", "any_value"),
    ),
    Function(
        "first_valid",
        made.of_kinds("first_valid"),
        made.component(),
        made.column(),
        written="first(x) IGNORE NULLS",
        note="or first(x, true)",
    ),
    Function(
        "last",
        made.of_kinds("last"),
        made.component(1),
        made.column(1),
        aliases=("last_value",),
    ),
    Function(
        "last_valid",
        made.of_kinds("last_valid"),
        made.component(),
        made.column(),
        written="last(x) IGNORE NULLS",
        note="or last(x, true)",
    ),
    Function("min_by", made.of_kinds("min_by"), made.component(1), made.column(1), arity=(2, 2)),
    Function("max_by", made.of_kinds("max_by"), made.component(1), made.column(1), arity=(2, 2)),
    Function(
        "min_by_n",
        made.most("first_n_at"),
        made.lower_most,
        made.most_sql,
        arity=(2, 2),
        written="min_by(x, y, n)",
        note="the n values of x whose y is least, as an array",
    ),
    Function(
        "max_by_n",
        made.most("last_n_at"),
        made.backwards(made.lower_most),
        lambda columns, options, types: f"reverse({made.most_sql(columns, options, types)})",
        arity=(2, 2),
        written="max_by(x, y, n)",
        note="the n values of x whose y is greatest, as an array",
    ),
    Function(
        "first_n",
        made.with_constant("first_n"),
        lambda partials, options: list(partials[0][0]),
        made.column(),
        definition="slice(collect_list({0}){where}, 1, {n})",
        note="weft's own: the first n values that are not null, as an array",
    ),
    Function(
        "last_n",
        made.with_constant("last_n"),
        lambda partials, options: list(partials[0][0]),
        made.column(),
        definition=_LAST_N,
        note="weft's own: the last n values that are not null, as an array",
    ),
    Function(
        "bool_and",
        made.of_kinds("bool_and"),
        made.component(),
        made.column(),
        aliases=("every",),
        distinct="same",
    ),
    Function(
        "bool_or",
        made.of_kinds("bool_or"),
        made.component(),
        made.column(),
        aliases=("some", "any"),
        distinct="same",
    ),
    Function("bit_and", made.of_kinds("bit_and"), made.component(), made.column(), distinct="same"),
    Function("bit_or", made.of_kinds("bit_or"), made.component(), made.column(), distinct="same"),
    Function("bit_xor", made.of_kinds("bit_xor"), made.component(), made.column()),
    Function(
        "collect_list",
        made.of_kinds("list"),
        lambda partials, options: list(partials[0][0]),
        made.column(),
        aliases=("array_agg",),
        distinct="other",
    ),
    Function(
        "collect_set",
        made.of_kinds("set"),
        lambda partials, options: list(partials[0][0]),
        made.column(),
        distinct="same",
        note="in no particular order, as in Spark",
    ),
    Function(
        "listagg",
        made.of_kinds("list"),
        lambda partials, options: lower_text(partials[0][0], options),
        lambda columns, options, types: text_sql(columns[0][0], options),
        aliases=("string_agg",),
        distinct="other",
        note="WITHIN GROUP (ORDER BY ...) in one direction; without it in no particular order",
    ),
    Function(
        "listagg_distinct",
        made.of_kinds("set"),
        lambda partials, options: lower_text(sorted(partials[0][0]), options),
        lambda columns, options, types: text_sql(f"array_sort({columns[0][0]})", options),
        written="listagg(DISTINCT x, s)",
        note="of texts, in their order",
    ),
    Function(
        "percentile",
        made.of_kinds("counts"),
        lambda partials, options: lower_percentile(partials[0], options, discrete=False),
        lambda columns, options, types: percentile_sql(columns, options, discrete=False),
        note="exact; median(x) and percentile_cont(p) WITHIN GROUP (ORDER BY x) are it too",
    ),
    Function(
        "percentile_disc",
        made.of_kinds("counts"),
        lambda partials, options: lower_percentile(partials[0], options, discrete=True),
        lambda columns, options, types: percentile_sql(columns, options, discrete=True),
        note="exact; written percentile_disc(p) WITHIN GROUP (ORDER BY x)",
    ),
    Function(
        "mode",
        made.of_kinds("counts"),
        lambda partials, options: lower_mode(partials[0], options),
        lambda columns, options, types: mode_sql(columns, options),
        note="of several, the least (Spark: any); WITHIN GROUP (ORDER BY x DESC) the greatest",
    ),
    Function(
        "approx_count_distinct",
        made.with_constant("hll"),
        lambda partials, options: estimate_distinct(partials[0]),
        lambda columns, options, types: f"coalesce(hll_sketch_estimate({columns[0][0]}), 0L)",
        distinct="same",
        note="an estimate within the same error as Spark's, not Spark's estimate",
    ),
    Function(
        "approx_percentile",
        made.with_constant("kll"),
        made.lower_approx_percentile,
        made.approx_percentile_sql,
        aliases=("percentile_approx",),
        note="an estimate within the same error as Spark's, not Spark's estimate; as doubles",
    ),
)

FUNCTIONS += tuple(
    Function(
        f"{name}_at",
        made.of_kinds(f"{name}_at"),
        made.component(1),
        made.column(1),
        arity=(2, 2),
        written=f"{BY_ORDER[name]} by event time",
    )
    for name in ("first", "first_valid", "last", "last_valid")
) + tuple(
    Function(
        f"{name}_at",
        parts,
        lambda partials, options: [value for _, value in partials[0][0]],
        lambda columns, options, types: f"{columns[0][0]}.value",
        arity=(2, 2),
        written=f"{BY_ORDER[name]} by event time",
    )
    for name, parts in (
        ("first_n", made.with_constant("first_n_at")),
        ("last_n", made.with_constant("last_n_at")),
        ("collect_list", made.of_kinds("list_at")),
    )
)
FUNCTIONS += (
    Function(
        "listagg_at",
        made.of_kinds("list_at"),
        lambda partials, options: lower_text([text for _, text in partials[0][0]], options),
        lambda columns, options, types: text_sql(f"{columns[0][0]}.value", options),
        arity=(2, 2),
        written="listagg(x, s) by event time",
        note="or WITHIN GROUP (ORDER BY ...)",
    ),
)

BY_NAME: dict[str, Function] = {
    name: function for function in FUNCTIONS for name in (function.name, *function.aliases)
}
"""Every function by its name and aliases."""

REWRITTEN = ("count_if", "median", "percentile_cont", "regr_avgx", "regr_avgy")
"""Names that a query may call and that are translated to another function: see `calls`."""

CALLABLE: tuple[str, ...] = (
    *REWRITTEN,
    *(name for name, function in BY_NAME.items() if function.written is None),
)
"""The names that a query may call."""

WITH_COUNT = {"min_by": "min_by_n", "max_by": "max_by_n"}
"""The function to use for one with a third argument, the number of values."""

OVER_DISTINCT = {"count": "count_distinct", "sum": "sum_distinct", "collect_list": "collect_set"}
OVER_DISTINCT |= {"listagg": "listagg_distinct"}
"""The function to use for one over DISTINCT values."""

IGNORING_NULLS = {"first": "first_valid", "last": "last_valid"}
"""The function to use for one with IGNORE NULLS."""
