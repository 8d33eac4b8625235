"""Static bounds on the size of the values that an expression makes from one row.

An untrusted `repeat('x', 1000000000)` exhausts a worker, and so do expressions that look harmless:
`hex(hex(hex(...)))`, nested `replace(x, 'a', 'aaaaaaaaaa')`, an `aggregate` whose accumulator
doubles. So sizes are computed on the tree: a column counts as `COLUMN` (1,000 bytes, 100
elements), every function has a bound relative to its arguments (`allowed.GROWTH`, `size_rules`),
and values above the limit are refused.

    replace(hex(name), 'a', 'xyz')      1,000 bytes -> hex 2,000 -> replace 6,000
    transform(sequence(1, 50), x -> x)  50 elements, 400 bytes
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

from weft.errors import ExpressionError
from weft.query.functions import AGGREGATES
from weft.query.limits import LIMITS, allows, limits
from weft.query.normal import column_name
from weft.query.syntax.lexer import place
from weft.query.syntax.tree import Call, Case, Cast, Lambda, Literal, Name, Node, Op, children
from weft.query.syntax.writer import write
from weft.query.trust.allowed import GROWTH
from weft.query.trust.constants import whole_number
from weft.query.trust.size_rules import FIXED, RULES, Bound, Range, Size, together

UNKNOWN = Range(-math.inf, math.inf)
COLUMN = Size(1000, 100)
"""The assumed size of a column or an aggregate."""
NESTED = 4
"""Most levels of nested lambdas, because each level multiplies the work."""
_TIMES = {"sum": 1, "double": 2, "fourfold": 4, "eightfold": 8}
_PARTS_OF_DATES = {
    "month": 12,
    "quarter": 4,
    "day": 31,
    "dayofmonth": 31,
    "dayofyear": 366,
    "weekday": 6,
    "dayofweek": 7,
    "weekofyear": 53,
    "hour": 23,
    "minute": 59,
    "second": 60,
}


def constant_bytes(sql: str, node: Node) -> float:
    """How much of a value the query itself contributes: its size if every column were empty."""
    return _Sizes(sql, Size(0, 1)).of(node, {}).bytes


def check_value_size(sql: str, node: Node) -> None:
    """Refuse an expression whose value, or an intermediate value, may be too large.

    >>> from weft.query.syntax.reader import read_expression
    >>> sql = "length(repeat(name, 1000000000)) > 5"
    >>> check_value_size(sql, read_expression(sql))
    Traceback (most recent call last):
    weft.errors.ExpressionError: repeat makes a value of up to 1,000,000,000,000 bytes of ...
    """
    _Sizes(sql).of(node, {})


class _Sizes:
    """The sizes of one text's nodes."""

    def __init__(self, sql: str, column: Size = COLUMN) -> None:
        self.sql, self.most, self.column = sql, limits().value_bytes, column

    def of(self, node: Node, bound: Bound, depth: int = 0) -> Size:
        """The size of a node's value; refused if it is above the limit."""
        found = self._of(node, bound, depth)
        if found.bytes > self.most:
            what = node.name.lower() if isinstance(node, Call) else "this expression"
            size = "any number of" if math.isinf(found.bytes) else f"up to {found.bytes:,.0f}"
            self.refuse(
                node,
                f"{what} makes a value of {size} bytes of a row whose columns have "
                f"{COLUMN.bytes:,} bytes each: at most {self.most:,} are accepted (the limit "
                f"value_bytes of {LIMITS})",
            )
        return found

    def refuse(self, node: Node, reason: str) -> NoReturn:
        """Refuse a node, quoting its place."""
        raise ExpressionError(place(self.sql, node.at, reason))

    def _of(self, node: Node, bound: Bound, depth: int) -> Size:
        if isinstance(node, Literal):
            return Size(len(node.text) + 8, 1)
        if isinstance(node, Name):
            return bound.get(column_name(node.parts[0]), self.column)
        if isinstance(node, Lambda):
            if depth >= NESTED:
                self.refuse(node, f"lambdas are nested more than {NESTED} deep")
            return self.of(node.body, bound, depth + 1)
        if isinstance(node, Call):
            return self._call(node, bound, depth)
        sizes = [self.of(child, bound, depth) for child in children(node)]
        if isinstance(node, Op) and node.op in ("||", "PAREN", ".", "[]", "TUPLE", "AS"):
            return together(sizes)
        if isinstance(node, (Case, Cast)):
            return together(sizes)
        return FIXED

    def _call(self, call: Call, bound: Bound, depth: int) -> Size:
        name = call.name.strip("`").lower()
        if name in AGGREGATES:  # limits of rows are elsewhere; here only check each argument
            for child in children(call):
                self.of(child, bound, depth)
            return self.column
        growth = "sum" if allows(name) else GROWTH.get(name, "sum")
        if growth == "own":
            return (
                RULES[name](self, call, bound)
                if name in RULES
                else self.lambdas(call, bound, depth)
            )
        inside = together([self.of(arg, bound, depth) for arg in call.args])
        if growth == "fixed":
            return FIXED
        if name in ("array", "struct", "named_struct", "map"):
            return Size(inside.bytes, len(call.args))
        if name in ("flatten", "split", "regexp_extract_all"):
            return Size(inside.bytes, inside.bytes)
        return Size(inside.bytes * _TIMES[growth], inside.elements)

    def lambdas(self, call: Call, bound: Bound, depth: int) -> Size:
        """The size of the values that a lambda makes from all elements."""
        arrays = [arg for arg in call.args if not isinstance(arg, Lambda)]
        functions = [arg for arg in call.args if isinstance(arg, Lambda)]
        name = call.name.lower()
        if name in ("aggregate", "reduce") and len(arrays) == 2 and functions:
            return self._aggregate(call, arrays, functions, bound, depth)
        whole = together([self.of(array, bound, depth) for array in arrays])
        element = Size(whole.bytes / max(whole.elements, 1), max(whole.bytes / 8, 1))
        made = Size(0, 1)
        for function in functions:
            inner = {**bound, **{column_name(param): element for param in function.params}}
            made = self.of(function, inner, depth)
        if name in ("exists", "forall"):
            return FIXED
        if name in ("filter", "map_filter", "array_sort"):
            return whole
        keys = whole.bytes if name.startswith(("map_", "transform_")) else 0
        return Size(keys + whole.elements * made.bytes, whole.elements)

    def _aggregate(
        self, call: Call, arrays: Sequence[Node], functions: Sequence[Lambda], bound: Bound,
        depth: int,
    ) -> Size:  # fmt: skip
        """An accumulator may grow by a fixed amount per element, but not with its own size."""
        whole, start = (self.of(array, bound, depth) for array in arrays)
        merge = functions[0]
        if len(merge.params) != 2:
            self.refuse(merge, "the first lambda takes an accumulator and an element")
        element = Size(whole.bytes / max(whole.elements, 1), max(whole.bytes / 8, 1))
        accumulator, item = (column_name(param) for param in merge.params)
        steps = [start]
        for _ in range(3):
            inner = {**bound, accumulator: steps[-1], item: element}
            steps.append(self.of(merge, inner, depth))
        first, second = steps[2].bytes - steps[1].bytes, steps[3].bytes - steps[2].bytes
        if second > first * 1.01 and second > 1:
            self.refuse(
                merge,
                f"the accumulator of {call.name.lower()} grows by its own size with every element: "
                f"use it once in what the lambda makes of it",
            )
        grown = Size(steps[1].bytes + whole.elements * max(first, 0.0), steps[1].elements)
        for finish in functions[1:]:
            inner = {**bound, **{column_name(param): grown for param in finish.params}}
            return self.of(finish, inner, depth)
        return grown

    def range_of(self, node: Node, bound: Bound) -> Range:
        """The bounds of a number that follow from the text; infinite if there are none."""
        constant = whole_number(node)
        if constant is not None:
            return Range(constant, constant)
        if isinstance(node, Op) and node.op in ("PAREN", "%", "+", "-"):
            first = self.range_of(node.args[0], bound)
            if node.op == "PAREN":
                return first
            second = self.range_of(node.args[1], bound)
            if node.op == "%":
                most = max(abs(second.low), abs(second.high))
                return Range(-most, most)
            if node.op == "+":
                return Range(first.low + second.low, first.high + second.high)
            return Range(first.low - second.high, first.high - second.low)
        if isinstance(node, Call) and node.args:
            return self._range_of_call(node, bound)
        return UNKNOWN

    def _range_of_call(self, call: Call, bound: Bound) -> Range:
        name = call.name.lower()
        if name in _PARTS_OF_DATES:
            return Range(0, _PARTS_OF_DATES[name])
        if name in ("size", "cardinality", "array_size"):
            return Range(-1, self.of(call.args[0], bound).elements)
        if name in ("length", "len", "char_length", "character_length"):
            return Range(0, self.of(call.args[0], bound).bytes)
        if name not in ("least", "greatest", "pmod"):
            return UNKNOWN
        ranges = [self.range_of(arg, bound) for arg in call.args]
        if name == "pmod":
            return Range(0, max(abs(ranges[-1].low), abs(ranges[-1].high)))
        pick = min if name == "least" else max
        return Range(pick(each.low for each in ranges), pick(each.high for each in ranges))

    def argument(self, call: Call, position: int, bound: Bound) -> float:
        """The maximum of a numeric argument of a call; refused if it is unbounded."""
        if position >= len(call.args):
            return 1
        most = self.range_of(call.args[position], bound).high
        if math.isinf(most):
            self.refuse(
                call.args[position],
                f"{call.name.lower()} makes as much as {write(call.args[position])} says, which "
                f"may be anything: write a constant, or least(..., 1000)",
            )
        return max(most, 0)
