"""The SELECTs that a tree is made of: slices, folds, windows from slices, windows from windows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.plan.layout import Fold, Layout, Target
from weft.plan.time_axis import TimeAxis, quote
from weft.query.aggregates.registry import spark_merge, spark_partial

if TYPE_CHECKING:
    from weft.plan.coverage import Link
    from weft.query.window import Window

# Past this many, `greatest` over all progressions makes a method too long for the JIT.
GREATEST_LIMIT = 8


def slice_start(progressions: Sequence[tuple[int, int]], time: str) -> str:
    """SQL of the start of the slice that holds `time`, SQL of a long: the latest edge before it.

    >>> slice_start([(0, 5), (2, 7)], "t")
    'greatest(t - pmod(t - 0L, 5L), t - pmod(t - 2L, 7L))'
    """
    if len(progressions) == 1:
        return _edge(time, *progressions[0])
    if len(progressions) <= GREATEST_LIMIT:
        edges = ", ".join(_edge(time, offset, step) for offset, step in progressions)
        return f"greatest({edges})"
    listed = json.dumps([{"a": offset, "s": step} for offset, step in progressions])
    table = f"from_json('{listed}', 'array<struct<a:bigint,s:bigint>>')"
    return f"array_max(transform({table}, e -> {time} - pmod({time} - e.a, e.s)))"


def _edge(time: str, offset: int, step: int) -> str:
    return f"{time} - pmod({time} - {offset}L, {step}L)"


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


def slices(layout: Layout, axis: TimeAxis, source: str, start: str | None = None) -> str:
    """The partials of every slice, fragment and key, from rows.

    `start` is SQL of a row's slice, where there is a faster one than `slice_start`.
    """
    start = start or slice_start(layout.progressions(), axis.units())
    one = len(layout.predicates) == 1
    where = [f"{axis.quoted} IS NOT NULL"]
    if one and layout.predicates[0] is not None:
        where.append(f"({layout.predicates[0]})")
    rows = (
        f"SELECT *, {start} AS weft_slice"
        + ("" if one else f", {signature(layout.predicates)} AS weft_fragment")
        + "".join(f", {key} AS weft_k{i}" for i, key in enumerate(layout.keys))
        + f" FROM {source} WHERE {' AND '.join(where)}"
    )
    if not one and None not in layout.predicates:
        rows = f"SELECT * FROM ({rows}) WHERE size(weft_fragment) > 0"
    grouping = ["weft_slice", *([] if one else ["weft_fragment"])]
    grouping += [f"weft_k{i}" for i in range(len(layout.keys))]
    columns = [f"{name} AS {name.removeprefix('weft_')}" for name in grouping]
    columns += partials(layout)
    return f"SELECT {', '.join(columns)} FROM ({rows}) GROUP BY {', '.join(grouping)}"


def partials(layout: Layout) -> list[str]:
    """Every part as aggregates over rows, each named."""
    return [
        f"{sql} AS {column}"
        for part in layout.parts
        for sql, column in zip(spark_partial(part) or (), layout.columns(part), strict=True)
    ]


def merges(layout: Layout, order: str) -> list[str]:
    """Every part as aggregates over partials, each named."""
    found = []
    for part in layout.parts:
        columns = layout.columns(part)
        merged = spark_merge(part, columns, order) or ()
        found += [f"{sql} AS {column}" for sql, column in zip(merged, columns, strict=True)]
    return found


def folded(layout: Layout, fold: Fold, source: str) -> str:
    """The partials of a fold, from the tree's: the keys that it does not ask for go."""
    keys = [f"k{i}" for i in fold.keys]
    grouping = ["slice", *([] if len(layout.predicates) == 1 else ["fragment"]), *keys]
    columns = [*grouping, *merges(layout, "slice")]
    return f"SELECT {', '.join(columns)} FROM {source} GROUP BY {', '.join(grouping)}"


