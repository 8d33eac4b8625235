"""A coverage plan as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from weft.query.duration import MICROSECONDS

if TYPE_CHECKING:
    from weft.plan.coverage.plan import CoveragePlan


def walk(upstream: Sequence[int | None]) -> Iterator[tuple[int, tuple[bool, ...], bool]]:
    """The nodes of a forest, each before the nodes that it feeds, in order of index.

    Each comes with whether its ancestors have further siblings, and whether it has itself.

    >>> [node for node, _, _ in walk((2, None, None, 2))]
    [1, 2, 0, 3]
    """
    below: dict[int | None, list[int]] = {}
    for node, up in enumerate(upstream):
        below.setdefault(up, []).append(node)
    stack: list[tuple[int, tuple[bool, ...], bool]] = []

    def push(nodes: list[int], stems: tuple[bool, ...]) -> None:
        last = nodes[-1:]
        stack.extend((node, stems, [node] != last) for node in reversed(nodes))

    push(below.get(None, []), ())
    while stack:
        node, stems, more = stack.pop()
        yield node, stems, more
        push(below.get(node, []), (*stems, more))


def explain_lines(plan: CoveragePlan) -> list[str]:
    """What feeds what, with how many pieces, and what it costs; one line per window.

    Costs are shown per second on a time axis, where the plan's own are per microsecond.
    """
    timed = bool(plan.windows) and plan.windows[0].axis == "time"
    unit, scale = ("second", MICROSECONDS["second"]) if timed else ("unit", 1)
    alone, asked = plan.cost_without_sharing * scale, len(plan.asked)
    head = f"{_count(asked, 'window')}, {plan.semantics}"
    if plan.factors:
        head += f", {_count(len(plan.factors), 'factor window')}"
    head += f": cost {plan.cost * scale:.6g} per {unit}"
    if alone:
        head += f", {1 - plan.cost * scale / alone:.1%} below {alone:.6g} without sharing"
    lines, factors, pieces = [head], set(plan.factors), plan.pieces
    for node, stems, more in walk(plan.upstream):
        stem = "".join("│   " if open_ else "    " for open_ in stems)
        name = ("factor " if node in factors else "") + repr(plan.windows[node])
        count = pieces[node]
        source = "rows" if count is None else _count(count, "piece")
        branch = "├── " if more else "└── "
        lines.append(f"{stem}{branch}{name} from {source}: cost {plan.rates[node] * scale:.6g}")
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
