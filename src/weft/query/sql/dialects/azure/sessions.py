"""PARTITION BY of sessions in Azure Stream Analytics.

    GROUP BY user, SessionWindow(minute, 5, 60) OVER (PARTITION BY user)

weft has sessions per group of GROUP BY, so PARTITION BY must list the same keys, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.errors import QueryError
from weft.query.sql.dialects.azure.windows import HOPPING, SESSIONS, TUMBLING
from weft.query.sql.tokens.cursor import clause
from weft.query.sql.tokens.over import split
from weft.query.syntax.lexer import Token, closed, place

_WINDOWS = (*TUMBLING, *HOPPING, *SESSIONS, "windows")


def without_partitions(sql: str, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The tokens of one SELECT without the PARTITION BY of its sessions.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "SELECT 1 FROM t GROUP BY k, Session(minute, 5, 9) OVER (PARTITION BY k) HAVING a"
    >>> " ".join(token.text for token in without_partitions(sql, tuple(tokenize(sql))))
    'SELECT 1 FROM t GROUP BY k , Session ( minute , 5 , 9 ) HAVING a'
    """
    begin, end = clause(tokens, "GROUP"), clause(tokens, "HAVING")
    if begin is None:
        return tokens
    source = tokens[clause(tokens, "FROM") : clause(tokens, "WHERE") or begin]
    gone = list(_partitions(sql, split(tokens[begin + 2 : end]), source))
    return tuple(
        token for token in tokens if not any(low <= token.start < high for low, high in gone)
    )


def item_without_partition(
    sql: str, item: Sequence[Token], items: Sequence[Sequence[Token]], source: Sequence[Token]
) -> Sequence[Token]:
    """An item of GROUP BY, one of `items`, without the PARTITION BY of sessions in it.

    `source` is the FROM clause, which has the names of the tables.
    """
    gone = list(_partitions(sql, items, source))
    return [token for token in item if not any(low <= token.start < high for low, high in gone)]


def _partitions(
    sql: str, items: Sequence[Sequence[Token]], source: Sequence[Token]
) -> Iterator[tuple[int, int]]:
    """The ranges of `OVER (PARTITION BY ...)` of sessions, each of which must list every key."""
    windows = [item for item in items if len(item) > 2 and _is_window(item)]
    tables = {_text([token]) for token in source}
    keys = [_text(item) for item in items if item not in windows]
    for item in windows:
        for at, token in enumerate(item):
            if token.word != "OVER" or not _ends_session(item, at) or at + 3 >= len(item):
                continue
            closing = closed(item, at + 1)
            inside = item[at + 2 : closing]
            if item[at + 1].text != "(" or [one.word for one in inside[:2]] != ["PARTITION", "BY"]:
                continue
            _check(sql, token, [_text(one) for one in split(inside[2:])], keys, tables)
            yield token.start, item[closing].end


def _check(sql: str, token: Token, listed: list[str], keys: list[str], tables: set[str]) -> None:
    """Refuse a PARTITION BY whose keys are not those of GROUP BY."""
    said = f"OVER (PARTITION BY {', '.join(listed)})"
    more = [one for one in listed if not any(_same(one, key, tables) for key in keys)]
    if more:
        reason = f"{said}: sessions are of the groups of GROUP BY: group by {', '.join(more)} too"
        raise QueryError(place(sql, token.start, reason))
    fewer = [key for key in keys if not any(_same(one, key, tables) for one in listed)]
    if fewer:
        reason = (
            f"{said}: sessions are of the groups of GROUP BY, and of no larger ones: "
            f"list {', '.join(fewer)} too, or group by {', '.join(listed)} alone"
        )
        raise QueryError(place(sql, token.start, reason))


def _is_window(item: Sequence[Token]) -> bool:
    return item[0].word.lower() in _WINDOWS and item[1].text == "("


def _ends_session(item: Sequence[Token], at: int) -> bool:
    """Whether a call that defines sessions ends just before an index."""
    return any(
        item[opening].text == "("
        and item[opening - 1].word.lower() in SESSIONS
        and closed(item, opening) == at - 1
        for opening in range(1, at)
    )


def _text(item: Sequence[Token]) -> str:
    """A key in the form to compare: without quotes, in lower case."""
    texts = [token.text.strip("`").lower() for token in item if token.text not in ("[", "]")]
    return " ".join(texts).replace(" . ", ".")


def _same(one: str, key: str, tables: set[str]) -> bool:
    """Whether two keys are the same, where either may begin with the name of its table.

    >>> _same("i.k", "k", {"i"}), _same("device.k", "k", {"i"}), _same("i.k", "j.k", {"i", "j"})
    (True, False, False)
    """
    pairs = (one, key), (key, one)
    return one == key or any(
        long.partition(".")[2] == short and long.partition(".")[0] in tables
        for long, short in pairs
    )
