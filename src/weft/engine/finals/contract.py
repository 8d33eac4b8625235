"""The contract of final structures: insert slices in order, get answers over the newest ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol

from weft.algebra.monoid import Laws
from weft.engine.finals.cells import Cells, MemoryStore, Store
from weft.errors import FinalsError

Starts = Literal["any", "newest", "oldest"]
"""Which ranges a structure answers: any range of the slices it holds; any that ends at the newest
slice; or only all slices it holds."""


class Algebra(Protocol):
    """What a structure needs from an aggregate. Every `Monoid` and every `VectorOp` is one.

    `combine(older, newer)` is associative with `identity` as its neutral element. No structure
    swaps its operands unless `laws.commutative` says that it may.
    """

    @property
    def kind(self) -> str: ...

    @property
    def laws(self) -> Laws: ...

    @property
    def identity(self) -> Any: ...

    @property
    def combine(self) -> Any: ...

    @property
    def subtract(self) -> Any: ...


@dataclass(frozen=True)
class Card:
    """Properties of a structure, for choosing one; n is the number of slices in the window."""

    name: str
    title: str
    starts: Starts
    needs: tuple[Literal["commutative", "invertible"], ...]
    single: str
    """Combines per slide with one range."""
    multi: str
    """Combines per slide with every range from 1 to n."""
    worst: str
    """Combines in the worst slide with one range."""
    space: str
    """Partials (and pointers) stored."""
    late: str
    """What merging a late partial into a slice costs."""
    paper: str

    def missing(self, laws: Laws) -> tuple[str, ...]:
        """The laws that the structure needs and the aggregate lacks."""
        return tuple(law for law in self.needs if not getattr(laws, law))


class Final(ABC):
    """Slices at consecutive positions, and the combination of those from a start to the newest.

    Law: `answer(start)` equals folding `combine` over the partials at positions `start` up to
    `end`, older first, each with its late partials merged. Positions `[first, end)` are held;
    `insert` appends at `end`, `evict(before)` drops older ones. Windows are ranges of positions,
    and each may have a different number of slices. The structure grows as needed; with a capacity
    of the longest window it never grows.
    """

    card: ClassVar[Card]
    overwrites: ClassVar[bool] = False
    """Whether aggregates replace the stored partials; then merging a late partial of a
    non-commutative aggregate requires that the originals are kept as well."""

    def __init__(
        self,
        algebra: Algebra,
        *,
        capacity: int = 8,
        first: int = 0,
        store: Store | None = None,
        late: bool = True,
    ) -> None:
        if capacity < 1:
            raise FinalsError(f"capacity={capacity!r} of {self.card.name} must be at least 1")
        missing = self.card.missing(algebra.laws)
        if missing:
            raise FinalsError(
                f"{self.card.name} cannot serve {algebra.kind}: it needs an aggregate that is "
                f"{' and '.join(missing)}; `weft.engine.finals.make` names those that can"
            )
        self.algebra = algebra
        self.capacity = capacity
        self.origin = first
        """The first position ever held: ranges may start before it, where there were no slices."""
        self.first = first
        self.end = first
        self.store: Store = MemoryStore() if store is None else store
        keeps = late and self.overwrites and not algebra.laws.commutative
        self.originals: Cells | None = self.store.cells("originals") if keeps else None
        self._open()

    # For callers.

    def insert(self, partial: Any) -> int:
        """Append the next slice's partial; return its position."""
        position = self.end
        if self.held == self.capacity:
            self._resize(self.capacity * 2)
        if self.originals is not None:
            self.originals.put(position % self.capacity, partial)
        self._insert(position, partial)
        self.end = position + 1
        return position

    def evict(self, before: int) -> None:
        """Remove the slices at positions below `before`."""
        if before > self.end:
            raise FinalsError(
                f"evict(before={before}) of {self.card.name} is past the newest slice: "
                f"accepted are positions up to {self.end}"
            )
        if before > self.first:
            previous, self.first = self.first, before
            self._evict(previous)

    def answer(self, start: int | None = None, end: int | None = None) -> Any:
        """The combination of the slices `[start, end)`, by default of all slices held."""
        if start is not None and start < self.first and self.first > self.origin:
            raise FinalsError(
                f"start={start} of {self.card.name} was evicted: accepted are positions from "
                f"{self.first}"
            )
        start = self.first if start is None else max(start, self.first)
        end = self.end if end is None else min(end, self.end)
        if start >= end:
            return self.algebra.identity
        if end != self.end and self.card.starts != "any":
            raise FinalsError(
                f"end={end} of {self.card.name}: it answers only up to the newest slice "
                f"({self.end}); naive, flatfat and bint answer any range"
            )
        if start != self.first and self.card.starts == "oldest":
            raise FinalsError(
                f"start={start} of {self.card.name}: it answers only from its oldest slice "
                f"({self.first}); use one per range, or naive, flatfat, bint, flatfit or shift"
            )
        return self._answer(start, end)

    def merge(self, position: int, late: Any) -> None:
        """Combine a late partial into the slice at `position`, as if it had been on time."""
        if not self.first <= position < self.end:
            raise FinalsError(
                f"position={position} of {self.card.name} is not held: accepted are "
                f"[{self.first}, {self.end})"
            )
        if self.originals is not None:
            slot = position % self.capacity
            self.originals.put(slot, self.algebra.combine(self.originals.get(slot), late))
        elif self.overwrites and not self.algebra.laws.commutative:
            raise FinalsError(
                f"{self.card.name} over {self.algebra.kind}, which does not commute, was made with "
                f"late=False and kept no originals to merge a late partial into"
            )
        self._merge(position, late)

    @property
    def held(self) -> int:
        """The number of slices held."""
        return self.end - self.first

    def space(self) -> int:
        """Partials and pointers for which space is allocated, as the papers count space."""
        return self._space() + (self.capacity if self.originals is not None else 0)

    # Saving and restoring; the cells are saved by their store.

    def numbers(self) -> dict[str, int]:
        """The structure's state besides its cells: integers by name."""
        return {
            "first": self.first,
            "end": self.end,
            "capacity": self.capacity,
            "origin": self.origin,
            **self._numbers(),
        }

    def restore_numbers(self, numbers: Mapping[str, int]) -> None:
        """Restore what `numbers` returned; the cells come from the store."""
        for name in self.numbers():
            setattr(self, name, numbers[name])

    def is_live(self, cells: str, low: int, high: int) -> bool:
        """Whether any slot in `[low, high)` of the named cells may still be read."""
        return cells == "registers" or self._ring_is_live(low, high)

    def _ring_is_live(self, low: int, high: int) -> bool:
        """Whether any slot in `[low, high)` of a ring belongs to a slice that is held."""
        high = min(high, self.capacity)
        gone = (low - self.first) % self.capacity  # slots from the oldest to `low`
        return (
            low < high and self.held > 0 and (gone < self.held or low + self.capacity - gone < high)
        )

    # For implementations.

    @abstractmethod
    def _open(self) -> None:
        """Get the cells from the store."""

    @abstractmethod
    def _insert(self, position: int, partial: Any) -> None: ...

    @abstractmethod
    def _answer(self, start: int, end: int) -> Any: ...

    @abstractmethod
    def _merge(self, position: int, late: Any) -> None: ...

    @abstractmethod
    def _space(self) -> int: ...

    def _evict(self, previous: int) -> None:  # noqa: B027  (most structures have nothing to do)
        """`first` has moved from `previous`."""

    def _numbers(self) -> dict[str, int]:
        return {}

    def _rings(self) -> tuple[Cells, ...]:
        """The cells that are rings of `capacity`, which are rearranged when it grows."""
        return ()

    def _resize(self, capacity: int) -> None:
        moves = {p % self.capacity: p % capacity for p in range(self.first, self.end)}
        rings = self._rings() if self.originals is None else (*self._rings(), self.originals)
        for ring in rings:
            ring.move(moves)
        self.capacity = capacity


class Counting:
    """An algebra that counts how often it combines or subtracts.

    >>> from weft.algebra.sums import COUNT
    >>> counting = Counting(COUNT)
    >>> counting.combine((1,), (2,)), counting.operations
    ((3,), 1)
    """

    def __init__(self, algebra: Algebra, **laws: bool) -> None:
        self.kind, self.identity = algebra.kind, algebra.identity
        self.laws = replace(algebra.laws, **laws)
        self.operations = 0
        self._combine, self._subtract = algebra.combine, algebra.subtract

    def combine(self, older: Any, newer: Any) -> Any:
        self.operations += 1
        return self._combine(older, newer)

    def subtract(self, total: Any, oldest: Any) -> Any:
        self.operations += 1
        return self._subtract(total, oldest)
