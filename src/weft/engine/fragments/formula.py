"""Predicates as formulas over a few atoms: interval indexes and opaque conditions.

A normalised predicate has NOT only at its leaves, so a row satisfies it if and only if AND and OR
over "this leaf is TRUE" give TRUE; above a leaf, FALSE and NULL need not be distinguished.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from weft.engine.fragments.domain import Boundary, Domain, domain_of
from weft.engine.fragments.safety import TypeOf, guarded, may_raise, shielded
from weft.query.normal import is_constant
from weft.query.predicate import constant_of
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Case, Literal, Node, Op, rebuild
from weft.query.syntax.writer import write


@dataclass(frozen=True)
class InSpans:
    """TRUE if an expression's value lies in one of the spans `[from, to)`; None is unbounded.

    `negated` inverts the test for values; null satisfies it only if `null` is set.
    """

    expression: str
    domain: Domain | None
    """None if the test is only for null."""
    spans: tuple[tuple[Boundary | None, Boundary | None], ...]
    negated: bool = False
    null: bool = False

    @property
    def atom(self) -> str:
        """What it is a test of."""
        return f"value of {self.expression}"


@dataclass(frozen=True)
class Opaque:
    """TRUE if the value of a condition is in `wanted`: True, False, None (null)."""

    condition: str
    wanted: frozenset[bool | None]

    @property
    def atom(self) -> str:
        """What it is a test of."""
        return f"truth of {self.condition}"


@dataclass(frozen=True)
class AllOf:
    """TRUE if all of the formulas are TRUE."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class AnyOf:
    """TRUE if any of the formulas is TRUE."""

    parts: tuple[Formula, ...]


Test = InSpans | Opaque
TRUE_ONLY: frozenset[bool | None] = frozenset((True,))
Formula = InSpans | Opaque | AllOf | AnyOf


def leaves_of(formula: Formula) -> Iterator[Test]:
    """The tests in a formula."""
    if isinstance(formula, (AllOf, AnyOf)):
        for part in formula.parts:
            yield from leaves_of(part)
    else:
        yield formula


def formula_of(predicate: str, type_of: TypeOf) -> Formula:
    """The formula of a normalised predicate, given the types of the expressions that it compares.

    Expressions that can fail are evaluated only where Spark would evaluate them if it ran the
    query alone.

    >>> found = formula_of("flag AND volume > 5", {"volume": "int"}.get)
    >>> [test.atom for test in leaves_of(found)]
    ['truth of flag', 'value of volume']
    >>> [test.atom for test in leaves_of(formula_of("x <> 0 AND 1 / x > 2", {"x": "int"}.get))]
    ['value of x', 'truth of CASE WHEN x <> 0 THEN 1 / x > 2 END']
    """
    node = tree_of(predicate)
    conjuncts = node.args if isinstance(node, Op) and node.op == "AND" else (node,)
    parts = []
    for position, conjunct in enumerate(conjuncts):
        if may_raise(conjunct, type_of):
            parts.append(_risky(conjunct, conjuncts[:position], type_of))
        else:
            parts.append(_formula(conjunct, (), type_of))
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


@lru_cache(maxsize=16384)
def tree_of(predicate: str) -> Node:
    """The tree of a predicate, without parentheses: the writer adds them where needed."""
    return _unwrapped(read_expression(predicate))


def _unwrapped(node: Node) -> Node:
    while isinstance(node, Op) and node.op == "PAREN":
        node = node.args[0]
    return rebuild(node, _unwrapped)


def opaque_of(predicate: str, type_of: TypeOf) -> Opaque:
    """A whole predicate as one condition, evaluated in Spark's order."""
    node = tree_of(predicate)
    if may_raise(node, type_of) and isinstance(node, Op) and node.op == "AND":
        *before, last = [shielded(conjunct, type_of) for conjunct in node.args]
        return Opaque(write(guarded(last, before)), TRUE_ONLY)
    return Opaque(write(shielded(node, type_of)), TRUE_ONLY)


