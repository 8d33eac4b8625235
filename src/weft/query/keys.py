"""A grouping key: an expression over one row, and the name of its column in the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from weft.errors import ExpressionError
from weft.query.expression import check_scalar
from weft.query.normal import normal
from weft.query.quoting import LONG, quoted
from weft.query.syntax.reader import read_expression
from weft.query.syntax.tree import Name, Op
from weft.query.syntax.writer import write


@dataclass(frozen=True)
class Key:
    """One grouping key; keys with equal expressions form equal groups, whatever their names."""

    name: str
    expression: str
    """Normalised SQL."""
    native: str = field(compare=False, repr=False)
    """The expression as given."""


@lru_cache(maxsize=65536)
def read_key(sql: str) -> Key:
    """The key that an entry of `by` describes: a column, or `expression AS name`.

    >>> read_key("symbol")
    Key(name='symbol', expression='symbol')
    >>> read_key("date_trunc('DAY', Ts) AS day")
    Key(name='day', expression="date_trunc('DAY', ts)")
    """
    node, name = read_expression(sql), None
    if isinstance(node, Op) and node.op == "AS":
        node, alias = node.args
        name = _unquoted(write(alias))
    elif isinstance(node, Name):
        name = _unquoted(node.parts[-1])  # as Spark names a field
    if name is None:
        short = sql if len(sql) <= LONG else "..."
        raise ExpressionError(f"{quoted(sql, LONG)} needs a name: write '{short} AS name'")
    check_scalar(sql, node)
    return Key(name, write(normal(node)), write(node))


def _unquoted(text: str) -> str:
    return text[1:-1].replace("``", "`") if text.startswith("`") else text
