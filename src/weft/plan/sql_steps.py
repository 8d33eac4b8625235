"""A tree in SQL: slices, grouping sets, windows from slices, and windows from windows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.algebra.registry import spark_merge, spark_partial
from weft.plan.layout import GroupingSet, Layout, WindowSpec
from weft.plan.steps import Columns, Extend, Group, Project, Step, Steps, Where
from weft.plan.time_axis import TimeAxis

if TYPE_CHECKING:
    from weft.plan.coverage import CoveragePlan
    from weft.plan.coverage.link import Link
    from weft.query.window import Window

# Past this many, `greatest` over all progressions makes a method too long for the JIT.
GREATEST_LIMIT = 8


def slice_start(progressions: Sequence[tuple[int, int]], time: str) -> str:
    """SQL of the start of the slice that contains `time` (SQL of a long): the latest edge so far.

    >>> slice_start([(0, 5), (2, 7)], "t")
    'greatest(t - pmod(t - 0L, 5L), t - pmod(t - 2L, 7L))'
    """
    few = len(progressions) <= GREATEST_LIMIT
    return computed_edge(progressions, time) if few else listed_edge(progressions, time)


def computed_edge(progressions: Sequence[tuple[int, int]], time: str) -> str:
    """SQL of the latest edge at or before a time, with one term per progression."""
    edges = [f"{time} - pmod({time} - {offset}L, {step}L)" for offset, step in progressions]
    return edges[0] if len(edges) == 1 else f"greatest({', '.join(edges)})"


def listed_edge(progressions: Sequence[tuple[int, int]], time: str) -> str:
    """The same with all progressions in one literal: slower, but for any number of them."""
    listed = json.dumps([{"a": offset, "s": step} for offset, step in progressions])
    table = f"from_json('{listed}', 'array<struct<a:bigint,s:bigint>>')"
    return f"array_max(transform({table}, e -> {time} - pmod({time} - e.a, e.s)))"


def signature(predicates: Sequence[str | None]) -> str:
    """SQL of a row's fragment: the numbers of the predicates that it satisfies, as an array.

    >>> signature(["a > 1", None])
    'filter(array(IF(a > 1, 0, NULL), 1), p -> p IS NOT NULL)'
    """
    bits = ", ".join(
        str(number) if predicate is None else f"IF({predicate}, {number}, NULL)"
        for number, predicate in enumerate(predicates)
    )
    return f"filter(array({bits}), p -> p IS NOT NULL)"


def slices(layout: Layout, axis: TimeAxis) -> Steps:
    """Computes the partials of every slice, fragment and group from rows."""
    one = len(layout.predicates) == 1
    steps: list[Step] = [_rows(layout, axis)]
    columns = [(slice_start(layout.progressions(), axis.units()), "weft_slice")]
    columns += [] if one else [(signature(layout.predicates), "weft_fragment")]
    columns += [(key, f"weft_k{i}") for i, key in enumerate(layout.keys)]
    steps.append(Extend(tuple(columns)))
    if not one and None not in layout.predicates:
        steps.append(Where("size(weft_fragment) > 0"))
    keys = tuple((name, name.removeprefix("weft_")) for _, name in columns)
    return (*steps, Group(keys, partials(layout)))


def _rows(layout: Layout, axis: TimeAxis) -> Where:
    """Keep the rows that have a time and satisfy the predicate, if all queries have the same."""
    condition = f"{axis.quoted} IS NOT NULL"
    if len(layout.predicates) == 1 and layout.predicates[0] is not None:
        condition += f" AND ({layout.predicates[0]})"
    return Where(condition)


def partials(layout: Layout) -> Columns:
    """Every part as aggregates over rows, each named."""
    return tuple(
        (sql, column)
        for part in layout.parts
        for sql, column in zip(spark_partial(part) or (), layout.columns(part), strict=True)
    )


def merges(layout: Layout, order: str) -> Columns:
    """Every part as aggregates over partials, each named."""
    found: list[tuple[str, str]] = []
    for part in layout.parts:
        columns = layout.columns(part)
        found += zip(spark_merge(part, columns, order) or (), columns, strict=True)
    return tuple(found)


def folded(layout: Layout, grouping_set: GroupingSet) -> Steps:
    """Computes the partials of a grouping set by combining over the keys that it does not have."""
    names = ["slice", *([] if len(layout.predicates) == 1 else ["fragment"])]
    names += [f"k{i}" for i in grouping_set.keys]
    return (Group(same(names), (*bounds(layout), *merges(layout, "slice"))),)


def bounds(layout: Layout, first: str = "first", last: str = "last") -> Columns:
    """The first and last time of slices for sessions; no columns for other windows."""
    if not layout.is_session:
        return ()
    return ((f"min({first})", "first"), (f"max({last})", "last"))


def windows(layout: Layout, grouping_set: GroupingSet) -> Steps:
    """Computes the combined partials of every window by copying each slice to its windows."""
    steps: list[Step] = []
    if len(layout.predicates) == 1:
        steps.append(Extend(((f"explode({_targets(grouping_set.targets)})", "q"),)))
    else:
        by_predicate = [
            [target for target in grouping_set.targets if target.predicate == number]
            for number in range(len(layout.predicates))
        ]
        steps.append(Extend((("explode(fragment)", "p"),)))
        steps.append(Extend(((f"explode(element_at({_nested(by_predicate)}, p + 1))", "q"),)))
    since = "pmod(slice - q.o, q.s)"
    steps.append(Where(f"{since} < q.r"))
    starts = f"explode(sequence(slice - {since}, slice - q.r + 1, -q.s))"
    steps.append(Extend(((starts, "start"),)))
    keys = (("q.n", "target"), *same(["start", *(f"k{i}" for i in grouping_set.keys)]))
    return (*steps, Group(keys, merges(layout, "slice")))


_TARGET = "struct<n:int,r:bigint,s:bigint,o:bigint>"


def _targets(targets: Sequence[WindowSpec]) -> str:
    """Targets as one literal, which Spark folds to a constant; a thousand structs it does not."""
    return f"from_json('{json.dumps([_plain(t) for t in targets])}', 'array<{_TARGET}>')"


def _nested(targets: Sequence[Sequence[WindowSpec]]) -> str:
    listed = json.dumps([[_plain(target) for target in some] for some in targets])
    return f"from_json('{listed}', 'array<array<{_TARGET}>>')"


def _plain(target: WindowSpec) -> dict[str, int]:
    window = target.window
    return {"n": target.number, "r": window.range, "s": window.slide, "o": window.phase}


def instances(layout: Layout, window: Window, axis: TimeAxis) -> Steps:
    """Computes the partials of a window's instances from rows: the root of a coverage plan."""
    keys = [(key, f"weft_k{i}") for i, key in enumerate(layout.keys)]
    since = f"pmod(weft_time - {window.phase}L, {window.slide}L)"
    last = f"weft_time - {window.range}L + 1L"
    start = f"explode(sequence(weft_time - {since}, {last}, -{window.slide}L))"
    if window.range == window.slide:
        start = f"weft_time - {since}"
    names = ["weft_start", *(name for _, name in keys)]
    return (
        _rows(layout, axis),
        Extend(((axis.units(), "weft_time"), *keys)),
        Where(f"{since} < {window.range}L"),
        Extend(((start, "weft_start"),)),
        Group(tuple((name, name.removeprefix("weft_")) for name in names), partials(layout)),
    )


