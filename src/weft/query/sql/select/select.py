"""A SELECT statement as syntax trees, and the query that it asks for once its window is known.

All dialects share this step. Each removes its window from the tokens or from GROUP BY; the rest of
the statement is parsed, checked against its own tokens and turned into a `Query` in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from weft.errors import QueryError
from weft.query.calls import is_aggregate
from weft.query.expression import check_scalar
from weft.query.names import quoted_name
from weft.query.normal import normal
from weft.query.output import read_over_aggregates
from weft.query.query import Query
from weft.query.source import Source
from weft.query.sql.select.answers import AnswerColumns
from weft.query.sql.select.nodes import default_name, is_name, split_alias, unquoted
from weft.query.syntax.converter import convert
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.masking import STATEMENT_WORDS, Masked, mask, parse
from weft.query.syntax.reader import check, refuse_operators
from weft.query.syntax.tree import (
    Literal,
    Name,
    Node,
    rebuild,
    walk,
)
from weft.query.syntax.writer import write, write_tersely
from weft.query.window import Window

STREAM_TIME = "weft_stream_time"
"""Stands for the event-time column of a stream in statements that do not name one."""


@dataclass(frozen=True)
class Select:
    """A SELECT statement over one table, in any dialect; its columns have no table prefix."""

    sql: str
    shape: str
    """The form that the dialect accepts, for messages."""
    start: int
    items: tuple[Node, ...]
    table: Name
    where: Node | None
    group: tuple[Node, ...]
    having: Node | None
    absent: tuple[str, ...] = ()
    """Aliases that the statement uses; they would mean columns if the table had any so named."""
    needs: tuple[str, ...] = ()
    """What must be true of the rows for the window to mean the same; see `Source`."""

    @classmethod
    def read(cls, sql: str, tokens: tuple[Token, ...], shape: str, title: str) -> Select:
        """Parse a statement; written back, it must give the same tokens.

        `shape`, the form that the dialect accepts, and `title`, its name, are for messages.
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
        full = () if alias else table.parts
        return select.changed(lambda node: _unqualified(node, tables, full))

    def changed(self, change: Callable[[Node], Node]) -> Select:
        """The statement with `change` applied to each of its expressions."""
        return replace(
            self,
            items=tuple(change(item) for item in self.items),
            where=None if self.where is None else change(self.where),
            group=tuple(change(item) for item in self.group),
            having=None if self.having is None else change(self.having),
        )

    def spelled_out(self) -> Select:
        """The statement with ALL, positions and aliases in GROUP BY replaced by expressions.

        As in Spark, ALL is every item without an aggregate, and positions count items from 1. A
        column takes precedence over an alias of the same name, so there must be none (`absent`).
        """
        items = [split_alias(item)[0] for item in self.items]
        plain = [item for item in items if not any(map(is_aggregate, walk(item)))]
        if len(self.group) == 1 and is_name(self.group[0], "all"):
            return replace(self, group=tuple(dict.fromkeys(plain)))
        named = {name: node for name, node in self._aliases().items() if self._is_free(name, node)}
        called = [key for key in self.group if is_name(key, *named)]
        group = (named[_word(key)] if key in called else key for key in self.group)
        return replace(
            self,
            group=tuple(self._at_position(key, items, plain) for key in group),
            absent=(*self.absent, *dict.fromkeys(_word(key) for key in called)),
        )

    def _is_free(self, alias: str, node: Node) -> bool:
        """Whether an alias may be no column: `upper(k) AS k` says that there is a column `k`."""
        used = any(is_name(part, alias) for part in walk(node))
        having = () if self.having is None else walk(self.having)
        return not used or any(is_name(part, alias) for part in having)

    def _aliases(self) -> dict[str, Node]:
        """The items whose alias is not their own name, by alias."""
        found = {}
        for item in self.items:
            node, alias = split_alias(item)
            if alias is not None and not is_name(node, alias.casefold()):
                found[alias.casefold()] = node
        return found

    def names_of(self, asked: Node) -> tuple[str, ...]:
        """The aliases that the SELECT list gives to an expression, which is in normal form."""
        return tuple(name for name, node in self._aliases().items() if normal(node) == asked)

    def uses(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of these names that items or HAVING use, without those in `absent` already."""
        parts = [part for item in self.items for part in walk(split_alias(item)[0])]
        parts += [] if self.having is None else list(walk(self.having))
        used = {unquoted(part.parts[0]).casefold() for part in parts if isinstance(part, Name)}
        return tuple(name for name in names if name in used and name not in self.absent)

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
        """An error that points at a node in the text."""
        return QueryError(place(self.sql, self.start if node is None else node.at, message))

    def one_window(self, is_window: Callable[[Node], bool], form: str) -> tuple[Node, Select]:
        """The only window in GROUP BY, and the statement without it."""
        windows = [item for item in self.group if is_window(item)]
        if len(windows) != 1:
            raise self.fail(
                windows[1] if windows else None,
                f"GROUP BY needs one {form}, not {len(windows)}: accepted is {self.shape}",
            )
        keys = tuple(item for item in self.group if not is_window(item))
        return windows[0], replace(self, group=keys)

    def refuse_window_within(self, shows_window: Callable[[Node], bool]) -> None:
        """Refuse the window in WHERE and in aggregates, where its rows are still being selected."""
        parts = [] if self.where is None else list(walk(self.where))
        for node in (*self.items, *([] if self.having is None else [self.having])):
            parts += [p for call in walk(node) if is_aggregate(call) for p in walk(call)]
        for part in parts:
            if shows_window(part):
                raise self.fail(
                    part,
                    "the window is not known until rows are grouped: use it in SELECT or HAVING",
                )

    def query(
        self,
        name: str,
        window: Window,
        time: str | None,
        shows_window: Callable[[Node], bool],
        window_as: Callable[[Node], Node] | None = None,
        hidden: bool = False,
    ) -> Query:
        """The query that the statement asks for; `shows_window` tells which items are its window.

        With `window_as`, which writes the window as a column of the answers, the query records
        what is selected from its answers. With `hidden`, it may have outputs that serve only to
        compute selected items.
        """
        for key in self.group:
            self._check_key(key, shows_window)
        columns = AnswerColumns.of(
            self.sql, self.start, self.items, self.group, shows_window, window_as, hidden
        )
        keys, outputs = columns.keys, columns.outputs
        if self.where is not None:
            check_scalar(self.sql, self.where)
        having = self._over_answers(keys, outputs, shows_window, window_as)
        if time == STREAM_TIME:
            time = None
        return Query(
            name,
            aggs=outputs,
            window=window,
            where=None if self.where is None else write(self.where),
            by=[self._by(key, alias) for key, alias in keys],
            having=None if having is None else write(having),
            source=Source(write(self.table), time, self.absent, needs=self.needs),
            trusted=False,
            shown=columns.shown if window_as is not None else None,
        )

    def _check_key(self, key: Node, shows_window: Callable[[Node], bool]) -> None:
        if isinstance(key, Literal):
            raise self.fail(key, "GROUP BY a position is not supported: write the expression")
        if shows_window(key):
            raise self.fail(key, f"write the window itself: accepted is {self.shape}")
        check_scalar(self.sql, key)

    def _by(self, key: Node, name: str | None) -> str:
        if name is None and not isinstance(key, Name):
            raise self.fail(key, "this key needs a name: put it into SELECT with AS name")
        if isinstance(key, Name) and (name is None or name == default_name(key)):
            return write(key)
        return f"{write(key)} AS {quoted_name(name or '')}"

    def _over_answers(
        self,
        keys: list[tuple[Node, str | None]],
        outputs: dict[str, str],
        shows_window: Callable[[Node], bool],
        window_as: Callable[[Node], Node] | None,
    ) -> Node | None:
        """HAVING with each key replaced by the name of its column, as a `Query` expects."""
        if self.having is None:
            return None
        named = {normal(key): name for key, name in keys if name is not None}
        aliases = {output.casefold() for output in outputs}

        def replaced(node: Node) -> Node:
            if is_aggregate(node):
                return node
            if isinstance(node, Name) and unquoted(node.parts[0]).casefold() in aliases:
                return node
            if window_as is not None and shows_window(node):
                return window_as(node)
            name = named.get(normal(node))
            if name is not None and not is_name(node, name.casefold()):
                return Name((quoted_name(name),), at=node.at)
            return rebuild(node, replaced)

        found = replaced(self.having)
        columns = {name or default_name(key) for key, name in keys}
        allowed = frozenset(("window", *(name.casefold() for name in (*columns, *outputs))))
        read_over_aggregates(self.sql, found, allowed)  # its errors point into this text
        return found


def _word(name: Node) -> str:
    assert isinstance(name, Name)
    return unquoted(name.parts[-1]).casefold()


def _clauses(found: exp.Expression | None) -> dict[str, Any] | None:
    """The clauses of a SELECT, or None if it has a clause that a query may not have."""
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
        raise masked.fail(masked.tokens[0].start, "FROM needs one table and nothing else")
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
    """The statement written back, to be compared with its tokens."""
    listed = ", ".join(map(write_tersely, items))
    text = f"SELECT {listed} FROM {write_tersely(table)} {alias or ''}"
    text += "" if where is None else f" WHERE {write_tersely(where)}"
    text += f" GROUP BY {', '.join(map(write_tersely, group))}" if group else ""
    return text + ("" if having is None else f" HAVING {write_tersely(having)}")


def _unqualified(node: Node, tables: set[str], full: tuple[str, ...]) -> Node:
    """The tree with `t.price` as `price`, where t is the table; `full` is its name with schema."""
    parts = node.parts if isinstance(node, Name) else ()
    if 1 < len(full) < len(parts) and _words(parts[: len(full)]) == _words(full):
        return Name(parts[len(full) :], at=node.at)
    if isinstance(node, Name) and len(node.parts) > 1 and node.parts[0].lower() in tables:
        return Name(node.parts[1:], at=node.at)
    return rebuild(node, lambda child: _unqualified(child, tables, full))


def _words(parts: tuple[str, ...]) -> list[str]:
    return [unquoted(part).casefold() for part in parts]
