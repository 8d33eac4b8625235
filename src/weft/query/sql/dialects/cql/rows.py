"""CQL's windows that move with every row, as Spark window functions: one answer per row.

    FROM t [RANGE '1 hour'] GROUP BY k               sum(x) OVER (PARTITION BY k ORDER BY time
                                                       RANGE BETWEEN '1 hour' PRECEDING AND ...)
    FROM t [ROWS 100] GROUP BY k                     the same, over row numbers in order of time
    FROM t [PARTITION BY k ROWS 100] GROUP BY k      the same, over row numbers within k

The window applies before WHERE, so rows are numbered before they are filtered.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import QueryError
from weft.query.functions import AGGREGATES
from weft.query.sql.dialects.cql.windows import FORM, length_at, window_clause
from weft.query.sql.select.select import STREAM_TIME
from weft.query.sql.tokens.blocks import Block, blocks
from weft.query.sql.tokens.cursor import Cursor
from weft.query.sql.tokens.over import split
from weft.query.syntax.lexer import Token, closed, place, tokenize

_NUMBER = "weft_number"


def in_spark(sql: str) -> str:
    """Translate a SELECT whose window moves with every row into Spark SQL."""
    tokens = tuple(tokenize(sql))
    at, found = window_clause(tokens), blocks(tokens)
    if at is None or len(found) != 1 or tokens[0].word != "SELECT":
        raise QueryError(place(sql, tokens[0].start, "CQL is read one SELECT at a time"))
    end = next((i for i in range(at, len(tokens)) if tokens[i].text == "]"), len(tokens) - 1)
    block, inside = found[0], tokens[at + 1 : end]
    _refuse_more(sql, tokens, block, at, end)
    group = block.clauses.get("GROUP")
    keys = [] if group is None else [_text(sql, k) for k in split(tokens[group[0] + 2 : group[1]])]
    begin = block.clauses["FROM"][0] + 1
    table = _text(sql, tokens[begin:at])
    name = tokens[end + 1 : block.clauses["FROM"][1]]
    if name:  # FROM t [ROWS 5] AS a
        table = f"{table} AS {name[-1].text}"
    rows, order, frame = _window(sql, Cursor(sql, tokens, at + 1), inside, table, keys)
    by = f"PARTITION BY {', '.join(keys)} " if keys else ""
    over = f" OVER ({by}ORDER BY {order} {frame})"
    select = block.clauses["SELECT"]
    items = _over(sql, tokens[select[0] + 1 : select[1]], over)
    where = _text(sql, tokens[slice(*block.clauses.get("WHERE", (0, 0)))])
    having = tokens[slice(*block.clauses.get("HAVING", (0, 0)))][1:]
    kept = f" QUALIFY {_over(sql, having, over)}" if having else ""
    return f"SELECT {items} FROM {rows} {where}{kept}"


def _refuse_more(sql: str, tokens: Sequence[Token], block: Block, begin: int, end: int) -> None:
    """Refuse what is neither the one table with its window, nor a clause that is translated."""
    if "FROM" not in block.clauses:
        raise QueryError(place(sql, tokens[0].start, "a window needs FROM and a table before it"))
    first, last = block.clauses["FROM"]
    for at in (*range(first + 1, begin), *range(end + 1, last)):
        if tokens[at].text == "," or tokens[at].word == "JOIN":
            reason = "a window that moves with every row is supported over one table"
            raise QueryError(place(sql, tokens[at].start, reason))
    name = [token for token in tokens[end + 1 : last] if token.word != "AS"]
    if len(name) > 1 or (name and name[0].kind not in ("name", "quoted")):
        raise QueryError(place(sql, name[0].start, "only a name is accepted after the window"))
    for clause, (start, _) in block.clauses.items():
        if clause not in ("SELECT", "FROM", "WHERE", "GROUP", "HAVING"):
            reason = f"{clause} is not supported beside a window that moves with every row"
            raise QueryError(place(sql, tokens[start].start, reason))


def _window(
    sql: str, cursor: Cursor, inside: Sequence[Token], table: str, keys: Sequence[str]
) -> tuple[str, str, str]:
    """The rows in FROM, the expression that orders them, and the frame."""
    words = [token.word for token in inside]
    if words[:1] == ["RANGE"] and "SLIDE" not in words and words[1:] != ["UNBOUNDED"]:
        cursor.expect("RANGE", FORM)
        length, value = length_at(cursor, "range")
        if isinstance(value, int):
            return table, STREAM_TIME, _frame(str(length))
        span = f"INTERVAL '{length // 1_000_000}.{length % 1_000_000:06d}' SECOND"
        return table, STREAM_TIME, _frame(span)
    counted = len(words) >= 2 and words[-2] == "ROWS" and words[-1].isdigit() and int(words[-1]) > 0
    if not counted or (len(words) > 2 and words[:2] != ["PARTITION", "BY"]):
        raise QueryError(place(sql, inside[0].start, f"accepted is {FORM}, or [ROWS 100]"))
    parts = [_text(sql, part) for part in split(inside[2:-2])] if len(words) > 2 else []
    if parts and sorted(map(_folded, parts)) != sorted(map(_folded, keys)):
        reason = "PARTITION BY and GROUP BY must have the same keys"
        raise QueryError(place(sql, inside[0].start, reason))
    by = f"PARTITION BY {', '.join(parts)} " if parts else ""
    number = f"row_number() OVER ({by}ORDER BY {STREAM_TIME}) AS {_NUMBER}"
    named = table.rpartition(" ")[2]
    rows = f"(SELECT *, {number} FROM {table}) AS {named}"
    return rows, _NUMBER, _frame(str(int(words[-1]) - 1))


def _frame(before: str) -> str:
    return f"RANGE BETWEEN {before} PRECEDING AND CURRENT ROW"


def _over(sql: str, tokens: Sequence[Token], over: str) -> str:
    """Tokens as text, with OVER the window after every aggregate."""
    if not any(token.text.lower() in AGGREGATES for token in tokens):
        reason = "a window that moves with every row needs an aggregate"
        raise QueryError(place(sql, tokens[0].start if tokens else 0, reason))
    found, start, index = "", tokens[0].start, 0
    while index < len(tokens) - 1:
        if tokens[index].text.lower() in AGGREGATES and tokens[index + 1].text == "(":
            index = _call_end(tokens, closed(tokens, index + 1))
            if [token.word for token in tokens[index + 1 : index + 2]] == ["OVER"]:
                reason = "OVER beside a window that moves with every row"
                raise QueryError(place(sql, tokens[index + 1].start, reason))
            found += f"{sql[start : tokens[index].end]}{over}"
            start = tokens[index].end
        index += 1
    return f"{found}{sql[start : tokens[-1].end]}"


def _call_end(tokens: Sequence[Token], end: int) -> int:
    """The last token of a call with its FILTER (...) and WITHIN GROUP (...)."""
    while True:
        words = [token.word for token in tokens[end + 1 : end + 4]]
        if words[:2] == ["FILTER", "("]:
            end = closed(tokens, end + 2)
        elif words == ["WITHIN", "GROUP", "("]:
            end = closed(tokens, end + 3)
        else:
            return end


def _folded(key: str) -> str:
    return key.replace("`", "").rpartition(".")[2].casefold()


def _text(sql: str, tokens: Sequence[Token]) -> str:
    return sql[tokens[0].start : tokens[-1].end] if tokens else ""
