"""Which Spark functions an expression may not call, and why."""

from __future__ import annotations

_RANDOM = "is not deterministic: it would give another answer each time it runs"
_CLOCK = "depends on when the query runs: use the stream's time column, or a constant"
_SESSION = "depends on who runs the query and where, not on the rows"
_FAILS = "fails on purpose, and would have the stream of every other query start again"
_FILES = "reads a file that its argument names"
_READER = "depends on how the rows are read, not on their values"

NOT_DETERMINISTIC: dict[str, str] = {
    **dict.fromkeys(
        ("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle", "aes_encrypt"), _RANDOM
    ),
    **dict.fromkeys(("reflect", "java_method", "try_reflect"), "runs code of the JVM"),
    **dict.fromkeys(
        (
            *("current_timestamp", "current_date", "current_time", "now", "curdate"),
            *("localtimestamp", "localtime"),
        ),
        _CLOCK,
    ),
    **dict.fromkeys(
        (
            *("current_user", "session_user", "user", "current_catalog", "current_database"),
            *("current_schema", "current_path", "current_timezone", "version"),
        ),
        _SESSION,
    ),
    **dict.fromkeys(("assert_true", "raise_error"), _FAILS),
    **dict.fromkeys(("from_protobuf", "to_protobuf"), _FILES),
    **dict.fromkeys(
        (
            *("monotonically_increasing_id", "spark_partition_id", "input_file_name"),
            *("input_file_block_start", "input_file_block_length"),
        ),
        _READER,
    ),
}
"""Functions whose value does not depend on the row alone, or that have side effects."""

CLOCK_WORDS = frozenset(
    (
        *("current_timestamp", "current_date", "current_time", "localtimestamp", "localtime"),
        *("current_user", "session_user"),
    )
)
"""Those that Spark accepts without parentheses (except `user`, a common column name)."""

CLOCK_WITHOUT_ARGUMENTS = frozenset(("unix_timestamp", "to_unix_timestamp"))
"""Functions that read the clock when they have no argument."""

GENERATORS = frozenset(
    (
        *("explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer"),
        *("stack", "json_tuple", "variant_explode", "variant_explode_outer"),
    )
)
"""Functions that make several rows from one."""

WINDOW_FUNCTIONS = frozenset(
    (
        *("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"),
        *("nth_value", "counter_diff"),
    )
)
"""Functions that need OVER."""

TIME_WINDOWS = frozenset(("window", "session_window", "window_time"))
"""Functions that make windows from a time."""

SPARK_AGGREGATES = frozenset(
    (
        *("any", "any_value", "approx_count_distinct", "approx_percentile", "approx_top_k"),
        *("approx_top_k_accumulate", "approx_top_k_combine", "array_agg", "avg", "bit_and"),
        *("bit_or", "bit_xor", "bitmap_and_agg", "bitmap_construct_agg", "bitmap_or_agg"),
        *("bool_and", "bool_or", "collect_list", "collect_set", "collect_union", "corr", "count"),
        *("count_if", "count_min_sketch", "covar_pop", "covar_samp", "every", "first"),
        *("first_value", "grouping", "grouping_id", "histogram_numeric", "hll_sketch_agg"),
        *("hll_union_agg", "kll_merge_agg_bigint", "kll_merge_agg_double", "kll_merge_agg_float"),
        *("kll_sketch_agg_bigint", "kll_sketch_agg_double", "kll_sketch_agg_float", "kurtosis"),
        *("last", "last_value", "listagg", "max", "max_by", "mean", "measure", "median", "min"),
        *("min_by", "mode", "percentile", "percentile_approx", "percentile_cont"),
        *("percentile_disc", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2"),
        *("regr_slope", "regr_sxx", "regr_sxy", "regr_syy", "skewness", "some", "std", "stddev"),
        *("stddev_pop", "stddev_samp", "string_agg", "sum", "theta_intersection_agg"),
        *("theta_sketch_agg", "theta_union_agg", "try_avg", "try_sum"),
        *("tuple_intersection_agg_double", "tuple_intersection_agg_integer"),
        *("tuple_sketch_agg_double", "tuple_sketch_agg_integer", "tuple_union_agg_double"),
        *("tuple_union_agg_integer", "var_pop", "var_samp", "variance", "vector_avg"),
        *("vector_sum",),
    )
)
"""Every aggregate of Spark 4.3, supported or not."""

_SKETCH = (
    "is a sketch whose bytes depend on the order in which rows and sketches are merged: "
    "approx_count_distinct(x) and approx_percentile(x, p) share one"
)

UNSERVED: dict[str, str] = {
    **dict.fromkeys(
        (
            *("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine"),
            *("count_min_sketch", "hll_sketch_agg", "hll_union_agg", "kll_merge_agg_bigint"),
            *("kll_merge_agg_double", "kll_merge_agg_float", "kll_sketch_agg_bigint"),
            *("kll_sketch_agg_double", "kll_sketch_agg_float", "theta_intersection_agg"),
            *("theta_sketch_agg", "theta_union_agg", "tuple_intersection_agg_double"),
            *("tuple_intersection_agg_integer", "tuple_sketch_agg_double"),
            *("tuple_sketch_agg_integer", "tuple_union_agg_double", "tuple_union_agg_integer"),
        ),
        _SKETCH,
    ),
    **dict.fromkeys(
        ("bitmap_and_agg", "bitmap_construct_agg", "bitmap_or_agg"),
        "is a bitmap in Spark's own format: count(DISTINCT x) is exact",
    ),
    **dict.fromkeys(("vector_avg", "vector_sum"), "is not supported yet: sum each element"),
    **dict.fromkeys(("grouping", "grouping_id"), "belongs to ROLLUP, CUBE and GROUPING SETS"),
    "collect_union": "is not supported yet: collect_set(x)",
    "histogram_numeric": "depends on the order of rows: approx_percentile(x, array(...))",
    "measure": "belongs to metric views, which have their own aggregates",
}
"""Spark aggregates that are not shared, with the reason and an alternative; a batch runs them
unchanged."""

OWN_AGGREGATES = frozenset(("first_n", "last_n", "geo_mean", "product", "value_range"))
"""Aggregates that weft adds."""

AGGREGATES = SPARK_AGGREGATES | OWN_AGGREGATES

SYNONYMS: dict[str, str] = {
    "ceiling": "ceil",
    "char_length": "length",
    "character_length": "length",
    "dayofmonth": "day",
    "ifnull": "coalesce",
    "lcase": "lower",
    "len": "length",
    "nvl": "coalesce",
    "power": "pow",
    "sign": "signum",
    "substr": "substring",
    "ucase": "upper",
}
"""Aliases of Spark functions."""

NEVER_FAIL = frozenset(
    (
        *("upper", "lower", "trim", "ltrim", "rtrim", "length", "concat", "startswith"),
        *("endswith", "contains", "isnan"),
    )
)
"""Functions that never fail, not even in ANSI mode."""
