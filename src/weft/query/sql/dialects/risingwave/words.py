"""What RisingWave takes from PostgreSQL and Spark spells differently, in whole statements.

date_bin(INTERVAL '15 minutes', ts, origin)    time_bucket(INTERVAL '15' MINUTES, ts, origin)
ts AT TIME ZONE 'Europe/Berlin'                convert_timezone('Europe/Berlin', ts)
string_agg(x, ',' ORDER BY y)                  string_agg(x, ',') WITHIN GROUP (ORDER BY y)
first_value(x ORDER BY y)                      min_by(x, y)
SELECT DISTINCT ON (k) ... ORDER BY k, y       SELECT ... QUALIFY row_number() OVER (...) = 1
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from functools import partial

from weft.errors import QueryError
from weft.query.names import quoted_name
from weft.query.sql.dialects.in_spark import calls_in_spark, with_whole_units
from weft.query.sql.dialects.risingwave.json import json_in_spark
from weft.query.sql.dialects.risingwave.values import values_in_spark
from weft.query.sql.tokens.blocks import blocks
from weft.query.sql.tokens.casts import is_type
from weft.query.sql.tokens.elements import elements_in_spark, joined, literals_in_spark, operand
from weft.query.sql.tokens.over import aliased, level, list_end, split
from weft.query.syntax.lexer import Token, closed, place, tokenize

_ROUNDS = 100
"""The most uses of AT TIME ZONE that one statement may have."""


def words_in_spark(sql: str) -> str:
    """Translate functions, types and clauses of a statement into Spark's, but not windows."""
    sql = calls_in_spark(_with_whole_units(json_in_spark(sql)), "DATE_BIN", _bucket)
    sql = calls_in_spark(sql, "EXTRACT", _extracted)
    sql = calls_in_spark(sql, "DATE_PART", _extracted)
    sql = calls_in_spark(sql, "TO_CHAR", _shown)
    sql = calls_in_spark(sql, "CONCAT", joined)
    sql = calls_in_spark(sql, "REGEXP_REPLACE", _replaced)
    sql = values_in_spark(sql)
    _refuse(sql)
    sql = elements_in_spark(literals_in_spark(_with_types(sql)))
    sql = _ordered(sql, ("STRING_AGG",), _joined)
    sql = _ordered(sql, ("FIRST_VALUE", "LAST_VALUE"), partial(_end_of_group, _times(sql)))
    sql = _with_nulls_last(_first_of_each(sql))
    for _ in range(_ROUNDS):
        changed = _without_time_zone(sql)
        if changed == sql:
            return sql
        sql = changed
    raise QueryError(f"AT TIME ZONE is used more than {_ROUNDS} times")


def names_in_spark(sql: str) -> str:
    """A statement with double-quoted names in backquotes: Spark takes double quotes for strings.

    >>> names_in_spark('SELECT "side" FROM t')
    'SELECT `side` FROM t'
    """
    for token in reversed(tokenize(sql)):
        if token.kind == "string" and token.text[0] == '"':
            name = quoted_name(token.text[1:-1].replace('""', '"'))
            sql = f"{sql[: token.start]}{name}{sql[token.end :]}"
    return sql


def _with_whole_units(sql: str) -> str:
    """A statement with `INTERVAL '15 min'` as `INTERVAL '15 minutes'`."""
    for token in reversed(tokenize(sql)):
        if token.text[:8].upper() == "INTERVAL" and token.text.endswith("'"):
            sql = f"{sql[: token.start]}{with_whole_units(token.text)}{sql[token.end :]}"
    return sql


def _with_types(sql: str) -> str:
    """A statement with Spark's types; NUMERIC without a scale keeps fractions, unlike Spark's."""
    tokens = tokenize(sql)
    for index in reversed(range(1, len(tokens) - 1)):
        words = [token.word for token in tokens[index : index + 5]]
        known = next((n for n in _TYPES if words[: n.count(" ") + 2] == [*n.split(), ")"]), None)
        if known is not None and is_type(tokens, index):
            last = tokens[index + known.count(" ")]
            sql = f"{sql[: tokens[index].start]}{_TYPES[known]}{sql[last.end :]}"
    return sql