def covered(
    layout: Layout, coverage: CoveragePlan, axis: TimeAxis
) -> tuple[list[Steps], list[Steps]]:
    """The windows of a coverage plan that are computed from rows, and one step for each depth.

    The steps, applied in order to the union of the former, compute every answer.
    """
    roots, *deeper = coverage.by_depth()
    number = numbers(layout, coverage)
    made: list[Steps] = [
        (*instances(layout, coverage.windows[node], axis), *tagged(layout, number[node]))
        for node in roots
    ]
    return made, [level(layout, coverage, nodes) for nodes in deeper]


def numbers(layout: Layout, coverage: CoveragePlan) -> list[int]:
    """The target of each node; factor windows, which no query requested, come last."""
    known = {target.window: target.number for target in layout.grouping_sets[0].targets}
    asked = [known[coverage.windows[node]] for node in coverage.asked]
    return asked + [max(asked) + 1 + number for number in range(len(coverage.factors))]


def level(layout: Layout, coverage: CoveragePlan, nodes: Sequence[int]) -> Steps:
    """Computes the instances of some windows from their upstreams, and passes earlier answers on.

    All windows at one depth are computed in one step, so that an upstream of two windows is
    computed once, however Spark executes a union.
    """
    number = numbers(layout, coverage)
    sends: list[list[dict[str, int]]] = [[] for _ in range(max(number) + 1)]
    for asked in (number[node] for node in coverage.asked):
        sends[asked] = [{"n": asked} | dict.fromkeys("flo", 0) | dict.fromkeys("tsab", 1)]
    for node in nodes:
        up, link, window = coverage.upstream[node], coverage.links[node], coverage.windows[node]
        assert up is not None
        assert link is not None
        for first, last in _runs(link):
            # A piece is used by the instances that start f to l before it, t units apart, if they
            # are at an edge o + i * s. Candidates begin at a multiple of a, in steps of b, and the
            # condition below keeps those that use it.
            whole = window.slide % link.step == 0
            sends[number[up]].append(
                {"n": number[node], "f": first, "l": last, "t": link.step, "s": window.slide,
                 "o": window.phase, "a": window.slide if whole else 1,
                 "b": window.slide if whole else link.step}
            )  # fmt: skip
    struct = f"struct<n:int,{','.join(f'{name}:bigint' for name in 'fltsoab')}>"
    listed = f"from_json('{json.dumps(sends)}', 'array<array<{struct}>>')"
    since = "pmod(start - q.f - q.o, q.a)"
    keys = same([f"k{i}" for i in range(len(layout.keys))])
    return (
        Extend(((f"explode(element_at({listed}, target + 1))", "q"),)),
        Where(f"{since} <= q.l - q.f"),
        Extend(((f"explode(sequence(start - q.f - {since}, start - q.l, -q.b))", "taker"),)),
        Where("pmod(taker - q.o, q.s) = 0 AND pmod(start - q.f - taker, q.t) = 0"),
        Group((("q.n", "target"), ("taker", "start"), *keys), merges(layout, "start")),
    )


def _runs(link: Link) -> list[tuple[int, int]]:
    """The first and last piece of every run of pieces that are one step apart."""
    regular = link.first + (link.count - 1) * link.step
    if link.last == regular:
        return [(link.first, link.last)]
    return [(link.first, regular - link.step), (link.last, link.last)]


def tagged(layout: Layout, target: int) -> Steps:
    """Adds the number of a target to a window's instances."""
    names = ["start", *(f"k{i}" for i in range(len(layout.keys))), *layout.part_columns]
    return (Project(((str(target), "target"), *same(names))),)


def same(names: Sequence[str]) -> Columns:
    """Columns unchanged."""
    return tuple((name, name) for name in names)
