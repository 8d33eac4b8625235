"""The index of a bucket's state: its pieces, and the bucket's progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from weft.engine.state.codec import bytes_to_json, damaged
from weft.engine.state.radix_tree import Node


@dataclass
class Piece:
    """The index entry of one piece of a store."""

    size: int
    """Size in bytes."""
    slices: int
    low: int
    """The start of its oldest slice."""
    high: int
    """The start of its newest slice."""
    summed: bool = False
    """Whether its total in the parent piece is up to date."""
    checksum: int = 0
    """The checksum of its bytes, by which another version of the piece is detected."""

    def to_list(self) -> list[int]:
        """As JSON values."""
        return [self.size, self.slices, self.low, self.high, int(self.summed), self.checksum]

    @classmethod
    def from_list(cls, data: list[int]) -> Piece:
        """Read what `to_list` wrote."""
        size, slices, low, high, summed, checksum = data
        return cls(size, slices, low, high, bool(summed), checksum)


@dataclass
class StoreIndex:
    """The pieces of one store."""

    span: int
    """The length of time that a piece of slices covers."""
    pieces: dict[Node, Piece] = field(default_factory=dict)

    def level(self, level: int) -> dict[Node, Piece]:
        """The pieces of one level."""
        return {node: piece for node, piece in self.pieces.items() if node.level == level}


@dataclass
class Index:
    """The index, which a bucket reads first and writes last in every micro-batch."""

    frontier: int | None = None
    """Windows that end at or before it are closed; None before the first micro-batch."""
    max_event_time: int | None = None
    """The greatest time seen on the stream."""
    timer: int | None = None
    stores: dict[int, StoreIndex] = field(default_factory=dict)
    fragments: list[str] = field(default_factory=list)
    """Each fragment's signature: the numbers of the predicates it satisfies, as a hex mask."""
    late: dict[int, int] = field(default_factory=dict)
    """The number of late rows, by query."""
    ahead: int = 0
    """Rows of the stream that the guard against future rows set aside; every bucket counts all."""
    sliding: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The metadata of the structures over slices, by the name of their lane."""
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The pieces of open sessions and when the next may end, by the name of their lane."""
    histories: list[int] = field(default_factory=list)
    """The stores whose history has been merged into the state."""
    _numbers: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def fragment(self, signature: int) -> int:
        """The number of the fragment with this signature."""
        if len(self._numbers) != len(self.fragments):
            self._numbers = {text: number for number, text in enumerate(self.fragments)}
        text = f"{signature:x}"
        if text not in self._numbers:
            self._numbers[text] = len(self.fragments)
            self.fragments.append(text)
        return self._numbers[text]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "frontier": self.frontier,
            "max_event_time": self.max_event_time,
            "timer": self.timer,
            "stores": {
                str(number): {
                    "span": store.span,
                    "pieces": {node.key: piece.to_list() for node, piece in store.pieces.items()},
                }
                for number, store in self.stores.items()
            },
            "fragments": self.fragments,
            "late": {str(query): count for query, count in self.late.items()},
            "ahead": self.ahead,
            "sliding": self.sliding,
            "sessions": self.sessions,
            "histories": self.histories,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Index:
        """Read what `to_dict` wrote.

        >>> index = Index(frontier=5, stores={1: StoreIndex(10, {Node(0, 2): Piece(9, 1, 20, 20)})})
        >>> Index.from_dict(index.to_dict()) == index
        True
        """
        return cls(
            data["frontier"],
            data["max_event_time"],
            data["timer"],
            {
                int(number): StoreIndex(
                    store["span"],
                    {
                        Node.of(key): Piece.from_list(entry)
                        for key, entry in store["pieces"].items()
                    },
                )
                for number, store in data["stores"].items()
            },
            data["fragments"],
            {int(query): count for query, count in data["late"].items()},
            data["ahead"],
            data["sliding"],
            data.get("sessions", {}),
            data.get("histories", []),
        )


def index_from(stored: bytes) -> Index:
    """The index of a bucket, from its bytes in the state."""
    values = bytes_to_json(stored, "the index")
    try:
        return Index.from_dict(values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged("the index", f"{type(error).__name__}: {error}") from None
