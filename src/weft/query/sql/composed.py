"""Statements with several SELECTs, or with clauses that a shared query does not have.

Each SELECT that groups rows by a window becomes a shared query. The rest of the statement is SQL
over its answers, which Spark runs as it is:

    WITH busy AS (SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '1 hour'), k)
    SELECT window.start, max(n) FROM busy GROUP BY window ORDER BY 2 DESC LIMIT 3

asks for `count(*)` by window and k, and `SELECT window AS window, k AS k, n AS n FROM
weft_answers_0` replaces its SELECT.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from zlib import crc32

from weft.errors import QueryError
from weft.query.finish import ANSWERS
from weft.query.names import quoted_name
from weft.query.query import Query
from weft.query.source import Relation, Source
from weft.query.sql.dialects.dialect import Dialect, ParsedSelect
from weft.query.sql.select.answers import OVER
from weft.query.sql.select.select import STREAM_TIME
from weft.query.sql.tokens.blocks import Block, blocks
from weft.query.sql.tokens.grouping import groupings, without_keys
from weft.query.sql.tokens.over import EXTRA, Clause, Lifted, aliased, filled, level, split
from weft.query.sql.tokens.refusals import refuse_statement
from weft.query.sql.tokens.relation import (
    ROWS,
    Rows,
    is_table,
    read_rows,
    table_names,
    used_definitions,
    without_tables,
    without_unused,
)
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Name, Node, rebuild
from weft.query.syntax.writer import write

KEPT = "weft_kept"
"""The column that says whether QUALIFY keeps a row."""
TIME = "weft_time"
"""Prefix of the column for a time that a statement computes; the checksum of its SQL follows."""
_OVER_NAME = re.compile(rf"{OVER}(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Composed:
    """A statement as queries, and as Spark SQL over their answers."""

    queries: tuple[Query, ...]
    finish: str
    is_plain: bool = False
    """Whether `finish` only selects from the answers of one query."""


def read_composed(sql: str, tokens: Sequence[Token], dialect: Dialect, name: str) -> Composed:
    """The queries of a statement of any shape; an error says why none of it can be shared."""
    for before, token in pairwise(tokens):
        if (before.word, token.word) == ("WITH", "RECURSIVE"):
            reason = "WITH RECURSIVE: a table that reads itself cannot be shared"
            raise QueryError(place(sql, before.start, reason))
    woven: list[_Woven] = []
    reasons: list[QueryError] = []
    for block in blocks(tokens):
        holds = [one.block for one in woven if block.holds(one.block)]
        needs = used_definitions(tokens, block)
        if holds or any(d.begin <= one.block.begin < d.end for d in needs for one in woven):
            continue  # its rows are answers
        if "GROUP" not in block.clauses and not _is_distinct(tokens, block):
            continue
        try:
            woven.append(_Woven.read(sql, tokens, block, dialect))
        except QueryError as error:
            reasons.append(error)
    if not woven:
        reason = "no SELECT of it groups rows by a window"
        raise reasons[0] if reasons else QueryError(place(sql, tokens[0].start, reason))
    woven.sort(key=lambda one: one.block.begin)
    queries: list[Query] = []
    finish, position = "", tokens[0].start
    alone = sum(len(one.parts) for one in woven) == 1
    for one in woven:
        made = []
        for part in one.parts:
            number = len(queries)
            (query,) = part.parsed.queries(name if alone else f"{name}_{number + 1}", hidden=True)
            queries.append(one.placed(query, part.rows))
            made.append((query, f"{ANSWERS}{number}"))
        begin, end = one.place(tokens)
        finish += f"{sql[position:begin]}{one.finish(made)}"
        position = end
    rest = sql[position : tokens[-1].end]
    first = woven[0]
    whole = first.place(tokens) == (tokens[0].start, tokens[-1].end)
    bound = any(query.source is not None and query.source.needs for query in queries)
    finish = without_unused(f"{finish}{rest}")
    return Composed(tuple(queries), finish, whole and first.is_plain and not bound)


def _is_distinct(tokens: Sequence[Token], block: Block) -> bool:
    begin, end = block.clauses["SELECT"]
    return end - begin > 2 and tokens[begin + 1].word == "DISTINCT"


@dataclass(frozen=True)
class _Part:
    """One grouping of a SELECT, parsed, and the rows that it reads."""

    parsed: ParsedSelect
    rows: Rows | None


@dataclass(frozen=True)
class _Woven:
    """A SELECT that is shared, and its clauses that are SQL over the answers."""

    block: Block
    parts: tuple[_Part, ...]
    lifted: Lifted
    distinct: bool
    qualify: Clause | None
    order: Clause | None
    limit: str

    @classmethod
    def read(cls, sql: str, tokens: Sequence[Token], block: Block, dialect: Dialect) -> _Woven:
        """Read a SELECT as a shared query; refused if it cannot be one."""
        if "FROM" not in block.clauses or "WINDOW" in block.clauses:
            clause = "FROM" if "FROM" not in block.clauses else "WINDOW"
            reason = "it has no FROM" if clause == "FROM" else "WINDOW: write OVER (...) itself"
            if clause == "FROM" and tokens[0].word == "FROM":
                reason = "write SELECT ... FROM ... in this order"
            raise QueryError(place(sql, tokens[block.begin].start, reason))
        distinct = _is_distinct(tokens, block)
        select = block.clauses["SELECT"]
        if select[1] - select[0] < 2:
            raise QueryError(place(sql, tokens[block.begin].start, "it selects nothing"))
        items = list(tokens[select[0] + 1 + distinct : select[1]])
        named = [aliased(item) for item in split(items)]
        aliases = {alias: list(item) for item, alias in named if alias is not None}
        lifted = Lifted(
            sql,
            {alias: item for alias, item in aliases.items() if not _is_itself(alias, item)},
            {item[-1].text.strip("`").lower(): item for item, a in named if _is_field(item, a)},
        )
        items = lifted.without_over(items)
        qualify = order = None
        limit = ""
        if "QUALIFY" in block.clauses:
            begin, end = block.clauses["QUALIFY"]
            qualify = lifted.condition(tokens[begin + 1 : end])
        if block.alone and "ORDER" in block.clauses:
            begin, end = block.clauses["ORDER"]
            if tokens[begin].word != "ORDER":
                reason = f"{tokens[begin].word} BY orders no rows of a table"
                raise QueryError(place(sql, tokens[begin].start, reason))
            order = lifted.ordering(tokens[begin + 2 : end])
        if block.alone and "LIMIT" in block.clauses:
            begin, end = block.clauses["LIMIT"]
            limit = sql[tokens[begin].start : tokens[end - 1].end]
        rest = list(tokens[select[1] : block.core_end])
        if distinct and "GROUP" not in block.clauses:
            rest += _grouped(items)
            distinct = False
        for extra, name in lifted.items():
            items += _item(extra, name)
        parts = []
        for some, after in _by_grouping(sql, tokens, block, items, rest):
            whole = [tokens[select[0]], *some, *after]
            reduced, rows = _over_one_table(sql, tokens, block, whole)
            refuse_statement(sql, tuple(reduced), dialect.refused)
            parsed = dialect.read(sql, tuple(reduced))
            parsed.queries("q", hidden=True)  # raises whatever is wrong with it
            parts.append(_Part(parsed, rows))
        if len(parts) > 1 and (lifted.extras or lifted.overs):
            reason = "several groupings, ordered or ranked by what is not selected"
            raise QueryError(place(sql, tokens[block.begin].start, reason))
        return cls(block, tuple(parts), lifted, distinct, qualify, order, limit)

    @property
    def is_plain(self) -> bool:
        """Whether it has only clauses that a shared query has."""
        clauses = self.qualify or self.order or self.limit or self.lifted.overs
        return not clauses and not self.distinct and len(self.parts) == 1

    def place(self, tokens: Sequence[Token]) -> tuple[int, int]:
        """Its range in the text, with the clauses that it ends with."""
        end = self.block.core_end
        for clause in ("QUALIFY", *(("ORDER", "LIMIT") if self.block.alone else ())):
            end = max(end, self.block.clauses.get(clause, (0, 0))[1])
        return tokens[self.block.begin].start, tokens[end - 1].end

    def placed(self, query: Query, rows: Rows | None) -> Query:
        """The query with its rows as source: a relation, if they are more than a table."""
        source = query.source
        assert source is not None
        absent = (*source.absent, *sorted(self.lifted.called))
        if source.time is not None and _plain(source.time) == STREAM_TIME:
            source = replace(source, time=None)
        time = source.time or "ts"
        computed = not is_column(time)
        if rows is None and computed:
            rows = Rows(source.table, "", {})
        if rows is None:
            return query.on(replace(source, absent=absent))
        name = ""
        needed = sorted({*query.columns, *(() if computed else (_plain(time),))})
        columns = [rows.column(column) for column in needed]
        if computed:
            name = f"{TIME}_{crc32(time.encode()):08x}"
            columns.append((_with_tables(time, rows), name))
        relation = Relation(rows.text, tuple(columns), rows.definitions)
        named = name if computed else _plain(time)
        return query.on(Source(rows.text, named, absent, relation, source.needs))

    def finish(self, made: Sequence[tuple[Query, str]]) -> str:
        """What replaces it: a SELECT from its answers."""
        if len(made) == 1:
            return self._clauses(*made[0])
        union = " UNION ALL ".join(self._selected(query, answers)[0] for query, answers in made)
        order = "" if self.order is None else f" ORDER BY {filled(self.order, ())}"
        return f"SELECT {'DISTINCT ' if self.distinct else ''}* FROM ({union}){order} {self.limit}"

    def _clauses(self, query: Query, answers: str) -> str:
        text, whole, extras = self._selected(query, answers)
        condition = "" if self.qualify is None else whole(filled(self.qualify, extras))
        if condition and self.order is None:
            # Among the items, where none of their aliases hides a column.
            text = text.replace(f" FROM {answers}", f", {condition} AS {KEPT} FROM {answers}")
            names = ", ".join(quoted_name(name) for name in _names(query))
            text = f"SELECT {names} FROM ({text}) WHERE {KEPT}"
        if self.distinct:
            text = f"SELECT DISTINCT{text.removeprefix('SELECT')}"
        if condition and self.order is not None:
            text += f" QUALIFY {condition}"
        if self.order is not None:
            text += f" ORDER BY {whole(filled(self.order, extras))}"
        return f"{text} {self.limit}".rstrip()

    def _selected(
        self, query: Query, answers: str
    ) -> tuple[str, Callable[[str], str], Sequence[str]]:
        """The SELECT itself, and what its other clauses need."""
        shown = query.shown or ()
        extras = [sql for sql, name in shown if name.startswith(EXTRA)]
        overs = [filled(over, extras) for over in self.lifted.overs]

        def whole(text: str) -> str:
            return _OVER_NAME.sub(lambda found: whole(overs[int(found[1])]), text)

        names = _names(query)
        items = [f"{whole(sql)} AS {quoted_name(name)}" for sql, name in shown if name in names]
        return f"SELECT {', '.join(items)} FROM {answers}", whole, extras


def _names(query: Query) -> list[str]:
    """The names of a query's SELECT items, without those that only other clauses need."""
    return [name for _, name in query.shown or () if not name.startswith(EXTRA)]


