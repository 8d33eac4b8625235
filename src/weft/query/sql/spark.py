"""Queries in Spark SQL.

    -- name: hourly_hi
    SELECT window, symbol, max(price) AS hi
    FROM trades
    WHERE volume > 50
    GROUP BY window(ts, '1 hour', '10 minutes'), symbol
    HAVING count(*) > 10;

The answers always carry the window and every key, whether or not they are in the SELECT list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from weft.errors import QueryError, WindowError
from weft.query.aggregates.calls import is_aggregate
from weft.query.aggregates.output import read_over_aggregates
from weft.query.duration import Duration, parse_duration
from weft.query.expression import check_scalar, function_name
from weft.query.normal import normal
from weft.query.query import Query, Source
from weft.query.sql.refusals import refuse_statement
from weft.query.syntax.converter import convert
from weft.query.syntax.lexer import Token, place, tokenize
from weft.query.syntax.masking import STATEMENT_WORDS, Masked, mask, parse
from weft.query.syntax.reader import check
from weft.query.syntax.tree import Call, Literal, Name, Node, Op, Star, rebuild, walk
from weft.query.syntax.writer import write, write_tersely
from weft.query.window import Window

_NAME = re.compile(r"--[ \t]*name:[ \t]*([^\n]*)", re.IGNORECASE)
_SHAPE = "SELECT ... FROM table [WHERE ...] GROUP BY window(time, range[, slide[, offset]])[, keys]"


def parse_query(text: str, name: str | None = None) -> Query:
    """The query that one SELECT statement asks.

    >>> q = parse_query("SELECT symbol, max(price) AS hi FROM t "
    ...                 "GROUP BY window(ts, '1 hour', '10 minutes'), symbol", name="hourly_hi")
    >>> q
    Query('hourly_hi', aggs={'hi': 'max(price)'},
          window=Window(range='1 hour', slide='10 minutes'), by=['symbol'])
    >>> q.source
    Source(table='t', time='ts')
    """
    statements = _statements(text)
    if len(statements) != 1:
        raise QueryError(f"one SELECT statement is expected, not {len(statements)}")
    return _query(text, statements[0], name or statements[0].name or "q1")


def parse_queries(text: str) -> list[Query]:
    """The queries of a text: SELECT statements with `;` between them.

    A comment `-- name: xyz` before a statement names its query; others are q1, q2, ... by place.

    >>> [q.name for q in parse_queries('''
    ... -- name: n_per_minute
    ... SELECT count(*) AS n FROM t GROUP BY window(ts, '1 minute');
    ... SELECT count(*) AS n FROM t GROUP BY window(ts, '1 hour');
    ... ''')]
    ['n_per_minute', 'q2']
    """
    return [
        _query(text, statement, statement.name or f"q{position}")
        for position, statement in enumerate(_statements(text), start=1)
    ]


@dataclass(frozen=True)
class _Statement:
    name: str | None
    tokens: tuple[Token, ...]


def _statements(text: str) -> list[_Statement]:
    if not isinstance(text, str):
        raise QueryError(f"{text!r} is not SQL: accepted is a string")
    found: list[_Statement] = []
    tokens: list[Token] = []
    begin = 0
    for token in (*tokenize(text), None):
        if token is not None and token.text != ";":
            tokens.append(token)
            continue
        if tokens:
            names = _NAME.findall(text[begin : tokens[0].start])
            name = names[-1].strip() if names else ""
            found.append(_Statement(name or None, tuple(tokens)))
        tokens, begin = [], 0 if token is None else token.end
    return found


def _query(sql: str, statement: _Statement, name: str) -> Query:
    try:
        refuse_statement(sql, statement.tokens)
        return _Select.read(sql, statement.tokens).query(name)
    except QueryError as error:
        prefix = f"query {name!r}: "
        message = str(error)
        raise type(error)(message if message.startswith(prefix) else f"{prefix}{message}") from None


@dataclass(frozen=True)
class _Select:
    """A SELECT statement as trees."""

    sql: str
    start: int
    items: tuple[Node, ...]
    table: Name
    where: Node | None
    group: tuple[Node, ...]
    having: Node | None

    @classmethod
    def read(cls, sql: str, tokens: tuple[Token, ...]) -> _Select:
        masked = mask(sql, STATEMENT_WORDS, tokens)
        found = parse(masked)[0]
        if not isinstance(found, exp.Select):
            raise masked.fail(tokens[0].start, f"accepted is {_SHAPE}")
        args = {clause.rstrip("_"): value for clause, value in found.args.items() if value}
        unknown = set(args) - {"kind", "expressions", "from", "where", "group", "having"}
        if unknown or "from" not in args:
            raise masked.fail(tokens[0].start, f"accepted is {_SHAPE}")
        table, alias = _table(masked, args["from"].this)

        def read(node: Any) -> Node:
            return convert(masked, node)

        items = tuple(read(item) for item in args["expressions"])
        where = read(args["where"].this) if "where" in args else None
        having = read(args["having"].this) if "having" in args else None
        group = _group(masked, args.get("group"))
        written = _written(items, table, alias, where, group, having)
        check(masked, written, tokens[0].start, optional=frozenset(("AS",)))

        def bare(node: Node) -> Node:
            return _unqualified(node, {table.parts[-1].lower(), (alias or "").lower()})

        return cls(
            sql,
            tokens[0].start,
            tuple(bare(item) for item in items),
            table,
            where and bare(where),
            tuple(bare(item) for item in group),
            having and bare(having),
        )

    def fail(self, node: Node | None, message: str) -> QueryError:
        """An error that quotes the place of a node."""
        return QueryError(place(self.sql, self.start if node is None else node.at, message))

    def query(self, name: str) -> Query:
        """The query that the statement asks."""
        window, time = self._window()
        keys = [item for item in self.group if not _is_window_call(item)]
        by, outputs = self._columns(keys)
        if self.where is not None:
            check_scalar(self.sql, self.where)
        return Query(
            name,
            aggs=outputs,
            window=window,
            where=None if self.where is None else write(self.where),
            by=by,
            having=None if self.having is None else write(self.having),
            source=Source(write(self.table), time),
        )

    def _window(self) -> tuple[Window, str]:
        windows = [item for item in self.group if _is_window_call(item)]
        if len(windows) != 1:
            raise self.fail(
                windows[1] if windows else None,
                f"GROUP BY needs one window(time, range[, slide[, offset]]), not {len(windows)}: "
                f"accepted is {_SHAPE}",
            )
        call = windows[0]
        assert isinstance(call, Call)
        if not 2 <= len(call.args) <= 4:
            raise self.fail(call, "window takes (time, range[, slide[, offset]])")
        fields = ("range", "slide", "offset")
        given = {
            field: self._duration(field, arg)
            for field, arg in zip(fields, call.args[1:], strict=False)
        }
        slide = given.get("slide", given["range"])
        window = Window.of_units(given["range"], slide, given.get("offset", 0), "time")
        check_scalar(self.sql, call.args[0])
        return window, write(call.args[0])

    def _duration(self, field: str, node: Node) -> int:
        try:
            micros = parse_duration(self._constant(field, node), field)
            if micros <= 0 and field != "offset":
                raise WindowError(f"{field}={write(node)} must be longer than nothing")
        except WindowError as error:
            raise WindowError(place(self.sql, node.at, str(error))) from None
        return micros

    def _constant(self, field: str, node: Node) -> Duration:
        if isinstance(node, Literal):
            if node.kind == "string":
                return node.text[1:-1]
            if node.kind == "number" and node.text.isdigit():
                return int(node.text)  # Spark: microseconds
            if node.kind == "typed" and node.text.startswith("INTERVAL"):
                return node.text.replace("'", "")
        raise self.fail(node, f"{field} must be a constant such as '10 minutes'")

    def _columns(self, keys: list[Node]) -> tuple[list[str], dict[str, str]]:
        """The entries of `by`, with the names that SELECT gives them, and the outputs."""
        names: dict[int, str] = {}
        outputs: dict[str, str] = {}
        normals = [normal(key) for key in keys]
        for key in keys:
            check_scalar(self.sql, self._key(key))
        for item in self.items:
            node, alias = _split_alias(item)
            if isinstance(node, Star):
                raise self.fail(item, "name the columns: a star is accepted in count(*) only")
            if isinstance(node, Name) and node.parts[0].lower() == "window":
                continue
            if _is_window_call(node):
                continue
            if normal(node) in normals:
                names.setdefault(normals.index(normal(node)), alias or _default_name(node))
                continue
            if not any(map(is_aggregate, walk(node))) and isinstance(node, Name):
                raise self.fail(
                    node, f"{write(node)} is neither under an aggregate nor in GROUP BY"
                )
            read_over_aggregates(self.sql, node, frozenset())
            output = alias or _default_name(node)
            if output.casefold() in {known.casefold() for known in outputs}:
                raise self.fail(item, f"there are two outputs {output!r}: name one with AS")
            outputs[output] = write(node)
        if not outputs:
            raise self.fail(None, "SELECT needs at least one aggregate, such as count(*) AS n")
        return [self._by(key, names.get(i)) for i, key in enumerate(keys)], outputs

    def _key(self, key: Node) -> Node:
        if isinstance(key, Literal):
            raise self.fail(key, "GROUP BY a position is not served: write the expression")
        if isinstance(key, Name) and key.parts[0].lower() == "window":
            raise self.fail(key, "write the window itself: GROUP BY window(time, range, slide)")
        for item in self.items:
            node, alias = _split_alias(item)
            if (
                isinstance(key, Name)
                and alias is not None
                and normal(node) != normal(key)
                and alias.casefold() == key.parts[-1].strip("`").casefold()
            ):
                raise self.fail(key, f"{alias} names {write(node)} in SELECT: group by that itself")
        return key

    def _by(self, key: Node, name: str | None) -> str:
        if name is None and not isinstance(key, Name):
            raise self.fail(key, "this key needs a name: put it into SELECT with AS name")
        if isinstance(key, Name) and (name is None or name == _default_name(key)):
            return write(key)
        return f"{write(key)} AS {_quoted(name or '')}"


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


def _group(masked: Masked, found: Any) -> tuple[Node, ...]:
    if found is None:
        return ()
    extra = {key for key, value in found.args.items() if value} - {"expressions"}
    if extra:
        raise masked.fail(masked.tokens[0].start, f"accepted is {_SHAPE}")
    return tuple(convert(masked, item) for item in found.expressions)


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


def _is_window_call(node: Node) -> bool:
    return isinstance(node, Call) and function_name(node) == "window"


def _split_alias(item: Node) -> tuple[Node, str | None]:
    if isinstance(item, Op) and item.op == "AS":
        text = write(item.args[1])
        return item.args[0], text[1:-1].replace("``", "`") if text.startswith("`") else text
    return item, None


def _default_name(node: Node) -> str:
    """The name that Spark gives a column without one (its own spelling for simple calls)."""
    if isinstance(node, Name):
        return node.parts[-1].strip("`")
    if isinstance(node, Call) and node.args and isinstance(node.args[0], Star):
        return f"{function_name(node)}(1)"
    return write(node)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
