"""Maps the items of a SELECT list to the columns of a query's answers, and back.

Answers hold the window, the keys and the outputs. An item is one of these or is computed from them:

    SELECT window.start AS since, upper(k) AS k, max(x) - min(x) AS spread, count(*) / k AS per_k
    keys k; outputs spread, weft_1 (count(*)); shown window.start, upper(k), spread, weft_1 / k
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from weft.errors import QueryError
from weft.query.calls import is_aggregate
from weft.query.expression import check_scalar, function_name
from weft.query.names import quoted_name
from weft.query.normal import normal
from weft.query.output import read_over_aggregates
from weft.query.sql.select.nodes import default_name, split_alias, unquoted
from weft.query.syntax.lexer import place
from weft.query.syntax.tree import Call, Lambda, Name, Node, Star, children, rebuild, walk
from weft.query.syntax.writer import write

HIDDEN = "weft_"
"""Prefix of the columns that the statement does not name."""
OVER = "weft_over_"
"""Prefix of the names that replace window functions while the rest of an item is read."""


@dataclass
class AnswerColumns:
    """The columns that the answers to a SELECT need, and what the SELECT list shows of them.

    `window_as` writes the window as a column of the answers. Without it, only columns of the
    answers can be selected.
    """

    sql: str
    group: Sequence[Node]
    shows_window: Callable[[Node], bool]
    window_as: Callable[[Node], Node] | None
    hidden: bool = False
    """Whether outputs that the SELECT list does not name are allowed."""
    outputs: dict[str, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    """The name that the SELECT list gives a key, by the position of the key."""
    _shown: list[tuple[Node | str, str]] = field(default_factory=list)
    _calls: dict[Node, str] = field(default_factory=dict)
    """The outputs that are a single aggregate call, by that call."""
    _taken: dict[str, str] = field(
        default_factory=lambda: {"window": "that of the window's column"}
    )

    def __post_init__(self) -> None:
        self._keys = [normal(key) for key in self.group]

    @classmethod
    def of(
        cls,
        sql: str,
        start: int,
        items: Sequence[Node],
        group: Sequence[Node],
        shows_window: Callable[[Node], bool],
        window_as: Callable[[Node], Node] | None,
        hidden: bool,
    ) -> AnswerColumns:
        """The columns that these items need."""
        columns = cls(sql, group, shows_window, window_as, hidden and window_as is not None)
        for item in items:
            columns._take(item)
        columns._name_keys()
        if not columns.outputs:
            if window_as is None:
                reason = "SELECT needs at least one aggregate, such as count(*) AS n"
                raise QueryError(place(sql, start, reason))
            columns.outputs[f"{HIDDEN}rows"] = "count(*)"  # a group exists if it has a row
        return columns

    @property
    def keys(self) -> list[tuple[Node, str | None]]:
        """The keys, with the names that the SELECT list gives them."""
        return [(key, self.names.get(place)) for place, key in enumerate(self.group)]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The selected items: SQL over the columns of the answers, and their names."""
        return [(self._text(node), name) for node, name in self._shown]

    def _take(self, item: Node) -> None:
        node, alias = split_alias(item)
        if isinstance(node, Star):
            raise self._fail(item, "name the columns: a star is accepted in count(*) only")
        name = alias or default_name(node)
        if self.shows_window(node):
            called = function_name(node) if isinstance(node, Call) else default_name(node)
            self._shown.append((node, alias or called))
        elif normal(node) in self._keys:
            key = self._keys.index(normal(node))
            if key in self.names and self.window_as is None:
                raise self._fail(item, f"{write(node)} is selected twice: once is enough")
            self.names.setdefault(key, name)
            self._shown.append((node, name))
        elif self.window_as is not None and self._is_of_answers(node):
            self._shown.append((node, name))
        elif self._is_output(node):
            self._take_output(item, node, name)
        else:
            self._take_mixed(node, name)

    def _is_output(self, node: Node) -> bool:
        """Whether an item consists of aggregates alone; raise an error if it is not allowed."""
        if isinstance(node, Name):
            raise self._fail(node, f"{write(node)} is neither under an aggregate nor in GROUP BY")
        if self.hidden and any(map(is_aggregate, walk(node))):
            return not any(
                isinstance(part, Name) or self._is_key(part) or self.shows_window(part)
                for part in _outside(node)
            )
        for part in walk(node):
            if self.shows_window(part):
                raise self._fail(
                    part,
                    "the window must stand alone in SELECT: to compute with it, use the start and "
                    "end of the answers' column window",
                )
        if not read_over_aggregates(self.sql, node, frozenset())[1]:
            raise self._fail(
                node, f"{write(node)} has no aggregate: an output must be computed from aggregates"
            )
        return True

    def _take_output(self, item: Node, node: Node, name: str) -> None:
        read_over_aggregates(self.sql, node, frozenset())  # its errors point into this text
        if name.casefold() in self._taken:
            if not self.hidden:
                reason = f"the name {name!r} is {self._taken[name.casefold()]}: use another with AS"
                raise self._fail(item, reason)
            self._take_mixed(node, name)
            return
        self._taken[name.casefold()] = "that of another output already"
        self.outputs[name] = write(node)
        if is_aggregate(node):
            self._calls.setdefault(normal(node), name)
        self._shown.append((quoted_name(name), name))

    def _take_mixed(self, node: Node, name: str) -> None:
        """Take an item that mixes aggregates with keys, the window or window functions."""

        def over(part: Node) -> Node:
            if is_aggregate(part):
                return Name((quoted_name(self._hidden(part)),), at=part.at)
            return part if self._is_key(part) else rebuild(part, over)

        self._shown.append((over(node), name))
        for part in _outside(node):
            known = self._is_key(part) or self.shows_window(part) or _is_over(part)
            if isinstance(part, Name) and not known and not self._is_in_key(node, part):
                raise self._fail(
                    part, f"{write(part)} is neither under an aggregate nor in GROUP BY"
                )

    def _hidden(self, call: Node) -> str:
        """The column of an aggregate call; a hidden output unless some output is that call."""
        found = self._calls.get(normal(call))
        if found is None or normal(Name((quoted_name(found),))) in self._keys:
            read_over_aggregates(self.sql, call, frozenset())
            found = f"{HIDDEN}{len(self.outputs) + 1}"
            self.outputs[found] = write(call)
            self._calls[normal(call)] = found
        return found

    def _is_key(self, node: Node) -> bool:
        return normal(node) in self._keys

    def _is_in_key(self, whole: Node, name: Name) -> bool:
        """Whether a name is part of a key within an expression."""
        for part in walk(whole):
            if self._is_key(part) and any(inner is name for inner in walk(part)):
                return True
        return False

    def _is_of_answers(self, node: Node) -> bool:
        """Whether an item uses only keys, the window, window functions and constants."""
        if self._is_key(node) or self.shows_window(node) or _is_over(node):
            return True
        if isinstance(node, (Name, Star, Lambda)) or is_aggregate(node):
            return False
        if isinstance(node, Call) and (node.distinct or node.where is not None):
            return False
        return all(self._is_of_answers(child) for child in children(node))

    def _name_keys(self) -> None:
        for position, key in enumerate(self.group):
            if self.window_as is not None and not isinstance(key, Name):
                self.names.setdefault(position, default_name(key))
        for key, name in self.keys:
            known = (name or default_name(key)).casefold()
            if known in self._taken:
                reason = f"the name {known!r} is {self._taken[known]}: use another with AS"
                raise self._fail(key, reason)
            self._taken[known] = "that of another key already"

    def _text(self, node: Node | str) -> str:
        """A selected item as SQL over the columns of the answers, whose names are known by now."""
        if isinstance(node, str):
            return node
        made = self._of_answers(node)
        check_scalar(self.sql, made)
        return write(made)

    def _of_answers(self, node: Node) -> Node:
        if self.window_as is not None and self.shows_window(node):
            return self.window_as(node)
        if self._is_key(node):
            position = self._keys.index(normal(node))
            name = self.names.get(position) or default_name(self.group[position])
            return Name((quoted_name(name),), at=node.at)
        return rebuild(node, self._of_answers)

    def _fail(self, node: Node, message: str) -> QueryError:
        return QueryError(place(self.sql, node.at, message))


def _outside(node: Node) -> list[Node]:
    """The nodes of an expression that are not inside an aggregate."""
    if is_aggregate(node):
        return []
    return [node, *(part for child in children(node) for part in _outside(child))]


def _is_over(node: Node) -> bool:
    return isinstance(node, Name) and unquoted(node.parts[0]).startswith(OVER)
