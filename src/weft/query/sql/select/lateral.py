"""Aliases that later items of SELECT use: `sum(a) AS s, count(*) AS n, s / n AS mean`.

Spark takes an alias only where the table has no column of the name, so there must be none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.errors import QueryError
from weft.query.calls import is_aggregate
from weft.query.names import quoted_name
from weft.query.sql.select.nodes import split_alias, unquoted
from weft.query.sql.select.select import Select
from weft.query.syntax.lexer import place
from weft.query.syntax.tree import Lambda, Name, Node, Op, rebuild, walk

_MOST = 2_000
"""Most parts of expressions that are copied to where their aliases are used. `a + a AS b` doubles
what its alias stands for, so a short text could otherwise make an expression of any size."""
_TOO_LARGE = (
    f"aliases that use each other stand for over {_MOST:,} parts: compute them in a subquery"
)


def lateral_aliases(select: Select) -> Select:
    """The statement with such aliases replaced by what they stand for.

    In an aggregate a name is always a column, and so is a name that is used as one elsewhere.
    """
    columns = set(_columns(select))
    known: dict[str, Node] = {}
    sizes: dict[str, int] = {}
    used: dict[str, None] = {}
    copied = 0

    def spelled(node: Node) -> Node:
        nonlocal copied
        if is_aggregate(node) or isinstance(node, Lambda):
            return node
        if isinstance(node, Name) and len(node.parts) == 1:
            alias = unquoted(node.parts[0]).casefold()
            if alias in known:
                copied += sizes[alias]
                if copied > _MOST:
                    raise QueryError(place(select.sql, node.at, _TOO_LARGE))
                used[alias] = None
                return known[alias]
        return rebuild(node, spelled)

    items: list[Node] = []
    for item in select.items:
        node, alias = split_alias(item)
        made = spelled(node)
        if alias is None:
            items.append(made)
            continue
        items.append(Op("AS", (made, Name((quoted_name(alias),), at=item.at)), at=item.at))
        if alias.casefold() in known:
            columns.add(alias.casefold())  # Spark refuses a name that two items have
            del known[alias.casefold()]
        elif alias.casefold() not in columns:
            plain = isinstance(made, Name)
            known[alias.casefold()] = made if plain else Op("PAREN", (made,), at=made.at)
            sizes[alias.casefold()] = sum(1 for _ in walk(made))
    return replace(select, items=tuple(items), absent=tuple(dict.fromkeys((*select.absent, *used))))


def _columns(select: Select) -> Iterator[str]:
    """The names that are columns: in WHERE, in keys, in aggregates and beside them."""
    nodes = [*select.group, *([] if select.where is None else [select.where])]
    calls = (part for item in select.items for part in walk(item) if is_aggregate(part))
    for node in (*nodes, *calls):
        for part in walk(node):
            if isinstance(part, Name):
                yield unquoted(part.parts[0]).casefold()
