"""Cards: what each aggregate stores, its laws, and their tables for docs/aggregates.md."""

from __future__ import annotations

from dataclasses import dataclass

from weft.algebra.catalogue import FUNCTIONS
from weft.algebra.function import Function
from weft.algebra.monoid import Laws, Monoid, Order
from weft.algebra.part import Option, Part
from weft.algebra.registry import KINDS, monoid_of

_OPTIONS: dict[str, tuple[Option, ...]] = {
    "first_n": (10,),
    "last_n": (10,),
    "first_n_at": (10,),
    "last_n_at": (10,),
    "approx_count_distinct": (9,),
    "approx_percentile": (30565, "value", 0.5),
    "min_by_n": (10,),
    "max_by_n": (10,),
}
_ARGUMENTS = ("x", "y")


@dataclass(frozen=True)
class AggregateCard:
    """What one aggregate stores per slice, and its properties."""

    name: str
    aliases: tuple[str, ...]
    parts: tuple[str, ...]
    components: tuple[str, ...]
    laws: Laws
    """The laws that hold for all of its parts."""
    order: Order
    bounded: bool
    in_spark: bool
    """Whether Spark's own aggregates can compute and merge the partial."""
    note: str


def cards() -> tuple[AggregateCard, ...]:
    """A card for every aggregate function, in the order of the catalogue.

    >>> [card.parts for card in cards() if card.name == "avg(x)"]
    [('sum', 'count')]
    """
    return tuple(_card(function) for function in FUNCTIONS)


def _card(function: Function) -> AggregateCard:
    arity = max(1, function.arity[0])
    options = _OPTIONS.get(function.name, ())
    parts = function.parts(_ARGUMENTS[:arity], None, options)
    monoids = [monoid_of(part) for part in parts]
    orders: tuple[Order, ...] = ("all", "ties", "any")
    return AggregateCard(
        name=_written(function, arity),
        aliases=function.aliases,
        parts=tuple(part.kind for part in parts),
        components=tuple(c.name for monoid in monoids for c in monoid.components),
        laws=Laws(
            commutative=all(monoid.laws.commutative for monoid in monoids),
            invertible=all(monoid.laws.invertible for monoid in monoids),
            idempotent=all(monoid.laws.idempotent for monoid in monoids),
        ),
        order=next(order for order in orders if any(m.order == order for m in monoids)),
        bounded=all(monoid.bounded for monoid in monoids),
        in_spark=all(m.partial_sql is not None and m.merge_sql is not None for m in monoids),
        note=function.note,
    )


def _written(function: Function, arity: int) -> str:
    if function.written is not None:
        return function.written
    percentiles = dict.fromkeys(("approx_percentile", "percentile", "percentile_disc"), ", p")
    constant = {"first_n": ", n", "last_n": ", n", "listagg": ", s"} | percentiles
    names = _ARGUMENTS[::-1] if function.name.startswith("regr_") else _ARGUMENTS  # y, then x
    args = ", ".join(names[:arity]) + constant.get(function.name, "")
    return f"{function.name}({args})"


def _kind_monoid(kind: str) -> Monoid:
    options = {"hll": (9,), "kll": (30565,)}
    return monoid_of(Part(kind, ("x",), None, options.get(kind, _OPTIONS.get(kind, ()))))


def table() -> str:
    """The tables of docs/aggregates.md: aggregates, then the kinds of parts under them."""
    rows = ["| aggregate | also called | parts | laws | order | state | note |", "|" + "---|" * 7]
    for card in cards():
        rows.append(
            f"| `{card.name}` | {_codes(card.aliases)} | {_codes(card.parts)} | "
            f"{_laws(card.laws)} | {card.order} | {_state(card.bounded)} | {card.note} |"
        )
    rows += ["", "| part | components | laws | order | state | note |", "|" + "---|" * 6]
    for kind in KINDS:
        monoid = _kind_monoid(kind)
        components = ", ".join(f"`{c.name}` {c.family}" for c in monoid.components)
        rows.append(
            f"| `{kind}` | {components} | {_laws(monoid.laws)} | {monoid.order} | "
            f"{_state(monoid.bounded)} | {monoid.note} |"
        )
    return "\n".join(rows) + "\n"


def _codes(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _laws(laws: Laws) -> str:
    named = {
        "commutative": laws.commutative,
        "invertible": laws.invertible,
        "idempotent": laws.idempotent,
    }
    return ", ".join(law for law, holds in named.items() if holds) or "associative only"


def _state(bounded: bool) -> str:
    return "bounded" if bounded else "**unbounded**"