_TYPES = {
    **dict.fromkeys(("NUMERIC", "DECIMAL"), "DECIMAL(38, 18)"),
    **dict.fromkeys(("VARCHAR", "CHARACTER VARYING", "TEXT"), "STRING"),
    **dict.fromkeys(("DOUBLE PRECISION", "FLOAT8", "FLOAT"), "DOUBLE"),
    **dict.fromkeys(("REAL", "FLOAT4"), "FLOAT"),
    **dict.fromkeys(("JSON", "JSONB"), "STRING"),
    "TIMESTAMPTZ": "TIMESTAMP",
    **dict.fromkeys((f"TIMESTAMP {one} TIME ZONE" for one in ("WITH", "WITHOUT")), "TIMESTAMP"),
    "INT2": "SMALLINT",
    "INT4": "INT",
    "INT8": "BIGINT",
    "BOOL": "BOOLEAN",
}


def _extracted(arguments: list[str]) -> str:
    """`extract(dow FROM x)` counts from 0 on Sundays, in Spark from 1; `epoch` is in seconds."""
    given = _PART.fullmatch(", ".join(arguments))
    if given is None:
        raise QueryError(f"extract({', '.join(arguments)}) has no part of a time that is known")
    part, time = given[1].lower(), given[2]
    if part == "epoch":
        return f"(unix_micros({time}) / 1000000)"
    if part == "dow":
        return f"(extract(DOW FROM {time}) - 1)"
    return f"extract({'DOW_ISO' if part == 'isodow' else part} FROM {time})"


_PART = re.compile(r"'?(\w+)'?(?:\s*,|\s+FROM\b)\s*(.+)", re.IGNORECASE | re.DOTALL)


def _shown(arguments: list[str]) -> str:
    """`to_char(ts, 'YYYY-MM-DD HH24:MI')`, whose pattern letters mean other things in Spark."""
    pattern = arguments[1] if len(arguments) == 2 else ""
    made, rest = "", pattern[1:-1]
    while rest:
        letters = next((one for one in _LETTERS if rest.upper().startswith(one)), "")
        if not letters and rest[0].isalpha():
            raise QueryError(f"to_char({', '.join(arguments)}): accepted are {', '.join(_LETTERS)}")
        made += _LETTERS.get(letters, rest[0])
        rest = rest[len(letters) or 1 :]
    if pattern[:1] != "'" or not made:
        raise QueryError(f"to_char({', '.join(arguments)}) needs a constant pattern of a time")
    return f"date_format({arguments[0]}, '{made}')"


_LETTERS = {
    "YYYY": "yyyy", "HH24": "HH", "MI": "mm", "MM": "MM", "DD": "dd", "SS": "ss", "MS": "SSS",
    "US": "SSSSSS",
}  # fmt: skip


def _bucket(arguments: list[str]) -> str:
    return f"time_bucket({', '.join(arguments)})"


def _ordered(
    sql: str, names: Sequence[str], written: Callable[[str, str, Sequence[Token]], str]
) -> str:
    """A statement with calls such as `f(x ORDER BY y)` written otherwise.

    `written` gets the name, the arguments, and the tokens after BY.
    """
    tokens = tokenize(sql)
    for index in reversed(range(len(tokens) - 1)):
        if tokens[index].word not in names or tokens[index + 1].text != "(":
            continue
        end = closed(tokens, index + 1)
        inside = tokens[index + 2 : end]
        order = next((at for at in level(inside) if inside[at].word == "ORDER"), None)
        if not order or len(inside) < order + 3:
            continue
        arguments = sql[inside[0].start : inside[order - 1].end]
        made = written(tokens[index].word, arguments, inside[order + 2 :])
        sql = f"{sql[: tokens[index].start]}{made}{sql[tokens[end].end :]}"
    return sql


def _joined(name: str, arguments: str, by: Sequence[Token]) -> str:
    """`string_agg(x, ',' ORDER BY y)` with its order after it, as Spark has it."""
    ordering = " ".join(token.text for token in by)
    return f"{name.lower()}({arguments}) WITHIN GROUP (ORDER BY {ordering})"


def _end_of_group(times: Set[str], name: str, value: str, by: Sequence[Token]) -> str:
    """`first_value(x ORDER BY ts)` as an aggregate: `min_by(x, ts)`, which ignores null times."""
    falls = by[-1].word == "DESC"
    if by[-1].word in ("ASC", "DESC"):
        by = by[:-1]
    order = "".join(token.text for token in by)
    if order.rpartition(".")[2].casefold() not in times:
        reason = "is supported with ORDER BY the window's time, which is never null"
        raise QueryError(f"{name.lower()}({value} ORDER BY {order}) {reason}")
    return f"{'min_by' if (name == 'FIRST_VALUE') != falls else 'max_by'}({value}, {order})"


