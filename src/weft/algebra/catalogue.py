"""Every aggregate function that weft serves: its parts, and how they become its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

from weft.algebra import lowering as low
from weft.algebra.collected import lower_text, text_sql
from weft.algebra.counted import lower_mode, lower_percentile, mode_sql, percentile_sql
from weft.algebra.lowering import Columns, Types
from weft.algebra.monoid import Partial
from weft.algebra.part import Option, Part
from weft.algebra.regression import FUNCTIONS as REGRESSIONS
from weft.algebra.regression import lower_regression, regression_sql
from weft.algebra.sketches import estimate_distinct, estimate_quantiles

Args = tuple[str, ...]
MakeParts = Callable[[Args, str | None, tuple[Option, ...]], tuple[Part, ...]]
Lower = Callable[[Sequence[Partial], tuple[Option, ...]], Any]
LowerSql = Callable[[Columns, tuple[Option, ...], Types], str | None]


@dataclass(frozen=True, eq=False)
class Function:
    """One aggregate function.

    `distinct` says what DISTINCT makes of it: nothing that is served ("no"), the same answer
    ("same"), or another function ("other": `count` and `sum` over distinct values). `written` is
    how a function is called that is not called by its name. `definition` is Spark SQL for a
    function that Spark does not have, over `{0}`, `{n}` (its constant) and `{where}`.
    """

    name: str
    parts: MakeParts
    lower: Lower
    lower_sql: LowerSql
    aliases: tuple[str, ...] = ()
    arity: tuple[int, int] = (1, 1)
    distinct: OneOf["no", "same", "other"] = "no"
    written: str | None = None
    definition: str | None = None
    note: str = ""


def _kinds(*kinds: str) -> MakeParts:
    """Parts of some kinds, all over the same arguments."""
    return lambda args, where, options: tuple(Part(kind, args, where) for kind in kinds)


def _optioned(kind: str) -> MakeParts:
    """A part that is made with the function's first constant."""
    return lambda args, where, options: (Part(kind, args, where, options[:1]),)


def _component(index: int = 0) -> Lower:
    return lambda partials, options: partials[0][index]


def _column(index: int = 0) -> LowerSql:
    return lambda columns, options, types: columns[0][index]


def _of_first(lower: Callable[[Partial], Any]) -> Lower:
    return lambda partials, options: lower(partials[0])


def _log_parts(args: Args, where: str | None, options: tuple[Option, ...]) -> tuple[Part, ...]:
    logarithm = (f"ln({args[0]})",)
    return (Part("sum", logarithm, where), Part("count", logarithm, where))


def _lower_geo_mean(partials: Sequence[Partial], options: tuple[Option, ...]) -> float | None:
    mean = low.lower_mean(partials[0][0], partials[1][0])
    return None if mean is None else math.exp(mean)


def _lower_range(partials: Sequence[Partial], options: tuple[Option, ...]) -> Any:
    greatest, least = partials[0][0], partials[1][0]
    return None if greatest is None else greatest - least


def _lower_percentile(partials: Sequence[Partial], options: tuple[Option, ...]) -> Any:
    _, shape, *ranks = options
    found = estimate_quantiles(partials[0], tuple(float(rank) for rank in ranks))
    return found if found is None or shape == "array" else found[0]


def _percentile_sql(columns: Columns, options: tuple[Option, ...], types: Types) -> str:
    _, shape, *ranks = options
    sketch = columns[0][0]
    listed = ", ".join(f"{float(rank)!r}D" for rank in ranks)
    wanted = f"array({listed})" if shape == "array" else listed
    value = f"kll_sketch_get_quantile_double({sketch}, {wanted})"
    if types:
        kind = "double" if types[0].lower().startswith("string") else types[0]
        to = f"array<{kind}>" if shape == "array" else kind
        value = f"CAST({value} AS {to})"
    return f"CASE WHEN kll_sketch_get_n_double({sketch}) > 0 THEN {value} END"


def _most(kind: str) -> MakeParts:
    """The n first or last rows by the second argument; of the first argument, nulls too."""

    def parts(args: Args, where: str | None, options: tuple[Option, ...]) -> tuple[Part, ...]:
        return (Part(kind, (f"named_struct('x', {args[0]})", args[1]), where, options),)

    return parts


