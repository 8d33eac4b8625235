"""What a tree aggregates: the columns of its partials, and the windows computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from weft.algebra.positional import ordered
from weft.algebra.registry import monoid_of
from weft.query.progressions import cleaned
from weft.query.window import Session, Window

if TYPE_CHECKING:
    from weft.algebra.aggregate import Aggregate
    from weft.algebra.part import Part
    from weft.query.query import Query


AnyLayout = TypeVar("AnyLayout", bound="Layout")


@dataclass(frozen=True)
class WindowSpec:
    """Answers to compute (a target): one window over the rows that satisfy one predicate.

    Queries that differ only in their aggregates share one target.
    """

    number: int
    window: Window
    predicate: int
    """Position in `Layout.predicates`."""


@dataclass(frozen=True)
class GroupingSet:
    """The targets of a tree that are grouped by the same keys."""

    keys: tuple[int, ...]
    """Positions in `Layout.keys`."""
    targets: tuple[WindowSpec, ...]


@dataclass(frozen=True)
class Layout:
    """The columns of one tree.

    A partial has the keys `k0, k1, ...` and, for part i, one column per component: `p{i}_{name}`.
    Queries with fewer keys than the tree have a separate grouping set. Targets are numbered
    consecutively in the whole tree. First and last values are kept with their time (`first_at`),
    because the rows of a slice are unordered, all the more when predicates split it into fragments.
    """

    queries: tuple[Query, ...]
    keys: tuple[str, ...]
    """Key expressions, in normalised SQL: the union of the queries' keys."""
    parts: tuple[Part, ...]
    predicates: tuple[str | None, ...]
    """Distinct predicates, in normalised SQL; None accepts every row."""
    grouping_sets: tuple[GroupingSet, ...]
    places: tuple[tuple[int, int], ...]
    """For each query, its grouping set and the number of its target."""
    time: str
    types: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The Spark types of the aggregates' arguments, by name, as far as they are known."""
    prefix: str = ""
    """The prefix of part columns, used where one row holds the parts of several targets."""

    @classmethod
    def of(
        cls: type[AnyLayout],
        queries: Sequence[Query],
        time: str,
        types: Mapping[str, str] | None = None,
    ) -> AnyLayout:
        """The layout of a tree of these queries over a time column (quoted SQL)."""
        types = types or {}
        keys = tuple(dict.fromkeys(key.expression for query in queries for key in query.keys))
        parts = tuple(
            dict.fromkeys(
                ordered(part, by=time)
                for query in queries
                for call in query.calls
                for part in parts_of(call, types)
            )
        )
        predicates = tuple(dict.fromkeys(query.predicate for query in queries))
        numbers: dict[tuple[tuple[int, ...], Window, int], int] = {}
        asked: list[tuple[tuple[int, ...], int]] = []
        for query in queries:
            own = {key.expression for key in query.keys}
            chosen = tuple(position for position, key in enumerate(keys) if key in own)
            target = (chosen, query.window, predicates.index(query.predicate))
            asked.append((chosen, numbers.setdefault(target, len(numbers))))
        chosen_keys = list(dict.fromkeys(chosen for chosen, _ in asked))
        grouping_sets = tuple(
            GroupingSet(
                chosen,
                tuple(
                    WindowSpec(number, window, predicate)
                    for (own_keys, window, predicate), number in numbers.items()
                    if own_keys == chosen
                ),
            )
            for chosen in chosen_keys
        )
        places = tuple((chosen_keys.index(chosen), number) for chosen, number in asked)
        return cls(tuple(queries), keys, parts, predicates, grouping_sets, places, time, types)

    def columns(self, part: Part) -> tuple[str, ...]:
        """The columns of one of `parts`, in the order of its components."""
        at = self._position[part]
        names = (component.name for component in monoid_of(part).components)
        return tuple(f"{self.prefix}p{at}_{name}" for name in names)

    @cached_property
    def _position(self) -> dict[Part, int]:
        return {part: position for position, part in enumerate(self.parts)}

    def answer(self, call: Aggregate) -> str | None:
        """SQL of an aggregate call's answer over the part columns; None if SQL cannot give it."""
        columns = []
        for part in parts_of(call, self.types):
            kept = ordered(part, by=self.time)
            names = self.columns(kept)
            # A first value that is kept with its time has one extra component.
            columns.append(names[1:] if kept.kind.endswith("_valid_at") else names)
        return call.spark_lower(columns, argument_types(call, self.types))

    @cached_property
    def needs(self) -> dict[int, tuple[int, ...]]:
        """For each target, by number, the positions of the parts that its queries need."""
        asked: dict[int, set[int]] = {}
        for query, (_, number) in zip(self.queries, self.places, strict=True):
            asked.setdefault(number, set()).update(
                self._position[ordered(part, by=self.time)]
                for call in query.calls
                for part in parts_of(call, self.types)
            )
        return {number: tuple(sorted(parts)) for number, parts in asked.items()}

    @property
    def part_columns(self) -> tuple[str, ...]:
        """Every part's columns."""
        return tuple(column for part in self.parts for column in self.columns(part))

    @property
    def is_session(self) -> bool:
        """Whether the windows are sessions, whose slices also have a first and a last time."""
        return any(isinstance(query.window, Session) for query in self.queries)

    @property
    def has_maximum(self) -> bool:
        """Whether some windows are sessions with a maximum, which Spark does not have."""
        windows = (query.window for query in self.queries)
        return any(isinstance(window, Session) and window.maximum for window in windows)

    @property
    def has_ends(self) -> bool:
        """Whether combined partials have an `end`, because the start does not determine it."""
        return not all(query.window.has_fixed_length for query in self.queries)

    def progressions(self) -> tuple[tuple[int, int], ...]:
        """The edges of all windows as distinct `(offset, step)`, none contained in another."""
        return cleaned(
            progression
            for grouping_set in self.grouping_sets
            for target in grouping_set.targets
            for progression in target.window.progressions()
        )


def parts_of(call: Aggregate, types: Mapping[str, str]) -> tuple[Part, ...]:
    """A call's parts, given the known types of its arguments."""
    return call.parts_for(argument_types(call, types))


def argument_types(call: Aggregate, types: Mapping[str, str]) -> tuple[str, ...] | None:
    """The types of a call's arguments; None if one is not known."""
    known = tuple(types[arg] for arg in call.args if arg in types)
    return known if known and len(known) == len(call.args) else None
