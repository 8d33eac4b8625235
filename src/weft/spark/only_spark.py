"""Queries whose values only Spark can compare, add or read correctly, so that slices cannot serve.

In a batch they run unchanged, next to the others; on a stream they are refused, with a remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from weft.algebra.lowering import has_own_sum
from weft.errors import EngineError, ExpressionError
from weft.query.query import Query
from weft.query.syntax.lexer import tokenize

_REMEDIES = {
    "collate": "is compared by its collation: group by and aggregate lower(...) of it, or "
    "collate(..., 'UTF8_BINARY')",
    "interval year": "is an interval of months, which Arrow does not hold: use its months",
    "interval month": "is an interval of months, which Arrow does not hold: use its months",
}

_MERGES_KLL = "kll_merge_agg_double"
_NO_NUMBERS = ("interval", "time(")


def unfit_reason(query: Query, types: Mapping[str, str], *, ansi: bool) -> str | None:
    """Why a query cannot be answered from slices; None if it can.

    `types` are the names of the Spark types of keys and arguments.
    """
    keys = [key.expression for key in query.keys]
    arguments = [arg for part in query.parts for arg in part.args]
    arguments += [arg for call in query.calls for arg in call.args]
    for expression in (*keys, *arguments):
        kind = types.get(expression, "")
        for sign, why in _REMEDIES.items():
            if sign in kind:
                return f"{expression} ({kind}) {why}"
    for call in query.calls:
        kind = types.get(call.args[0], "") if call.args else ""
        if call.function in ("percentile", "percentile_disc") and kind.startswith(_NO_NUMBERS):
            return f"{call.function}({call.args[0]}) is of {kind}, and works on doubles"
        if call.function == "listagg_distinct" and kind and not kind.startswith("string"):
            return f"listagg(DISTINCT {call.args[0]}) is of {kind}: cast it to a string"
        if call.function.startswith("listagg") and kind == "binary":
            return f"listagg({call.args[0]}) is of binary, and works on texts: use hex(...) of it"
    for part in query.parts:
        kind = types.get(part.args[0], "") if part.args else ""
        if part.kind == "kll" and kind and not has_own_sum(kind) and not kind.startswith("string"):
            return (
                f"approx_percentile({part.args[0]}) is of {kind}, and works on doubles: give it a "
                f"number, as in unix_micros({part.args[0]})"
            )
        if part.kind == "kll" and kind.startswith("interval"):
            return f"approx_percentile({part.args[0]}) is of {kind}, and works on doubles"
        if part.kind == "hll" and "map<" in kind:
            return (
                f"approx_count_distinct({part.args[0]}) is of {kind}, which Spark hashes by the "
                f"order of its entries: use count(DISTINCT {part.args[0]})"
            )
    if not ansi:
        for part in query.parts:
            kind = types.get(part.args[0], "") if part.args else ""
            digits = kind.removeprefix("decimal(").partition(",")[0]
            if part.kind == "sum" and digits.isdigit() and int(digits) > 28:
                return f"a sum of {kind} may overflow, which is null with ANSI mode off"
    return None


def map_reason(query: Query, types: Mapping[str, str]) -> str | None:
    """Why a batch cannot aggregate slices for a query: maps that have to be compared, or a function
    that this Spark lacks."""
    if not hasattr(F, _MERGES_KLL) and any(part.kind == "kll" for part in query.parts):
        return f"approx_percentile is merged by {_MERGES_KLL}, which Spark has since 4.1.2"
    counted = [arg for part in query.parts if part.kind == "counts" for arg in part.args]
    for expression in counted:
        if "variant" in types.get(expression, ""):
            return f"{expression} is a VARIANT, whose values have no order"
    compared = [key.expression for key in query.keys]
    compared += [
        arg for part in query.parts if part.kind in ("set", "hll", "counts") for arg in part.args
    ]
    for expression in compared:
        if "map<" in types.get(expression, ""):
            return f"{expression} ({types[expression]}) is a map, which Spark collects in no set"
    return None


def is_ansi(df: DataFrame) -> bool:
    """Whether the session is in ANSI mode, in which invalid operations fail."""
    return str(df.sparkSession.conf.get("spark.sql.ansi.enabled", "true")).lower() == "true"


def refuse_unfit(df: DataFrame, queries: Sequence[Query], types: Mapping[str, str]) -> None:
    """Refuse queries that a stream cannot answer as Spark would."""
    ansi = is_ansi(df)
    for query in queries:
        reason = unfit_reason(query, types, ansi=ansi) or variant_reason(query, types)
        if reason is not None:
            raise EngineError(f"query {query.name!r} cannot run on a stream: {reason}")


def variant_reason(query: Query, types: Mapping[str, str]) -> str | None:
    """Why Arrow code cannot run a query: it cannot represent a null VARIANT."""
    kept = (arg for call in query.calls if call.function != "count" for arg in call.args)
    for argument in (arg for arg in kept if "variant" in types.get(arg, "")):
        return (
            f"{argument} ({types[argument]}) is a VARIANT, of which Arrow holds no nulls: "
            f"aggregate to_json({argument}), or variant_get({argument}, ...)"
        )
    return None


def check_names(df: DataFrame, queries: Sequence[Query]) -> None:
    """Refuse names that weft would confuse, because it compares names without regard to case."""
    conf = df.sparkSession.conf
    if str(conf.get("spark.sql.caseSensitive", "false")).lower() == "true":
        names = {name: [n for n in df.columns if n.lower() == name] for name in _used(queries)}
        for name, found in names.items():
            if found and found != [name]:
                raise ExpressionError(
                    f"spark.sql.caseSensitive is true, and column {name!r} is called "
                    f"{' and '.join(map(repr, found))}: weft compares names without case; give it "
                    f"one name in lower case, as in df.withColumnRenamed({found[0]!r}, {name!r})"
                )
    if str(conf.get("spark.sql.ansi.doubleQuotedIdentifiers", "false")).lower() == "true":
        for query in queries:
            for sql in (query.where, query.having, *query.aggs.values(), *query.by):
                if sql and any(t.kind == "string" and t.text[0] == '"' for t in tokenize(sql)):
                    raise ExpressionError(
                        f"query {query.name!r}: spark.sql.ansi.doubleQuotedIdentifiers is true, so "
                        f"that double quotes mean a name in {sql!r}: write `name`, or 'text'"
                    )


def _used(queries: Sequence[Query]) -> set[str]:
    return {name for query in queries for name in query.columns}