def _lower_most(partials: Sequence[Partial], options: tuple[Option, ...]) -> list[Any] | None:
    values = [value for _, (value,) in partials[0][0]]
    return values or None


def _most_sql(columns: Columns, options: tuple[Option, ...], types: Types) -> str:
    return "CASE WHEN size({0}) > 0 THEN {0}.value.x END".format(*columns[0])


def _reversed(lower: Lower) -> Lower:
    def backwards(partials: Sequence[Partial], options: tuple[Option, ...]) -> Any:
        found = lower(partials, options)
        return None if found is None else found[::-1]

    return backwards


def _regression(name: str) -> Function:
    return Function(
        name,
        _kinds("comoments"),
        lambda partials, options: lower_regression(name, partials[0]),
        lambda columns, options, types: regression_sql(name, columns),
        arity=(2, 2),
    )


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
"""Functions whose answer depends on order, and how they are written. Under the name with `_at`
each has a form that takes an order column as its last argument."""

FUNCTIONS: tuple[Function, ...] = (
    Function(
        "count",
        _kinds("count"),
        _component(),
        _column(),
        arity=(0, 99),
        distinct="other",
        note="count_if(c) is count(*) FILTER (WHERE c)",
    ),
    Function(
        "count_distinct",
        _kinds("set"),
        lambda partials, options: len(partials[0][0]),
        lambda columns, options, types: f"CAST(size({columns[0][0]}) AS BIGINT)",
        arity=(1, 99),
        written="count(DISTINCT x)",
    ),
    Function(
        "sum",
        _kinds("sum"),
        lambda partials, options: low.lower_sum(partials[0][0]),
        lambda columns, options, types: low.lower_sum_sql(columns[0][0], types),
        distinct="other",
        note="an integer total past 64 bits is an error",
    ),
    Function(
        "sum_distinct",
        _kinds("set"),
        lambda partials, options: low.lower_distinct_sum(partials[0][0]),
        lambda columns, options, types: low.distinct_sum_sql(columns[0][0], types),
        written="sum(DISTINCT x)",
    ),
    Function(
        "try_sum",
        _kinds("try_sum"),
        _of_first(low.lower_try_sum),
        lambda columns, options, types: low.lower_sum_sql(columns[0][0], types),
        note="null instead of an error",
    ),
    Function("min", _kinds("min"), _component(), _column(), distinct="same"),
    Function("max", _kinds("max"), _component(), _column(), distinct="same"),
    Function(
        "value_range",
        _kinds("max", "min"),
        _lower_range,
        lambda columns, options, types: f"{columns[0][0]} - {columns[1][0]}",
        distinct="same",
        definition="max({0}){where} - min({0}){where}",
        note="weft's own: max(x) - min(x)",
    ),
    Function(
        "avg",
        _kinds("sum", "count"),
        lambda partials, options: low.lower_mean(partials[0][0], partials[1][0]),
        lambda columns, options, types: low.lower_mean_sql(columns[0][0], columns[1][0], types),
        aliases=("mean",),
        note="of integers, the exact sum divided as a double; of bigint, a sum of doubles",
    ),
    Function(
        "try_avg",
        _kinds("try_sum", "count"),
        lambda partials, options: low.lower_try_mean(partials[0], partials[1][0]),
        lambda columns, options, types: low.lower_mean_sql(columns[0][0], columns[1][0], types),
        note="null where a sum of decimals or intervals overflows",
    ),
    Function(
        "geo_mean",
        _log_parts,
        _lower_geo_mean,
        lambda columns, options, types: f"exp({columns[0][0]} / nullif({columns[1][0]}, 0))",
        definition="exp(avg(ln({0})){where})",
        note="weft's own: exp(avg(ln(x))), which leaves out what is not above zero",
    ),
    Function(
        "product",
        _kinds("product"),
        _component(),
        _column(),
        definition="aggregate(collect_list(CAST({0} AS DOUBLE)){where}, CAST(NULL AS DOUBLE), "
        "(a, v) -> coalesce(a, 1D) * v)",
        note="as the DataFrame function product; Spark's SQL has none",
    ),
    Function(
        "var_pop",
        _kinds("moments"),
        lambda partials, options: low.lower_variance(partials[0], 0),
        lambda columns, options, types: low.variance_sql(columns, 0),
    ),
    Function(
        "var_samp",
        _kinds("moments"),
        lambda partials, options: low.lower_variance(partials[0], 1),
        lambda columns, options, types: low.variance_sql(columns, 1),
        aliases=("variance",),
    ),
    Function(
        "stddev_pop",
        _kinds("moments"),
        lambda partials, options: low.root(low.lower_variance(partials[0], 0)),
        lambda columns, options, types: f"sqrt({low.variance_sql(columns, 0)})",
    ),
    Function(
        "stddev_samp",
        _kinds("moments"),
        lambda partials, options: low.root(low.lower_variance(partials[0], 1)),
        lambda columns, options, types: f"sqrt({low.variance_sql(columns, 1)})",
        aliases=("stddev", "std"),
    ),
    Function(
        "skewness",
        _kinds("moments4"),
        _of_first(low.lower_skewness),
        lambda columns, options, types: (
            "CASE WHEN {0} > 0 AND {2} <> 0 "
            "THEN sqrt({0}) * {3} / sqrt({2} * {2} * {2}) END".format(*columns[0])
        ),
    ),
    Function(
        "kurtosis",
        _kinds("moments4"),
        _of_first(low.lower_kurtosis),
        lambda columns, options, types: (
            "CASE WHEN {0} > 0 AND {2} <> 0 THEN {0} * {4} / ({2} * {2}) - 3D END".format(
                *columns[0]
            )
        ),
    ),
    Function(
        "covar_pop",
        _kinds("comoments"),
        lambda partials, options: low.lower_covariance(partials[0], 0),
        lambda columns, options, types: "CASE WHEN {0} > 0 THEN {3} / {0} END".format(*columns[0]),
        arity=(2, 2),
    ),
    Function(
        "covar_samp",
        _kinds("comoments"),
        lambda partials, options: low.lower_covariance(partials[0], 1),
        lambda columns, options, types: "CASE WHEN {0} > 1 THEN {3} / ({0} - 1) END".format(
            *columns[0]
        ),
        arity=(2, 2),
    ),
    Function(
        "corr",
        _kinds("comoments"),
        _of_first(low.lower_correlation),
        lambda columns, options, types: (
            "CASE WHEN {0} > 1 THEN {3} / nullif(sqrt({4} * {5}), 0D) END".format(*columns[0])
        ),
        arity=(2, 2),
    ),
    *(_regression(name) for name in REGRESSIONS),
    Function(
        "first",
        _kinds("first"),
        _component(1),
        _column(1),
        aliases=("first_value", "any_value"),
    ),
    Function(
        "first_valid",
        _kinds("first_valid"),
        _component(),
        _column(),
        written="first(x) IGNORE NULLS",
        note="or first(x, true)",
    ),
    Function(
        "last",
        _kinds("last"),
        _component(1),
        _column(1),
        aliases=("last_value",),
    ),
    Function(
        "last_valid",
        _kinds("last_valid"),
        _component(),
        _column(),
        written="last(x) IGNORE NULLS",
        note="or last(x, true)",
    ),
    Function("min_by", _kinds("min_by"), _component(1), _column(1), arity=(2, 2)),
    Function("max_by", _kinds("max_by"), _component(1), _column(1), arity=(2, 2)),
    Function(
        "min_by_n",
        _most("first_n_at"),
        _lower_most,
        _most_sql,
        arity=(2, 2),
        written="min_by(x, y, n)",
        note="the n values of x whose y is least, as an array",
    ),
    Function(
        "max_by_n",
        _most("last_n_at"),
        _reversed(_lower_most),
        lambda columns, options, types: f"reverse({_most_sql(columns, options, types)})",
        arity=(2, 2),
        written="max_by(x, y, n)",
        note="the n values of x whose y is greatest, as an array",
    ),
    Function(
        "first_n",
        _optioned("first_n"),
        lambda partials, options: list(partials[0][0]),
        _column(),
        definition="slice(collect_list({0}){where}, 1, {n})",
        note="weft's own: the first n values that are not null, as an array",
    ),
    Function(
        "last_n",
        _optioned("last_n"),
        lambda partials, options: list(partials[0][0]),
        _column(),
        definition=_LAST_N,
        note="weft's own: the last n values that are not null, as an array",
    ),
    Function(
        "bool_and",
        _kinds("bool_and"),
        _component(),
        _column(),
        aliases=("every",),
        distinct="same",
    ),
    Function(
        "bool_or",
        _kinds("bool_or"),
        _component(),
        _column(),
        aliases=("some", "any"),
        distinct="same",
    ),
    Function("bit_and", _kinds("bit_and"), _component(), _column(), distinct="same"),
    Function("bit_or", _kinds("bit_or"), _component(), _column(), distinct="same"),
    Function("bit_xor", _kinds("bit_xor"), _component(), _column()),
    Function(
        "collect_list",
        _kinds("list"),
        lambda partials, options: list(partials[0][0]),
        _column(),
        aliases=("array_agg",),
        distinct="other",
    ),
    Function(
        "collect_set",
        _kinds("set"),
        lambda partials, options: list(partials[0][0]),
        _column(),
        distinct="same",
        note="in no particular order, as in Spark",
    ),
    Function(
        "listagg",
        _kinds("list"),
        lambda partials, options: lower_text(partials[0][0], options),
        lambda columns, options, types: text_sql(columns[0][0], options),
        aliases=("string_agg",),
        distinct="other",
        note="WITHIN GROUP (ORDER BY ...) in one direction; without it in no particular order",
    ),
    Function(
        "listagg_distinct",
        _kinds("set"),
        lambda partials, options: lower_text(sorted(partials[0][0]), options),
        lambda columns, options, types: text_sql(f"array_sort({columns[0][0]})", options),
        written="listagg(DISTINCT x, s)",
        note="of texts, in their order",
    ),
    Function(
        "percentile",
        _kinds("counts"),
        lambda partials, options: lower_percentile(partials[0], options, discrete=False),
        lambda columns, options, types: percentile_sql(columns, options, discrete=False),
        note="exact; median(x) and percentile_cont(p) WITHIN GROUP (ORDER BY x) are it too",
    ),
    Function(
        "percentile_disc",
        _kinds("counts"),
        lambda partials, options: lower_percentile(partials[0], options, discrete=True),
        lambda columns, options, types: percentile_sql(columns, options, discrete=True),
        note="exact; written percentile_disc(p) WITHIN GROUP (ORDER BY x)",
    ),
    Function(
        "mode",
        _kinds("counts"),
        lambda partials, options: lower_mode(partials[0], options),
        lambda columns, options, types: mode_sql(columns, options),
        note="of several, the least (Spark: any); WITHIN GROUP (ORDER BY x DESC) the greatest",
    ),
    Function(
        "approx_count_distinct",
        _optioned("hll"),
        lambda partials, options: estimate_distinct(partials[0]),
        lambda columns, options, types: f"coalesce(hll_sketch_estimate({columns[0][0]}), 0L)",
        distinct="same",
        note="an estimate within the same error as Spark's, not Spark's estimate",
    ),
    Function(
        "approx_percentile",
        _optioned("kll"),
        _lower_percentile,
        _percentile_sql,
        aliases=("percentile_approx",),
        note="an estimate within the same error as Spark's, not Spark's estimate; as doubles",
    ),
)

FUNCTIONS += tuple(
    Function(
        f"{name}_at",
        _kinds(f"{name}_at"),
        _component(1),
        _column(1),
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
        ("first_n", _optioned("first_n_at")),
        ("last_n", _optioned("last_n_at")),
        ("collect_list", _kinds("list_at")),
    )
)
FUNCTIONS += (
    Function(
        "listagg_at",
        _kinds("list_at"),
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
"""Names that a query may call and that are another function of the catalogue: see `calls`."""

CALLABLE: tuple[str, ...] = (
    *REWRITTEN,
    *(name for name, function in BY_NAME.items() if function.written is None),
)
"""The names that a query may call."""

WITH_COUNT = {"min_by": "min_by_n", "max_by": "max_by_n"}
"""What a function is with a third argument, how many values."""

OVER_DISTINCT = {"count": "count_distinct", "sum": "sum_distinct", "collect_list": "collect_set"}
OVER_DISTINCT |= {"listagg": "listagg_distinct"}
"""What a function is over distinct values."""

IGNORING_NULLS = {"first": "first_valid", "last": "last_valid"}
"""What a function is with IGNORE NULLS."""
