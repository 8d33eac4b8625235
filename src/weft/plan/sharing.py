"""Which queries may share a tree at all, and why two may not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from weft.query.window import Session, Window

if TYPE_CHECKING:
    from weft.query.query import Query

Keys = Literal["separate", "union"]
Parts = Literal["compatible", "equal"]


@dataclass(frozen=True)
class Compatibility:
    """What two queries must have in common to share a tree.

    - `axis`, and the kind of window: always. Sessions have slices of a different kind.
    - keys: with `keys="separate"` the same group-by keys; with `"union"` a tree aggregates by
      the union of its queries' keys, and every query combines over the keys that it does not have.
    - parts: a tree's partial holds the union of its queries' lifted parts, so bounded parts are
      always compatible. Parts without a size bound (collected values, exact distinct) would be
      stored in every slice, so only queries with the same unbounded parts share. With
      `parts="equal"` the lifted parts must be equal, which is what the papers assume.
    - predicates: any, through fragments; with `predicates="equal"` (coverage plans compute a
      window from another window's rows) they must be the same.
    """

    keys: Keys = "separate"
    parts: Parts = "compatible"
    predicates: Literal["fragments", "equal"] = "fragments"

    def signature(self, query: Query) -> tuple[tuple[str, object], ...]:
        """Two queries may share if and only if their signatures are equal; entries are named."""
        from weft.algebra.registry import monoid_of

        heavy = frozenset(part for part in query.parts if not monoid_of(part).bounded)
        entries: list[tuple[str, object]] = [
            ("axis", query.window.axis),
            ("kinds of window", kind_of(query.window, covers=self.predicates == "equal")),
        ]
        if self.keys == "separate":
            entries.append(("group-by keys", frozenset(key.expression for key in query.keys)))
        if self.parts == "equal":
            entries.append(("lifted parts", frozenset(query.parts)))
        else:
            entries.append(("parts without a bound", heavy))
        if self.predicates == "equal":
            entries.append(("predicates", query.predicate))
        return tuple(entries)

    def groups(self, queries: Sequence[Query]) -> list[list[int]]:
        """The positions of the queries of each sharing group, in order of appearance."""
        found: dict[object, list[int]] = {}
        for position, query in enumerate(queries):
            found.setdefault(self.signature(query), []).append(position)
        return list(found.values())

    def obstacle(self, a: Query, b: Query) -> str | None:
        """Why `a` and `b` can never share a tree, or None when they can."""
        for (what, mine), (_, yours) in zip(self.signature(a), self.signature(b), strict=True):
            if mine != yours:
                return f"their {what} differ: {_show(mine)} and {_show(yours)}"
        return None


def kind_of(window: Window, *, covers: bool = False) -> str:
    """What windows must have in common, besides their axis, to be computed from the same slices.

    With `covers`, to be computed from one another, which calendar windows cannot be.
    """
    if isinstance(window, Session):
        return "sessions"
    return "fixed windows" if window.has_fixed_length or not covers else "calendar windows"


def _show(value: object) -> str:
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value))) or "none"
    return "none" if value is None else str(value)