def _risky(conjunct: Node, before: Sequence[Node], type_of: TypeOf) -> Formula:
    """The formula of a conjunct that can fail: evaluated only if all earlier ones are TRUE."""
    guards = [shielded(node, type_of) for node in before]
    if isinstance(conjunct, Op) and conjunct.op in ("AND", "OR"):
        whole = guarded(shielded(conjunct, type_of), guards)
        return Opaque(write(whole), TRUE_ONLY)
    return _formula(conjunct, guards, type_of)


def _formula(node: Node, guards: Sequence[Node], type_of: TypeOf) -> Formula:
    if isinstance(node, Op) and node.op in ("AND", "OR"):
        parts = tuple(_formula(arg, guards, type_of) for arg in node.args)
        return AllOf(parts) if node.op == "AND" else AnyOf(parts)
    return _interval(node, guards, type_of) or _opaque(node, guards, type_of)


_TRUTHS: dict[str, frozenset[bool | None]] = {
    "IS TRUE": TRUE_ONLY,
    "IS NOT TRUE": frozenset((False, None)),
    "IS FALSE": frozenset((False,)),
    "IS NOT FALSE": frozenset((True, None)),
    "NOT": frozenset((False,)),
}


def _opaque(node: Node, guards: Sequence[Node], type_of: TypeOf) -> Opaque:
    condition, wanted = node, TRUE_ONLY
    if isinstance(node, Op) and not guards:  # under a guard, null also means "not evaluated"
        inner = node.args[0]
        if node.op in _TRUTHS:
            condition, wanted = inner, _TRUTHS[node.op]
        elif node.op in ("=", "<>") and type_of(write(inner)) == "boolean":
            truth = _boolean(node.args[1])
            if truth is not None:
                condition, wanted = inner, frozenset((truth == (node.op == "="),))
        while isinstance(condition, Op) and condition.op == "NOT":
            if type_of(write(condition.args[0])) != "boolean":
                break
            condition = condition.args[0]
            wanted = frozenset(None if truth is None else not truth for truth in wanted)
    return Opaque(write(guarded(condition, guards)), wanted)


def _boolean(node: Node) -> bool | None:
    if isinstance(node, Literal) and node.kind == "boolean":
        return node.text == "TRUE"
    return None


def _interval(node: Node, guards: Sequence[Node], type_of: TypeOf) -> InSpans | None:
    """A test of one value against constants, or against null."""
    if not isinstance(node, Op) or is_constant(node.args[0]):
        return None
    value, *others = node.args
    expression = write(guarded(value, guards))
    domain = domain_of(type_of(write(value)))
    if node.op in ("IS NULL", "IS NOT NULL"):
        if isinstance(value, Case) or guards:
            return None
        # Empty spans: no value satisfies IS NULL, every value satisfies its negation.
        wants_null = node.op == "IS NULL"
        return InSpans(expression, domain, (), negated=not wants_null, null=wants_null)
    if domain is None or node.op not in _SHAPES:
        return None
    cuts = []
    for other in others:
        constant = constant_of(other)
        cut = None if constant is None else domain.cut(constant)
        if cut is None:
            return None
        cuts.append(cut)
    shape, negated, null = _SHAPES[node.op]
    if guards and null:
        return None
    spans: list[tuple[Boundary | None, Boundary | None]]
    if shape == "in":
        spans = list(cuts)
    elif shape == "between":
        spans = [(cuts[0][0], cuts[1][1])]
    else:
        (at, after) = cuts[0]
        ends = {"<": (None, at), "<=": (None, after), ">": (after, None), ">=": (at, None)}
        spans = [ends[shape]]
    kept = tuple(
        (low, high)
        for low, high in spans
        if low is None or high is None or low < high  # type: ignore[operator]
    )
    return InSpans(expression, domain, kept, negated, null)


# By operator: the shape of the spans, whether they are negated, whether null satisfies it.
_SHAPES = {
    "<": ("<", False, False),
    "<=": ("<=", False, False),
    ">": (">", False, False),
    ">=": (">=", False, False),
    "=": ("in", False, False),
    "<>": ("in", True, False),
    "IN": ("in", False, False),
    "NOT IN": ("in", True, False),
    "<=>": ("in", False, False),
    "IS DISTINCT FROM": ("in", True, True),
    "BETWEEN": ("between", False, False),
    "NOT BETWEEN": ("between", True, False),
}