def _times(sql: str) -> Set[str]:
    """The time columns of the windows in FROM."""
    tokens = tokenize(sql)
    found = set()
    for index in range(len(tokens) - 1):
        if tokens[index].word in ("TUMBLE", "HOP") and tokens[index + 1].text == "(":
            parts = split(tokens[index + 2 : closed(tokens, index + 1)])
            if len(parts) > 1 and parts[1]:
                found.add(parts[1][-1].text.casefold())
    return found


def _replaced(arguments: list[str]) -> str:
    if len(arguments) != 4 or arguments[3].strip() != "'g'":
        reason = "replaces the first match only without the flag 'g', Spark's all of them"
        raise QueryError(f"regexp_replace({', '.join(arguments)}) {reason}")
    return f"regexp_replace({', '.join(arguments[:3])})"


def _refuse(sql: str) -> None:
    """Refuse what is spelled as in Spark and means something else."""
    tokens = tokenize(sql)
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        reason = None
        if token.kind == "op" and token.text == "^":
            reason = "^ is a power here and a bitwise XOR in Spark: write power(a, b)"
        elif token.word == "ARRAY_AGG" and after is not None and after.text == "(":
            reason = "array_agg keeps nulls, which Spark's leaves out: write collect_list(x)"
        if reason is not None:
            raise QueryError(place(sql, token.start, reason))


def _with_nulls_last(sql: str) -> str:
    """A statement whose ORDER BY says where nulls are: last, as in PostgreSQL; first with DESC."""
    tokens = tokenize(sql)
    places = [
        index
        for index in range(len(tokens) - 2)
        if (tokens[index].word, tokens[index + 1].word) == ("ORDER", "BY")
        and [token.word for token in tokens[max(0, index - 3) : index]] != ["WITHIN", "GROUP", "("]
    ]
    for begin in reversed(places):
        end = list_end(tokens, begin + 2, _AFTER_ORDER)
        for item in reversed(split(tokens[begin + 2 : end])):
            if item and all(token.word != "NULLS" for token in item):
                nulls = "FIRST" if item[-1].word == "DESC" else "LAST"
                sql = f"{sql[: item[-1].end]} NULLS {nulls}{sql[item[-1].end :]}"
    return sql


_AFTER_ORDER = ("LIMIT", "OFFSET", "FETCH", "ROWS", "RANGE", "GROUPS", "EMIT", "WITH", "UNION", ";")


def _first_of_each(sql: str) -> str:
    """`SELECT DISTINCT ON (keys)`: the first row of each key, in the statement's order."""
    tokens = tokenize(sql)
    for block in blocks(tokens):
        at = block.begin + 1
        if [token.word for token in tokens[at : at + 3]] != ["DISTINCT", "ON", "("]:
            continue
        if "GROUP" in block.clauses or not block.alone:
            reason = "DISTINCT ON is supported in a SELECT without GROUP BY and UNION"
            raise QueryError(place(sql, tokens[at].start, reason))
        end = closed(tokens, at + 2)
        items = split(tokens[end + 1 : block.clauses["SELECT"][1]])
        keys = _spelled_out(sql, tokens[at + 3 : end], items)
        order = block.clauses.get("ORDER")
        by = ""
        if order is not None:
            by = f"ORDER BY {_spelled_out(sql, tokens[order[0] + 2 : order[1]], items)}"
        after = max(block.clauses[n][1] for n in ("SELECT", "FROM", "WHERE") if n in block.clauses)
        kept = f" QUALIFY row_number() OVER (PARTITION BY {keys} {by or f'ORDER BY {keys}'}) = 1 "
        rest = sql[tokens[after].start :] if after < len(tokens) else ""
        middle = sql[tokens[end].end : tokens[after - 1].end]
        return _first_of_each(f"{sql[: tokens[at].start]}{middle}{kept}{rest}")
    return sql


def _spelled_out(sql: str, tokens: Sequence[Token], items: Sequence[Sequence[Token]]) -> str:
    """A list of keys in which positions and names of selected items are their expressions."""
    found = []
    for key in split(tokens):
        meant = key[0].text if key else ""
        for position, item in enumerate(items, start=1):
            value, name = aliased(item)
            alias = "" if name is None else name
            if meant == str(position) or (alias and meant.casefold() == alias.casefold()):
                rest = sql[key[0].end : key[-1].end]
                found.append(f"{sql[value[0].start : value[-1].end]}{rest}")
                break
        else:
            found.append(sql[key[0].start : key[-1].end] if key else "")
    return ", ".join(found)


def _without_time_zone(sql: str) -> str:
    """The first `x AT TIME ZONE zone` as a function call.

    For an instant it gives local time in the zone. For local time, which is the result of the
    first of two in a row, it gives the instant.
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
