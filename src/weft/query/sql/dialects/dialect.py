"""What a dialect consists of: reading and writing of its windows, and its own vocabulary."""

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
    """A parsed statement: a SELECT without its windows, and the windows."""

    select: Select
    windows: tuple[tuple[str | None, Window], ...]
    """The windows, each with the id that the text gives it, if any."""
    time: str | None
    """The event-time column; None if the text leaves it to the stream."""
    shows_window: Callable[[Node], bool]
    """Whether a SELECT item is the window itself."""
    into: str | None = None
    """The output that the text names."""
    window_as: Callable[[Node, str | None, Window], Node] | None = None
    """Translates a SELECT item that shows the window into Spark SQL over the answers; its arguments
    are the item, the window's id and the window."""

    def queries(self, name: str, *, hidden: bool = False) -> list[Query]:
        """One query per window; if there are several, each is named after its id or position."""
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
    """`start` or `end` of the answers' window column, in place of a node.

    `less` is by how many microseconds the dialect's bound is earlier.
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
    """The text after FROM."""
    shown: tuple[str, ...] = ()
    """SELECT items that show the window."""
    group: tuple[str, ...] = ()
    """Items of GROUP BY that define the window."""
    columns: tuple[str, ...] = ()
    """Names of the window's columns, which nothing in the query may have."""
    partitioned: bool = False
    """Whether the window in GROUP BY lists the keys that it is over."""


@dataclass(frozen=True)
class Dialect:
    """A dialect: reader and writer of its windows, its vocabulary, and what weft cannot share."""

    name: DialectName
    title: str
    read: Callable[[str, tuple[Token, ...]], ParsedSelect]
    frame: Callable[[Window, str, str], StatementFrame]
    """The frame of a window over a table and its time column, both in the dialect's own text."""
    words: Vocabulary
    simplified: Callable[[str, tuple[Token, ...]], tuple[Token, ...]] | None = None
    """Removes clauses that repeat what the rest says; refuses them if they say anything else."""
    refused: dict[str, str] = field(default_factory=dict)
    """Functions (in upper case) that cannot be shared, with the reasons."""
    in_spark: Callable[[str], str] | None = None
    """Translates a whole statement into Spark SQL, if there is such a translation."""
    to_share: Callable[[str], str] | None = None
    """Like `in_spark`, in a form that can be shared where that one cannot, but Spark refuses it."""
    reads_spark: bool = False
    """Whether statements are translated into Spark SQL first, and then parsed as that."""
    names_outputs: bool = True
    """Whether HAVING may use the names of outputs and keys."""
