"""Answers side by side: one row per key and instant, one column per query and aggregate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from itertools import chain, count

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window as Over

from weft.plan import calendar_sql
from weft.plan.time_axis import TimeAxis, quote
from weft.query.calendar import Calendar
from weft.query.duration import MICROSECONDS
from weft.query.query import Query
from weft.query.window import Window

_SHORT = {"day": "d", "hour": "h", "minute": "m", "second": "s", "millisecond": "ms"}


def wide_table(
    answers: Sequence[tuple[Query, DataFrame]], keys: list[str], axis: TimeAxis
) -> DataFrame:
    """The answers that were known at each instant at which some window was complete."""
    # Every answer becomes a row (keys, instant) with one column filled: a struct of its end and
    # its aggregates; the end tells whether the newest answer is that of the newest window.
    frames = []
    for position, (_, frame) in enumerate(answers):
        end = F.expr(axis.edge_units("window.`end`"))
        known = F.struct(end.alias("at"), F.struct(*_values(answers[position])).alias("v"))
        frames.append(
            frame.select(
                *(F.col(quote(key)) for key in keys), end.alias("at"), known.alias(f"q{position}")
            )
        )
    union = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), frames)
    columns = [f"q{position}" for position in range(len(answers))]
    instants = union.groupBy(*map(quote, keys), "at").agg(
        *(F.expr(f"any_value({name}, true)").alias(name) for name in columns)
    )
    parted = [F.col(quote(key)) for key in keys] or [F.lit(0)]
    over = Over.partitionBy(*parted)
    over = over.orderBy("at").rowsBetween(Over.unboundedPreceding, 0)
    filled = instants.select(
        *map(quote, keys),
        "at",
        *(F.last(name, ignorenulls=True).over(over).alias(name) for name in columns),
    )
    selected = [quote(key) for key in keys] + [f"{axis.instant('at')} AS time"]
    names = feature_names([query for query, _ in answers], keys)
    for position, (query, _) in enumerate(answers):
        window, held = query.window, f"q{position}"
        newest = _newest_end(window)
        selected += [
            f"CASE WHEN {held}.at = {newest} THEN {held}.v.{quote(name)} END AS {quote(shown)}"
            for name, shown in zip(query.aggs, names[position], strict=True)
        ]
    return filled.selectExpr(*selected)


def _newest_end(window: Window) -> str:
    """SQL of the end of the newest window that is complete at `at`."""
    length, slide, phase = window.steps
    if not isinstance(window, Calendar):
        return f"at - pmod(at - {phase + length}L, {slide}L)"
    number = calendar_sql.number(window, "at")
    return calendar_sql.time(window, f"({number} - pmod({number} - {phase + length}L, {slide}L))")


def _values(answer: tuple[Query, DataFrame]) -> list[Column]:
    return [F.col(quote(name)) for name in answer[0].aggs]


def feature_names(queries: Sequence[Query], keys: Sequence[str] = ()) -> list[list[str]]:
    """The column of every aggregate: `aggregate_range`, or `query_aggregate` if that is taken.

    Names that are taken even then get a number, so that no two columns have one name.

    >>> some = [
    ...     Query(name, aggs={"n": "count(*)"}, window=Window(range=range_))
    ...     for name, range_ in (("a", "1 hour"), ("b", "1 hour"), ("c", "24 hours"))
    ... ]
    >>> feature_names(some, keys=["a_n"])
    [['a_n_2'], ['b_n'], ['n_24h']]
    """
    short_names = [[f"{agg}_{short(query.window)}" for agg in query.aggs] for query in queries]
    often = Counter(name.casefold() for some in short_names for name in some)
    reserved = {"time", *(key.casefold() for key in keys)}
    taken = {*reserved, *(name for name, times in often.items() if times == 1)}
    found = []
    for query, some in zip(queries, short_names, strict=True):
        listed = []
        for agg, name in zip(query.aggs, some, strict=True):
            if often[name.casefold()] > 1 or name.casefold() in reserved:
                name = _free(f"{query.name}_{agg}", taken)
                taken.add(name.casefold())
            listed.append(name)
        found.append(listed)
    return found


def _free(name: str, taken: set[str]) -> str:
    """A name, with the first number after it that makes it a new one."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if one.casefold() not in taken)


def short(window: Window) -> str:
    """A window's range in a few letters.

    >>> short(Window(range="90 minutes")), short(Window(range="24 hours")), short(Window(range=5))
    ('90m', '24h', '5')
    >>> short(Calendar(range="3 months")), short(Calendar(range="1 year"))
    ('3mo', '1y')
    """
    if isinstance(window, Calendar):
        number, unit = window.to_dict()["range"].split()
        return f"{number}{'mo' if unit.startswith('month') else unit[0]}"
    if window.axis == "integer":
        return str(window.range)
    for unit in ("hour", "minute", "second", "millisecond"):
        if window.range % MICROSECONDS[unit] == 0:
            return f"{window.range // MICROSECONDS[unit]}{_SHORT[unit]}"
    return f"{window.range}us"
