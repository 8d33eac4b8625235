"""A SELECT statement as trees, and the query that it asks once its window is known.

Every dialect ends here: it takes its window out of the tokens or out of GROUP BY, and the rest of
the statement is read, checked against its own tokens and made into a `Query` in one way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from weft.errors import QueryError
from weft.query.calls import is_aggregate
from weft.query.expression import check_scalar
from weft.query.normal import normal
from weft.query.output import read_over_aggregates
from weft.query.query import Query, Source
from weft.query.sql.nodes import default_name, is_name, quoted, split_alias, unquoted
from weft.query.syntax.converter import convert
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.masking import STATEMENT_WORDS, Masked, mask, parse
from weft.query.syntax.reader import check, refuse_operators
from weft.query.syntax.tree import (
    Call,
    Lambda,
    Literal,
    Name,
    Node,
    Star,
    children,
    rebuild,
    walk,
)
from weft.query.syntax.writer import write, write_tersely
from weft.query.window import Window


@dataclass(frozen=True)
class Select:
    """A SELECT statement of one table, whatever its dialect; names lack the table's name."""

    sql: str
    shape: str
    """What the dialect accepts."""
    start: int
    items: tuple[Node, ...]
    table: Name
    where: Node | None
    group: tuple[Node, ...]
    having: Node | None

    @classmethod
    def read(cls, sql: str, tokens: tuple[Token, ...], shape: str, title: str) -> Select:
        """The statement that the tokens make up; written back, it must give the same tokens.

        `shape` is what the dialect accepts and `title` what it is called, for messages.
        """
        masked = mask(sql, STATEMENT_WORDS, tokens)
        refuse_operators(masked)
        found = parse(masked, title)
        args = _clauses(found[0]) if len(found) == 1 else None
        if args is None:
            raise masked.fail(tokens[0].start, f"accepted is {shape}")
        table, alias = _table(masked, args["from"].this)

        def read(node: Any) -> Node:
            return convert(masked, node)

        items = tuple(read(item) for item in args["expressions"])
        where = read(args["where"].this) if "where" in args else None
        having = read(args["having"].this) if "having" in args else None
        group = tuple(read(item) for item in args["group"].expressions) if "group" in args else ()
        written = _written(items, table, alias, where, group, having)
        check(masked, written, tokens[0].start, optional=frozenset(("AS",)))
        select = cls(sql, shape, tokens[0].start, items, table, where, group, having)
        tables = {table.parts[-1].lower(), (alias or table.parts[-1]).lower()}
        return select.changed(lambda node: _unqualified(node, tables))

    def changed(self, change: Callable[[Node], Node]) -> Select:
        """The statement with every expression of it changed."""
        return replace(
            self,
            items=tuple(change(item) for item in self.items),
            where=None if self.where is None else change(self.where),
            group=tuple(change(item) for item in self.group),
            having=None if self.having is None else change(self.having),
        )

    def spelled_out(self) -> Select:
        """The statement with GROUP BY ALL, and positions in GROUP BY, as the items they stand for.

        As in Spark: all items without an aggregate, and the item at a place, from 1.
        """
        items = [split_alias(item)[0] for item in self.items]
        plain = [item for item in items if not any(map(is_aggregate, walk(item)))]
        if len(self.group) == 1 and is_name(self.group[0], "all"):
            return replace(self, group=tuple(dict.fromkeys(plain)))
        return replace(
            self, group=tuple(self._at_position(key, items, plain) for key in self.group)
        )

    def _at_position(self, key: Node, items: list[Node], plain: list[Node]) -> Node:
        if not (isinstance(key, Literal) and key.kind == "number" and key.text.isdecimal()):
            return key
        if not 1 <= int(key.text) <= len(items):
            raise self.fail(key, f"SELECT has no item {key.text}: it has {len(items)}")
        item = items[int(key.text) - 1]
        if item not in plain:
            raise self.fail(key, f"item {key.text} of SELECT has an aggregate: group by a key")
        return item

    def fail(self, node: Node | None, message: str) -> QueryError:
        """An error that quotes the place of a node."""
        return QueryError(place(self.sql, self.start if node is None else node.at, message))

    def one_window(self, is_window: Callable[[Node], bool], form: str) -> tuple[Node, Select]:
        """The one window of GROUP BY, and the statement without it."""
        windows = [item for item in self.group if is_window(item)]
        if len(windows) != 1:
            raise self.fail(
                windows[1] if windows else None,
                f"GROUP BY needs one {form}, not {len(windows)}: accepted is {self.shape}",
            )
        keys = tuple(item for item in self.group if not is_window(item))
        return windows[0], replace(self, group=keys)

    def refuse_window_within(self, shows_window: Callable[[Node], bool]) -> None:
        """Refuse the window where its rows are still being chosen: in WHERE and in aggregates."""
        parts = [] if self.where is None else list(walk(self.where))
        for node in (*self.items, *([] if self.having is None else [self.having])):
            parts += [p for call in walk(node) if is_aggregate(call) for p in walk(call)]
        for part in parts:
            if shows_window(part):
                raise self.fail(
                    part, "the window is known only after its rows: use it in SELECT or HAVING"
                )

    def query(
        self,
        name: str,
        window: Window,
        time: str | None,
        shows_window: Callable[[Node], bool],
        window_as: Callable[[Node], Node] | None = None,
    ) -> Query:
        """The query that the statement asks; items for which `shows_window` are its window.

        With `window_as`, which writes the window as a column of answers, the query knows what is
        selected of its answers.
        """
        keys, outputs, shown = self._columns(shows_window, window_as)
        if self.where is not None:
            check_scalar(self.sql, self.where)
        having = None if self.having is None else self._over_keys(self.having, keys, outputs)
        return Query(
            name,
            aggs=outputs,
            window=window,
            where=None if self.where is None else write(self.where),
            by=[self._by(key, alias) for key, alias in keys],
            having=None if having is None else write(having),
            source=Source(write(self.table), time),
            trusted=False,
            shown=shown if window_as is not None else None,
        )

    def _columns(
        self, shows_window: Callable[[Node], bool], window_as: Callable[[Node], Node] | None
    ) -> tuple[list[tuple[Node, str | None]], dict[str, str], list[tuple[str, str]]]:
        """The keys, with the names that SELECT gives them, the outputs, and what is shown.

        What is shown is SQL over the answers' columns, with the names that SELECT gives it.
        """
        names: dict[int, str] = {}
        shown: list[tuple[Node | str, str]] = []
        outputs: dict[str, str] = {}
        taken = {"window": "that of the window's column"}
        normals = [normal(key) for key in self.group]
        for key in self.group:
            check_scalar(self.sql, self._key(key, shows_window))
        for item in self.items:
            node, alias = split_alias(item)
            if isinstance(node, Star):
                raise self.fail(item, "name the columns: a star is accepted in count(*) only")
            called = alias or default_name(node)
            if shows_window(node):
                if window_as is not None:
                    column = window_as(node)
                    shown.append((write(column), alias or default_name(column)))
                continue
            if normal(node) in normals:
                position = normals.index(normal(node))
                if position in names and window_as is None:
                    raise self.fail(item, f"{write(node)} is selected twice: once is enough")
                shown.append((quoted(names.setdefault(position, called)), called))
                continue
            if window_as is not None and self._is_of_answers(node, normals, shows_window):
                shown.append((node, called))
                continue
            if isinstance(node, Name):
                raise self.fail(
                    node, f"{write(node)} is neither under an aggregate nor in GROUP BY"
                )
            for part in walk(node):
                if shows_window(part):
                    raise self.fail(
                        part,
                        "the window stands alone in SELECT: the answers' column window has its "
                        "start and end to compute with",
                    )
            if not read_over_aggregates(self.sql, node, frozenset())[1]:
                raise self.fail(
                    node,
                    f"{write(node)} has no aggregate: an output is one, or is computed of some",
                )
            output = alias or default_name(node)
            if output.casefold() in taken:
                raise self.fail(
                    item, f"the name {output!r} is {taken[output.casefold()]}: use another with AS"
                )
            taken[output.casefold()] = "that of another output already"
            outputs[output] = write(node)
            shown.append((quoted(output), output))
        for position, key in enumerate(self.group):
            if window_as is not None and not isinstance(key, Name):
                names.setdefault(position, default_name(key))  # nobody sees it, if not selected
        keys = [(key, names.get(i)) for i, key in enumerate(self.group)]
        for key, name in keys:
            known = (name or default_name(key)).casefold()
            if known in taken:
                raise self.fail(key, f"the name {known!r} is {taken[known]}: use another with AS")
            taken[known] = "that of another key already"
        if not outputs:
            raise self.fail(None, "SELECT needs at least one aggregate, such as count(*) AS n")

        def of_answers(node: Node) -> Node:
            if window_as is not None and shows_window(node):
                return window_as(node)
            if normal(node) in normals:
                position = normals.index(normal(node))
                name = names.get(position) or default_name(self.group[position])
                return Name((quoted(name),), at=node.at)
            return rebuild(node, of_answers)

        def text(shown: Node | str) -> str:
            if isinstance(shown, str):
                return shown
            made = of_answers(shown)
            check_scalar(self.sql, made)
            return write(made)

        return keys, outputs, [(text(item), name) for item, name in shown]

    def _is_of_answers(
        self, node: Node, keys: list[Node], shows_window: Callable[[Node], bool]
    ) -> bool:
        """Whether an item is made of keys, the window and constants alone."""
        if normal(node) in keys or shows_window(node):
            return True
        if isinstance(node, (Name, Star, Lambda)) or is_aggregate(node):
            return False
        if isinstance(node, Call) and (node.distinct or node.where is not None):
            return False
        return all(self._is_of_answers(child, keys, shows_window) for child in children(node))

    def _key(self, key: Node, shows_window: Callable[[Node], bool]) -> Node:
        if isinstance(key, Literal):
            raise self.fail(key, "GROUP BY a position is not served: write the expression")
        if shows_window(key):
            raise self.fail(key, f"write the window itself: accepted is {self.shape}")
        for item in self.items:
            node, alias = split_alias(item)
            if (
                isinstance(key, Name)
                and alias is not None
                and normal(node) != normal(key)
                and alias.casefold() == unquoted(key.parts[-1]).casefold()
            ):
                raise self.fail(key, f"{alias} names {write(node)} in SELECT: group by that itself")
        return key

    def _by(self, key: Node, name: str | None) -> str:
        if name is None and not isinstance(key, Name):
            raise self.fail(key, "this key needs a name: put it into SELECT with AS name")
        if isinstance(key, Name) and (name is None or name == default_name(key)):
            return write(key)
        return f"{write(key)} AS {quoted(name or '')}"

    def _over_keys(
        self, having: Node, keys: list[tuple[Node, str | None]], outputs: dict[str, str]
    ) -> Node:
        """HAVING with keys by the names of their columns, which is how a `Query` says them."""
        named = {normal(key): name for key, name in keys if name is not None}
        aliases = {output.casefold() for output in outputs}

        def replaced(node: Node) -> Node:
            if is_aggregate(node):
                return node
            if isinstance(node, Name) and unquoted(node.parts[0]).casefold() in aliases:
                return node
            name = named.get(normal(node))
            if name is not None and not is_name(node, name.casefold()):
                return Name((quoted(name),), at=node.at)
            return rebuild(node, replaced)

        found = replaced(having)
        columns = {name or default_name(key) for key, name in keys}
        allowed = frozenset(("window", *(name.casefold() for name in (*columns, *outputs))))
        read_over_aggregates(self.sql, found, allowed)  # its errors have a place in this text
        return found