def _by_grouping(
    sql: str,
    tokens: Sequence[Token],
    block: Block,
    items: list[Token],
    rest: list[Token],
) -> Iterator[tuple[list[Token], list[Token]]]:
    """The items of a SELECT, and its clauses from FROM on, for each of its groupings."""
    group = block.clauses.get("GROUP")
    found = None if group is None else groupings(sql, tokens[group[0] + 2 : group[1]])
    if group is None or found is None:
        yield items, rest
        return
    plain = [key for key in found.keys if not all(key in some for some in found.choices)]
    before = tokens[block.clauses["SELECT"][1] : group[0]]
    having = tokens[group[1] : block.core_end]
    for some in found.choices:
        missing = [key for key in plain if key not in some]
        listed: list[Token] = []
        for item in split(items):
            made = without_keys(sql, item, missing, found.keys)
            if [token.word for token in made] == ["NULL"]:
                made += [*_item(item, "")[-2:-1], item[-1]]
            listed += [*([_comma(item[0])] if listed else []), *made]
        by = [token for key in some for token in (_comma(key[0]), *key)][1:]
        after = without_keys(sql, having, missing, found.keys)
        yield listed, [*before, *tokens[group[0] : group[0] + 2], *by, *after]


def _over_one_table(
    sql: str,
    tokens: Sequence[Token],
    block: Block,
    reduced: list[Token],
) -> tuple[list[Token], Rows | None]:
    """A SELECT and its rows; if they are more than a table, FROM has a name for them."""
    begin, end = block.clauses["FROM"]
    inside = tokens[begin + 1 : end]
    where = block.clauses.get("WHERE")
    nested = where is not None and any(t.word == "SELECT" for t in tokens[where[0] : where[1]])
    if is_table(inside, block.definitions) and not nested:
        return reduced, None
    rows = read_rows(sql, tokens, block, where if nested else None)
    first, last = tokens[begin], tokens[end - 1]
    at = next(i for i in level(reduced) if reduced[i].start == first.start)
    until = next(i for i in range(at, len(reduced)) if reduced[i].end >= last.end) + 1
    if nested:
        assert where is not None
        ends = tokens[where[1] - 1].end
        until = next(i for i in range(until, len(reduced)) if reduced[i].end >= ends) + 1
    table = Token("name", ROWS, tokens[begin + 1].start, last.end, ROWS.upper())
    found, columns = without_tables(
        [*reduced[: at + 1], table, *reduced[until:]], table_names(inside)
    )
    return found, replace(rows, columns=columns)


