"""What RisingWave takes from PostgreSQL and Spark spells otherwise, in whole statements.

date_bin(INTERVAL '15 minutes', ts, origin)    time_bucket(INTERVAL '15' MINUTES, ts, origin)
ts AT TIME ZONE 'Europe/Berlin'                convert_timezone('Europe/Berlin', ts)
string_agg(x, ',' ORDER BY y)                  string_agg(x, ',') WITHIN GROUP (ORDER BY y)
SELECT DISTINCT ON (k) ... ORDER BY k, y       SELECT ... QUALIFY row_number() OVER (...) = 1
"""

from __future__ import annotations

from weft.errors import QueryError
from weft.query.sql.blocks import blocks
from weft.query.sql.elements import operand
from weft.query.sql.in_spark import calls_in_spark
from weft.query.sql.over import level
from weft.query.syntax.lexer import closed, place, tokenize

_ROUNDS = 100
"""Uses of AT TIME ZONE in one statement, at most."""


def words_in_spark(sql: str) -> str:
    """A statement of RisingWave with its words as Spark's; windows are not looked at."""
    sql = calls_in_spark(sql, "DATE_BIN", _bucket)
    sql = _ordered_texts(sql)
    sql = _first_of_each(sql)
    for _ in range(_ROUNDS):
        changed = _without_time_zone(sql)
        if changed == sql:
            return sql
        sql = changed
    raise QueryError(f"AT TIME ZONE is used more than {_ROUNDS} times")


def _bucket(arguments: list[str]) -> str:
    return f"time_bucket({', '.join(arguments)})"


def _ordered_texts(sql: str) -> str:
    """`string_agg(x, ',' ORDER BY y)` with its order after it, as Spark has it."""
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 1)):
        if tokens[index].word != "STRING_AGG" or tokens[index + 1].text != "(":
            continue
        end = closed(tokens, index + 1)
        inside = tokens[index + 2 : end]
        order = next((at for at in level(inside) if inside[at].word == "ORDER"), None)
        if not order:
            continue
        arguments = sql[inside[0].start : inside[order - 1].end]
        ordering = sql[inside[order].start : inside[-1].end]
        made = f"string_agg({arguments}) WITHIN GROUP ({ordering})"
        sql = f"{sql[: tokens[index].start]}{made}{sql[tokens[end].end :]}"
    return sql


def _first_of_each(sql: str) -> str:
    """`SELECT DISTINCT ON (keys)`: the first row of each key, in the order of the statement."""
    tokens = tokenize(sql)
    for block in blocks(tokens):
        at = block.begin + 1
        if [token.word for token in tokens[at : at + 3]] != ["DISTINCT", "ON", "("]:
            continue
        if "GROUP" in block.clauses or not block.alone:
            reason = "DISTINCT ON is supported in a SELECT without GROUP BY and UNION"
            raise QueryError(place(sql, tokens[at].start, reason))
        end = closed(tokens, at + 2)
        keys = sql[tokens[at + 2].end : tokens[end].start]
        order = block.clauses.get("ORDER")
        by = "" if order is None else sql[tokens[order[0]].start : tokens[order[1] - 1].end]
        after = max(block.clauses[n][1] for n in ("SELECT", "FROM", "WHERE") if n in block.clauses)
        kept = f" QUALIFY row_number() OVER (PARTITION BY {keys} {by or f'ORDER BY {keys}'}) = 1 "
        rest = sql[tokens[after].start :] if after < len(tokens) else ""
        middle = sql[tokens[end].end : tokens[after - 1].end]
        return _first_of_each(f"{sql[: tokens[at].start]}{middle}{kept}{rest}")
    return sql


def _without_time_zone(sql: str) -> str:
    """The first `x AT TIME ZONE zone` as a function.

    Of an instant it is what clocks in the zone show; of what clocks show, which is what the first
    of two gives, it is the instant.
    """
    tokens = tokenize(sql)
    words = [token.word for token in tokens]
    for index in range(1, len(tokens) - 3):
        if words[index : index + 3] != ["AT", "TIME", "ZONE"]:
            continue
        zone = tokens[index + 3]
        if zone.kind != "string":
            raise QueryError(place(sql, zone.start, "AT TIME ZONE takes a constant zone"))
        begin = operand(tokens, index - 1)
        if begin is None:
            raise QueryError(place(sql, tokens[index].start, "AT TIME ZONE needs a time before it"))
        value = sql[tokens[begin].start : tokens[index - 1].end]
        if words[begin] == "CONVERT_TIMEZONE":
            made = f"CAST(convert_timezone({zone.text}, current_timezone(), {value}) AS TIMESTAMP)"
        else:
            made = f"convert_timezone({zone.text}, {value})"
        return f"{sql[: tokens[begin].start]}{made}{sql[zone.end :]}"
    return sql
