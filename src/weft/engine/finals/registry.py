"""Every structure by name, with its card, and a factory for structures."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from weft.algebra.monoid import Laws
from weft.engine.finals.bint import BInt
from weft.engine.finals.cells import Store
from weft.engine.finals.contract import Algebra, Card, Final
from weft.engine.finals.daba import DABA
from weft.engine.finals.flatfat import FlatFAT
from weft.engine.finals.flatfit import FlatFIT
from weft.engine.finals.naive import Naive
from weft.engine.finals.shift import Shift
from weft.engine.finals.subtract import Subtract
from weft.engine.finals.two_stacks import TwoStacks
from weft.errors import FinalsError

STRUCTURES: dict[str, type[Final]] = {
    structure.card.name: structure
    for structure in (Naive, FlatFAT, BInt, FlatFIT, TwoStacks, DABA, Subtract, Shift)
}


BLOCKS = Card(
    name="blocks",
    title="prefixes and suffixes of blocks, for whole batches",
    starts="any",
    needs=(),
    single="3 to prepare, 3 to answer",
    multi="3 to prepare, 3n to answer",
    worst="as any",
    space="3n",
    late="comes in time in a batch",
    paper="Optimal preprocessing for answering on-line product queries (Alon, Schieber 1987)",
)


def structure(name: str) -> type[Final]:
    """The structure with this name.

    >>> structure("daba").card.worst
    '6'
    """
    if name == BLOCKS.name:
        raise FinalsError(
            f"final={name!r}: blocks works on whole batches (finals.batch), which choose it "
            f"themselves; accepted are {', '.join(STRUCTURES)}"
        )
    if name not in STRUCTURES:
        raise FinalsError(f"final={name!r} is unknown: accepted are {', '.join(STRUCTURES)}")
    return STRUCTURES[name]


def servers(laws: Laws) -> tuple[str, ...]:
    """The structures that can serve an aggregate with these laws.

    >>> servers(Laws(commutative=True, invertible=False, idempotent=True))
    ('naive', 'flatfat', 'bint', 'flatfit', 'two_stacks', 'daba', 'shift')
    """
    return tuple(name for name, made in STRUCTURES.items() if not made.card.missing(laws))


def make(
    name: str,
    algebra: Algebra,
    *,
    capacity: int = 8,
    first: int = 0,
    store: Store | None = None,
    late: bool = True,
) -> Final:
    """A new, empty structure; an error if it cannot serve the aggregate, naming those that can.

    >>> from weft.algebra.extremes import MAX
    >>> make("subtract", MAX)
    Traceback (most recent call last):
    weft.errors.FinalsError: subtract cannot serve max: it needs an aggregate that is invertible;
    accepted are naive, flatfat, bint, flatfit, two_stacks, daba, shift
    """
    refuse_unserved(name, algebra.laws, algebra.kind)
    return structure(name)(algebra, capacity=capacity, first=first, store=store, late=late)


def refuse_unserved(name: str, laws: Laws, kind: str) -> None:
    """An error if a structure cannot serve an aggregate, naming those that can."""
    missing = structure(name).card.missing(laws)
    if missing:
        raise FinalsError(
            f"{name} cannot serve {kind}: it needs an aggregate that is "
            f"{' and '.join(missing)}; accepted are {', '.join(servers(laws))}"
        )


def check_name(name: str) -> str:
    """Return `name` if it is a structure, `blocks` or `auto`; else an error that lists them.

    >>> check_name("flatfit")
    'flatfit'
    """
    accepted = ("auto", *STRUCTURES, BLOCKS.name)
    if name not in accepted:
        close = get_close_matches(str(name), accepted, 1)
        meant = f"; did you mean {close[0]!r}?" if close else ""
        raise FinalsError(f"finals={name!r}: accepted are {', '.join(accepted)}{meant}")
    return name


def cards() -> tuple[Card, ...]:
    """Every structure's card, in the order of the documentation."""
    return (*(made.card for made in STRUCTURES.values()), BLOCKS)


def table(rows: Sequence[Card] | None = None) -> str:
    """The cards as a Markdown table, as docs/finals.md shows them."""
    header = "structure, answers, needs, one range, every range, worst slide, space, late, from"
    answers = {
        "any": "any range",
        "newest": "any start to the newest",
        "oldest": "all that is held",
    }
    columns = header.split(", ")
    lines: list[Sequence[str]] = [columns, ["---"] * len(columns)]
    for card in cards() if rows is None else rows:
        lines.append(
            (
                f"`{card.name}`: {card.title}",
                answers[card.starts],
                ", ".join(card.needs) or "nothing",
                card.single,
                card.multi,
                card.worst,
                card.space,
                card.late,
                card.paper,
            )
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