def _grouped(items: Sequence[Token]) -> list[Token]:
    """GROUP BY for a SELECT DISTINCT without one: a row for each distinct value."""
    first = items[0]
    words = [Token("name", word, first.start, first.start, word) for word in ("GROUP", "BY")]
    listed: list[Token] = []
    for item in split(items):
        listed += [*([_comma(first)] if listed else []), *aliased(item)[0]]
    return [*words, *listed]


def _item(tokens: Sequence[Token], name: str) -> list[Token]:
    """One more item of a SELECT."""
    last = tokens[-1]
    as_ = Token("name", "AS", last.end, last.end, "AS")
    called = Token("name", name, last.end, last.end, name.upper())
    return [_comma(tokens[0]), *tokens, as_, called]


def _comma(token: Token) -> Token:
    return Token("op", ",", token.start, token.start, ",")


def _is_field(item: Sequence[Token], alias: str | None) -> bool:
    if alias is not None or item[-1].kind not in ("name", "quoted"):
        return False
    return len(item) == 1 or item[-2].text == "."


def _is_itself(alias: str, item: Sequence[Token]) -> bool:
    return len(item) == 1 and item[0].text.strip("`").casefold() == alias


def is_column(time: str | None) -> bool:
    """Whether a time is a column rather than an expression."""
    node = None if time is None else read_expression(time)
    return node is None or (isinstance(node, Name) and len(node.parts) == 1)


def _plain(time: str) -> str:
    return time.strip("`")


def _with_tables(sql: str, rows: Rows) -> str:
    """An expression over the rows, with its original table names before the columns."""

    def named(node: Node) -> Node:
        if isinstance(node, Name):
            text = rows.columns.get(_plain(node.parts[0]).casefold())
            return node if text is None else Name((text, *node.parts[1:]), at=node.at)
        return rebuild(node, named)

    return write(named(read_expression(sql)))
