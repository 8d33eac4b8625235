"""What a dialect is: how its window is read and written, and the words in which it differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal as OneOf

from weft.query.query import Query
from weft.query.sql.dialects.vocabulary import Vocabulary
from weft.query.sql.select.select import Select
from weft.query.syntax.lexer import Token
from weft.query.syntax.tree import Literal, Name, Node, Op
from weft.query.window import Window

DialectName = OneOf["spark", "cql", "asa", "flink", "ksql", "risingwave"]


@dataclass(frozen=True)
class ParsedSelect:
    """What one statement asks: a SELECT without its windows, and the windows."""

    select: Select
    windows: tuple[tuple[str | None, Window], ...]
    """The windows, each with the id that the text gives it."""
    time: str | None
    """The column of event time; None where the text leaves it to the stream."""
    shows_window: Callable[[Node], bool]
    """Which items of SELECT are the window itself."""
    into: str | None = None
    """The output that the text names."""
    window_as: Callable[[Node, str | None, Window], Node] | None = None
    """What an item of SELECT says of the window, as Spark SQL over the answers; given the item, the
    window's id and the window."""

    def queries(self, name: str, *, hidden: bool = False) -> list[Query]:
        """One query a window; of several windows, each named after its id or its place."""
        if len(self.windows) == 1 and self.windows[0][0] is None:
            return [self._query(name, self.windows[0][1], hidden)]
        return [
            self._query(f"{name}_{id or position}", window, hidden, id)
            for position, (id, window) in enumerate(self.windows, start=1)
        ]

    def _query(self, name: str, window: Window, hidden: bool, id: str | None = None) -> Query:
        written = self.window_as
        window_as = None if written is None else partial(_of_answers, written, id, window)
        return self.select.query(name, window, self.time, self.shows_window, window_as, hidden)


def _of_answers(
    written: Callable[[Node, str | None, Window], Node], id: str | None, window: Window, node: Node
) -> Node:
    return written(node, id, window)


def window_bound(node: Node, field: str, less: int = 0) -> Node:
    """`start` or `end` of the window's column of answers, in the place of a node.

    `less` is how many microseconds before it a dialect says that it is.
    """
    bound = Name(("window", field), at=node.at)
    if not less:
        return bound
    text = f"INTERVAL '{less // 1_000_000}.{less % 1_000_000:06d}' SECOND"
    return Op("-", (bound, Literal("typed", text, at=node.at)), at=node.at)


@dataclass(frozen=True)
class StatementFrame:
    """What a dialect writes around a query's columns and conditions."""

    source: str
    """What FROM says."""
    shown: tuple[str, ...] = ()
    """Items of SELECT that show the window."""
    group: tuple[str, ...] = ()
    """Items of GROUP BY that make the window."""
    columns: tuple[str, ...] = ()
    """Names that the window takes, so that nothing of the query may have them."""
    partitioned: bool = False
    """Whether the item of GROUP BY says over which keys it is."""


@dataclass(frozen=True)
class Dialect:
    """A dialect: reader and writer of its window, its words, and what it knows but weft cannot."""

    name: DialectName
    title: str
    read: Callable[[str, tuple[Token, ...]], ParsedSelect]
    frame: Callable[[Window, str, str], StatementFrame]
    """The frame of a window over a table and its time column; both are written already."""
    words: Vocabulary
    simplified: Callable[[str, tuple[Token, ...]], tuple[Token, ...]] | None = None
    """The tokens without what only says again what the rest does; refused if it says more."""
    refused: dict[str, str] = field(default_factory=dict)
    """Calls (in upper case) that cannot be shared, and why."""
    in_spark: Callable[[str], str] | None = None
    """A whole statement of it as Spark SQL, if that can be said."""
    to_share: Callable[[str], str] | None = None
    """The same in a form that is shared where that one is not, but that Spark itself refuses."""
    reads_spark: bool = False
    """Whether it is read as the Spark SQL that it is put into."""
    names_outputs: bool = True
    """Whether HAVING may call outputs and keys by their names."""