def _clauses(found: exp.Expression | None) -> dict[str, Any] | None:
    """The clauses of a SELECT, or None if it has other ones than a query may have."""
    if not isinstance(found, exp.Select):
        return None
    args = {clause.rstrip("_"): value for clause, value in found.args.items() if value}
    known = {"kind", "expressions", "from", "where", "group", "having"}
    if set(args) - known or "from" not in args or "expressions" not in args:
        return None
    if "group" in args and {k for k, v in args["group"].args.items() if v} - {"expressions"}:
        return None
    return args


def _table(masked: Masked, found: Any) -> tuple[Name, str | None]:
    if not isinstance(found, exp.Table) or not found.name:
        raise masked.fail(masked.tokens[0].start, "FROM needs one table")
    parts = tuple(masked.token(part.name).text for part in found.parts)
    alias = found.args.get("alias")
    extra = {key for key, value in found.args.items() if value} - {"this", "db", "catalog", "alias"}
    if extra or (alias is not None and alias.args.get("columns")):
        raise masked.fail(masked.tokens[0].start, "FROM needs one table, and nothing else about it")
    name = masked.token(alias.this.name).text if alias is not None else None
    return Name(parts, at=masked.token(found.parts[0].name).start), name


def _written(
    items: Iterable[Node],
    table: Name,
    alias: str | None,
    where: Node | None,
    group: tuple[Node, ...],
    having: Node | None,
) -> str:
    """The statement written back, to be compared with what was read."""
    listed = ", ".join(map(write_tersely, items))
    text = f"SELECT {listed} FROM {write_tersely(table)} {alias or ''}"
    text += "" if where is None else f" WHERE {write_tersely(where)}"
    text += f" GROUP BY {', '.join(map(write_tersely, group))}" if group else ""
    return text + ("" if having is None else f" HAVING {write_tersely(having)}")


def _unqualified(node: Node, tables: set[str]) -> Node:
    """The tree with `t.price` as `price`, where t is the table."""
    if isinstance(node, Name) and len(node.parts) > 1 and node.parts[0].lower() in tables:
        return Name(node.parts[1:], at=node.at)
    return rebuild(node, lambda child: _unqualified(child, tables))
