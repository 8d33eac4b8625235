"""The scale of a floating-point answer's inputs, by which its rounding error is judged."""

from __future__ import annotations

from weft.algebra.aggregate import Aggregate
from weft.query.query import Query

# Over {0} and {1}, the arguments as doubles, and {where}. A variance near zero loses digits in
# proportion to the squares that it was computed from; a standard deviation loses half as many
# digits again, and a correlation loses digits in proportion to how little its arguments vary.
_VARIES = "coalesce(max({0} * {0}){where} / nullif(var_pop({0}){where}, 0D), 0D)"
_SLOPE = "max({0} * {0} + {1} * {1}){where} / nullif(var_pop({1}){where}, 0D)"
_SCALES = {
    "sum": "sum(abs({0})){where}",
    "try_sum": "sum(abs({0})){where}",
    "avg": "avg(abs({0})){where}",
    "var_pop": "max({0} * {0}){where}",
    "var_samp": "max({0} * {0}){where}",
    "stddev_pop": "30D * max(abs({0})){where}",
    "stddev_samp": "30D * max(abs({0})){where}",
    "covar_pop": "max(abs({0})){where} * max(abs({1})){where}",
    "covar_samp": "max(abs({0})){where} * max(abs({1})){where}",
    "corr": f"1D + {_VARIES} + {_VARIES.replace('{0}', '{1}')}",
    "regr_sxx": "sum({1} * {1}){where}",
    "regr_syy": "sum({0} * {0}){where}",
    "regr_sxy": "sum({0} * {0} + {1} * {1}){where}",
    "regr_slope": _SLOPE,
    "regr_intercept": f"max(abs({{0}})){{where}} + ({_SLOPE}) * max(abs({{1}})){{where}}",
    "regr_r2": f"1D + {_VARIES} + {_VARIES.replace('{0}', '{1}')}",
    "try_avg": "avg(abs({0})){where}",
    "skewness": f"1D + pow({_VARIES}, 1.5D)",
    "kurtosis": f"1D + pow({_VARIES}, 2D)",
}


def scales(query: Query) -> dict[str, str]:
    """SQL of the scale of each output that has one, by the output's name."""
    found = {}
    for output in query.outputs:
        terms = [sql for call in output.calls if (sql := _scale(call)) is not None]
        if terms:
            found[output.name] = " + ".join(f"coalesce({term}, 0D)" for term in terms)
    return found


def _scale(call: Aggregate) -> str | None:
    template = _SCALES.get(call.function)
    if template is None:
        return None
    where = f" FILTER (WHERE {call.where})" if call.where else ""
    return template.format(*(f"CAST({arg} AS DOUBLE)" for arg in call.args), where=where)