def windows(layout: Layout, fold: Fold, source: str) -> str:
    """The combined partials of every window, from its slices: each slice goes to its windows."""
    keys = [f"k{i}" for i in fold.keys]
    if len(layout.predicates) == 1:
        listed = f"FROM {source} LATERAL VIEW explode({_targets(fold.targets)}) q AS q"
    else:
        by_predicate = [
            [target for target in fold.targets if target.predicate == number]
            for number in range(len(layout.predicates))
        ]
        found = f"element_at({_targets(by_predicate)}, p + 1)"
        listed = (
            f"FROM {source} LATERAL VIEW explode(fragment) p AS p "
            f"LATERAL VIEW explode({found}) q AS q"
        )
    since = "pmod(slice - q.o, q.s)"
    spread = (
        f"SELECT *, explode(sequence(slice - {since}, slice - q.r + 1, -q.s)) AS start "
        f"{listed} WHERE {since} < q.r"
    )
    grouping = ["q.n", "start", *keys]
    columns = ["q.n AS target", "start", *keys, *merges(layout, "slice")]
    return f"SELECT {', '.join(columns)} FROM ({spread}) GROUP BY {', '.join(grouping)}"


def _targets(targets: Sequence[Target] | Sequence[Sequence[Target]]) -> str:
    """Targets as one literal: folded by the optimizer, whereas a thousand structs are not."""

    def plain(target: Target) -> dict[str, int]:
        window = target.window
        return {"n": target.number, "r": window.range, "s": window.slide, "o": window.phase}

    kind = "array<struct<n:int,r:bigint,s:bigint,o:bigint>>"
    if targets and not isinstance(targets[0], Target):
        nested = [[plain(target) for target in some] for some in targets]  # type: ignore[union-attr]
        return f"from_json('{json.dumps(nested)}', 'array<{kind}>')"
    return f"from_json('{json.dumps([plain(target) for target in targets])}', '{kind}')"  # type: ignore[arg-type]


def instances(layout: Layout, window: Window, axis: TimeAxis, source: str) -> str:
    """The partials of a window's instances, from rows: the root of a coverage plan."""
    time, since = "weft_time", f"pmod(weft_time - {window.phase}L, {window.slide}L)"
    where = [f"{axis.quoted} IS NOT NULL"]
    if layout.predicates[0] is not None:
        where.append(f"({layout.predicates[0]})")
    keys = "".join(f", {key} AS weft_k{i}" for i, key in enumerate(layout.keys))
    rows = f"SELECT *, {axis.units()} AS weft_time{keys} FROM {source} WHERE {' AND '.join(where)}"
    if window.range == window.slide:
        start = f"{time} - {since}"
    else:
        last = f"{time} - {window.range}L + 1L"
        start = f"explode(sequence({time} - {since}, {last}, -{window.slide}L))"
    rows = f"SELECT *, {start} AS weft_start FROM ({rows}) WHERE {since} < {window.range}L"
    names = ["weft_start", *(f"weft_k{i}" for i in range(len(layout.keys)))]
    columns = [f"{name} AS {name.removeprefix('weft_')}" for name in names]
    return (
        f"SELECT {', '.join([*columns, *partials(layout)])} FROM ({rows}) "
        f"GROUP BY {', '.join(names)}"
    )


def pieces(layout: Layout, window: Window, link: Link, source: str) -> str:
    """The partials of a window's instances, from its upstream window's."""
    offsets = link.offsets()
    if len(offsets) == 1:
        own = f"start - {offsets[0]}L"
    elif link.last == link.first + (link.count - 1) * link.step:
        own = f"explode(sequence(start - {link.first}L, start - {link.last}L, -{link.step}L))"
    else:
        own = f"explode(transform(from_json('{list(offsets)}', 'array<bigint>'), o -> start - o))"
    keys = [f"k{i}" for i in range(len(layout.keys))]
    taken = f"SELECT *, start AS piece, {own} AS taker FROM {source}"
    aligned = f"pmod(taker - {window.phase}L, {window.slide}L) = 0"
    columns = ["taker AS start", *keys, *merges(layout, "piece")]
    return (
        f"SELECT {', '.join(columns)} FROM ({taken}) WHERE {aligned} "
        f"GROUP BY {', '.join(['taker', *keys])}"
    )


def tagged(layout: Layout, target: int, source: str) -> str:
    """A window's instances as the answers of a target."""
    keys = [f"k{i}" for i in range(len(layout.keys))]
    columns = ", ".join(["start", *keys, *layout.part_columns])
    return f"SELECT {target} AS target, {columns} FROM {source}"


def named(expressions: Sequence[tuple[str, str]]) -> str:
    """`expression AS name`, listed."""
    return ", ".join(f"{sql} AS {quote(name)}" for sql, name in expressions)
