"""Bounds on the value sizes of functions for which a number or argument in the call decides.

Each rule computes the size of a call's value from those of its arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, NoReturn, Protocol

from weft.query.syntax.tree import Call, Literal, Node
from weft.query.trust.constants import DAY, anchored


class Size(NamedTuple):
    """An upper bound of bytes, and of elements if it is an array."""

    bytes: float
    elements: float


class Range(NamedTuple):
    """The bounds of a number."""

    low: float
    high: float


FIXED = Size(64, 1)
Bound = Mapping[str, Size]


class Sizes(Protocol):
    """The interface that rules use."""

    most: int

    def of(self, node: Node, bound: Bound) -> Size:
        """The size of a node's value."""
        ...

    def range_of(self, node: Node, bound: Bound) -> Range:
        """The bounds of a number."""
        ...

    def argument(self, call: Call, position: int, bound: Bound) -> float:
        """The maximum of a numeric argument of a call; refused if it is unbounded."""
        ...

    def refuse(self, node: Node, reason: str) -> NoReturn:
        """Refuse a node, quoting its place."""
        ...


Rule = Callable[[Sizes, Call, Bound], Size]


def together(sizes: Sequence[Size]) -> Size:
    """The size of several values together."""
    bytes_, counts = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (8, 1)
    return Size(max(bytes_, 8), max(counts, 1))


def _repeated(value: int, times: int) -> Rule:
    """The argument at position `value`, repeated as often as the argument at position `times`."""

    def rule(sizes: Sizes, call: Call, bound: Bound) -> Size:
        often = sizes.argument(call, times, bound)
        once = sizes.of(call.args[value], bound) if value < len(call.args) else FIXED
        return Size(once.bytes * often, often)

    return rule


def _padded(sizes: Sizes, call: Call, bound: Bound) -> Size:
    for arg in call.args:
        sizes.of(arg, bound)
    length = sizes.argument(call, 1, bound)
    return Size(4 * length + 8, 1)


def _spaces(sizes: Sizes, call: Call, bound: Bound) -> Size:
    return Size(sizes.argument(call, 0, bound) + 8, 1)


def _inserted(sizes: Sizes, call: Call, bound: Bound) -> Size:
    """`array_insert` fills the positions before a distant one with nulls."""
    whole = together([sizes.of(arg, bound) for arg in call.args])
    place_of = sizes.range_of(call.args[1], bound) if len(call.args) > 1 else Range(0, 0)
    far = max(abs(place_of.low), abs(place_of.high))
    return Size(whole.bytes + 8 * far, whole.elements + far)


def _number_format(sizes: Sizes, call: Call, bound: Bound) -> Size:
    if len(call.args) == 2 and isinstance(call.args[1], Literal) and call.args[1].kind == "string":
        return Size(400 + 4 * len(call.args[1].text), 1)
    return Size(400 + sizes.argument(call, 1, bound), 1)


def _date_format(sizes: Sizes, call: Call, bound: Bound) -> Size:
    return Size(64 + 32 * together([sizes.of(arg, bound) for arg in call.args[1:]]).bytes, 1)


def _printed(sizes: Sizes, call: Call, bound: Bound) -> Size:
    """A format such as '%08.3f', which must be a constant because its widths decide the size."""
    inside = together([sizes.of(arg, bound) for arg in call.args])
    form = call.args[0] if call.args else None
    if not (isinstance(form, Literal) and form.kind == "string"):
        sizes.refuse(call, f"{call.name.lower()} takes its format as a constant here")
    widths, digits = 0.0, ""
    for character in f"{form.text} ":
        if character.isdigit():
            digits += character
        elif digits:
            widths, digits = widths + float(digits), ""
    return Size(4 * inside.bytes + widths + 400, 1)


def _sequence(sizes: Sizes, call: Call, bound: Bound) -> Size:
    """As many elements as there are steps between the ends, which must follow from the text."""
    if len(call.args) < 2:
        return FIXED
    start, stop = anchored(call.args[0]), anchored(call.args[1])
    step = abs(anchored(call.args[2])[1]) if len(call.args) > 2 else 0.0
    if start[0] == stop[0]:
        unit = step or (DAY if start[2] or stop[2] else 1)
        distance = abs((stop[1] - start[1]) / unit)
    else:
        first, last = (sizes.range_of(arg, bound) for arg in call.args[:2])
        distance = max(last.high - first.low, first.high - last.low) / (step or 1)
    if math.isinf(distance):
        sizes.refuse(
            call,
            "sequence makes as many elements as its ends are apart, which may be any number: write "
            "constants, or ends that are a constant apart, as in sequence(x, x + 10)",
        )
    return Size(8 * (distance + 1), distance + 1)


def _replaced(sizes: Sizes, call: Call, bound: Bound) -> Size:
    """Every character may be replaced; a `$1` in the replacement inserts a group."""
    value, *others = (sizes.of(arg, bound) for arg in call.args)
    if len(others) < 2:
        return value
    literal = call.args[2]
    once = others[1].bytes
    if isinstance(literal, Literal):
        once = max(len(literal.text) - 2, 1) + literal.text.count("$")
    return Size((value.bytes + 1) * max(once, 1), 1)


def _joined(sizes: Sizes, call: Call, bound: Bound) -> Size:
    values = [sizes.of(arg, bound) for arg in call.args]
    position = 0 if call.name.lower() == "concat_ws" else 1
    gaps = sum(value.elements for value in values)
    between = values[position].bytes if len(values) > position else 0
    return Size(together(values).bytes + gaps * between, 1)


def _compared(sizes: Sizes, call: Call, bound: Bound) -> Size:
    """One number, but as many steps as the product of the lengths."""
    steps = math.prod(sizes.of(arg, bound).bytes for arg in call.args[:2])
    if steps > 100 * sizes.most:
        sizes.refuse(call, f"{call.name.lower()} of texts this long takes too many steps")
    return FIXED


RULES: dict[str, Rule] = {
    "repeat": _repeated(0, 1),
    "array_repeat": _repeated(0, 1),
    "space": _spaces,
    "lpad": _padded,
    "rpad": _padded,
    "array_insert": _inserted,
    "format_number": _number_format,
    "date_format": _date_format,
    "from_unixtime": _date_format,
    "format_string": _printed,
    "printf": _printed,
    "sequence": _sequence,
    "replace": _replaced,
    "regexp_replace": _replaced,
    "concat_ws": _joined,
    "array_join": _joined,
    "levenshtein": _compared,
    "jaro_winkler_similarity": _compared,
}
