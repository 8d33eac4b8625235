"""An output of a query: a scalar expression over aggregate calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from weft.algebra.aggregate import Aggregate
from weft.algebra.catalogue import BY_NAME
from weft.errors import AggregateError
from weft.query.calls import hint, is_aggregate, make_aggregate
from weft.query.expression import function_name, refusal
from weft.query.functions import OWN_AGGREGATES
from weft.query.normal import normal
from weft.query.quoting import LONG, quoted
from weft.query.syntax.lexer import place
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Call, Lambda, Literal, Name, Node, Op, Star, rebuild, walk
from weft.query.syntax.writer import write

# Private-use characters replace the calls while the expression around them is normalised.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


@dataclass(frozen=True)
class Output:
    """A named output: `expression` is SQL with `{0}`, `{1}` for the values of `calls`.

    >>> spread = read_output("spread", "max(price) - min(price)")
    >>> spread.expression, [call.function for call in spread.calls]
    ('{0} - {1}', ['max', 'min'])
    >>> spread.render(["hi", "lo"])
    'hi - lo'
    """

    name: str
    expression: str
    calls: tuple[Aggregate, ...]
    native: str = field(compare=False, repr=False)
    """The same in plain Spark SQL, with the aggregates that Spark lacks spelled out."""

    @property
    def is_plain(self) -> bool:
        """Whether the output is a single call."""
        return self.expression == "{0}"

    def render(self, values: Sequence[str]) -> str:
        """The expression, given SQL for each call's value."""
        return self.expression.format(*(_operand(value) for value in values))


def _operand(sql: str) -> str:
    """SQL as an operand: in parentheses, unless it is a name."""
    return sql if re.fullmatch(r"[\w.]+|`[^`]+`", sql) else f"({sql})"


@lru_cache(maxsize=65536)
def read_output(name: str, sql: str) -> Output:
    """Parse an expression over aggregates to an output."""
    node = read_expression(sql)
    template, calls, native = read_over_aggregates(sql, node, frozenset())
    if not calls:
        raise AggregateError(
            f"{quoted(sql, LONG)} has no aggregate: an output is an aggregate such as "
            f"sum(price), or an expression over aggregates"
        )
    return Output(name, template, calls, native)


def read_over_aggregates(
    sql: str, node: Node, allowed: frozenset[str]
) -> tuple[str, tuple[Aggregate, ...], str]:
    """The template, calls and plain Spark SQL of a tree over aggregates.

    Columns outside aggregates are refused except for those in `allowed` (in lower case).
    """
    calls: list[Aggregate] = []

    def extract(part: Node) -> Node:
        reason = refusal(part)
        if reason is not None:
            raise AggregateError(place(sql, part.at, reason))
        if is_aggregate(part):
            assert isinstance(part, Call)
            call = make_aggregate(sql, part)
            if call not in calls:
                calls.append(call)
            return Name((f"{_OPEN}{calls.index(call)}{_CLOSE}",), at=part.at)
        if isinstance(part, Call) and not allowed:
            _check_scalar_call(sql, part)
        if isinstance(part, Name) and part.parts[0].strip("`").lower() not in allowed:
            raise AggregateError(place(sql, part.at, _bare(part, allowed)))
        if isinstance(part, Lambda):
            params = frozenset(param.strip("`").lower() for param in part.params)
            _, inner, _ = read_over_aggregates(sql, part.body, allowed | params)
            if inner:
                raise AggregateError(
                    place(
                        sql, part.at, "an aggregate in a lambda is not supported: apply it outside"
                    )
                )
            return part
        return rebuild(part, extract)

    marked = write(normal(extract(node)))
    template = marked.replace("{", "{{").replace("}", "}}")
    return _MARK.sub(r"{\1}", template), tuple(calls), write(_defined(node))


def _bare(name: Name, allowed: frozenset[str]) -> str:
    also = f", or one of {', '.join(sorted(allowed))}" if allowed else ""
    return (
        f"column {write(name)} is not under an aggregate: accepted are aggregates such as "
        f"max({write(name)}){also}"
    )


def _check_scalar_call(sql: str, call: Call) -> None:
    """Check that a call around aggregates is an ordinary function, with aggregates in it."""
    name = function_name(call)
    starred = any(isinstance(arg, Star) for arg in call.args)
    over_columns = any(isinstance(part, Name) for part in call.args)
    if (
        call.called_as_aggregate
        or starred
        or (over_columns and not any(map(is_aggregate, walk(call))))
    ):
        message = f"{name} is not an aggregate that weft supports{hint(name)}"
        raise AggregateError(place(sql, call.at, message))


def _defined(node: Node) -> Node:
    """The tree with the aggregates that Spark lacks replaced by their definitions."""
    if isinstance(node, Call) and function_name(node) in OWN_AGGREGATES:
        function = BY_NAME[function_name(node)]
        assert function.definition is not None
        where = "" if node.where is None else f" FILTER (WHERE {write(node.where)})"
        n = write(node.args[1]) if len(node.args) > 1 else ""
        text = function.definition.format(write(node.args[0]), where=where, n=n)
        return Op("PAREN", (Literal("typed", text),), at=node.at)
    return rebuild(node, _defined)
