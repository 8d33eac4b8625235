"""Recognises the dialect of a statement by syntax that only that dialect has."""

from __future__ import annotations

from collections.abc import Iterator

from weft.errors import QueryError
from weft.query.sql.dialects.cql.windows import window_clause
from weft.query.sql.dialects.dialect import DialectName
from weft.query.syntax.lexer import Token, closed, place

_ASA_CALLS = frozenset(
    (
        *("TUMBLINGWINDOW", "HOPPINGWINDOW", "SLIDINGWINDOW", "SESSIONWINDOW", "SNAPSHOTWINDOW"),
        *("TUMBLING", "HOPPING", "WINDOWS", "ISFIRST", "TOPONE", "COLLECTTOP"),
    )
)
_ASA_PAIRS = frozenset(
    (
        *(("TIMESTAMP", "BY"), ("LIMIT", "DURATION")),
        *(("CROSS", "APPLY"), ("OUTER", "APPLY")),
    )
)
_FLINK_CALLS = frozenset(
    (
        *("TUMBLE", "HOP", "CUMULATE", "SESSION", "DESCRIPTOR", "TUMBLE_START", "TUMBLE_END"),
        *("TUMBLE_ROWTIME", "HOP_START", "HOP_END", "HOP_ROWTIME"),
        *("SESSION_START", "SESSION_END", "SESSION_ROWTIME", "SPLIT_INDEX", "MATCH_RECOGNIZE"),
    )
)


def recognise(sql: str, tokens: tuple[Token, ...]) -> DialectName:
    """The dialect of a statement; Spark SQL if nothing indicates another.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "SELECT count(*) AS n FROM t [RANGE '1 hour' SLIDE '5 min']"
    >>> recognise(sql, tuple(tokenize(sql)))
    'cql'
    """
    marks: dict[DialectName, Token] = {}
    for dialect, token in _marks(tokens):
        marks.setdefault(dialect, token)
    if "risingwave" in marks and all(map(_is_standard, _tokens_of("flink", tokens))):
        marks.pop("flink", None)
    if len(marks) > 1:
        (first, _), (second, token) = sorted(marks.items(), key=lambda mark: mark[1].start)[:2]
        raise QueryError(
            place(
                sql,
                token.start,
                f"{token.text} belongs to the dialect {second!r}, but the statement began in "
                f"{first!r}: use one dialect, or name it with dialect=",
            )
        )
    return next(iter(marks), "spark")


def _tokens_of(dialect: DialectName, tokens: tuple[Token, ...]) -> list[Token]:
    return [token for known, token in _marks(tokens) if known == dialect]


def _is_standard(token: Token) -> bool:
    """Whether a sign of Flink is standard SQL, as in RisingWave: FETCH, FOR SYSTEM_TIME, UNNEST."""
    return token.word in ("FETCH", "FOR", "UNNEST")


def _marks(tokens: tuple[Token, ...]) -> Iterator[tuple[DialectName, Token]]:
    bracket = window_clause(tokens)
    if bracket is not None:
        yield "cql", tokens[bracket]
    for index, token in enumerate(tokens):
        if token.kind != "name":
            continue
        after, then = [*(later.word for later in tokens[index + 1 : index + 3]), "", ""][:2]
        before = tokens[index - 1].word if index else ""
        called = token.word if after == "(" and before != "." else ""
        if before == "WINDOW" and token.word in _KSQL_WINDOWS:
            continue
        if (
            called in _ASA_CALLS
            or (called == "SESSION" and _is_of_azure(tokens, index))
            or (token.word, after) in _ASA_PAIRS
            or _is_into(tokens, index)
            or (
                (token.word, after) == ("SYSTEM", ".")
                and then in ("TIMESTAMP", "WINDOW")
                and before != "FROM"
            )
        ):
            yield "asa", token
        elif _is_flink(tokens, index):
            yield "flink", token
        elif (token.word, after) == ("EMIT", "CHANGES") or (
            (token.word, then) == ("WINDOW", "(") and after in _KSQL_WINDOWS
        ):
            yield "ksql", token
        elif _is_risingwave(tokens, index):
            yield "risingwave", token
        elif (called in _FLINK_CALLS and not _is_of_azure(tokens, index)) or (
            called == "TABLE" and before == "FROM"
        ):
            yield "flink", token


def _is_into(tokens: tuple[Token, ...], index: int) -> bool:
    """`SELECT ... INTO output FROM input`: where Azure's answers go."""
    if tokens[index].word != "INTO" or index < 2 or tokens[index - 1].text in (",", "."):
        return False
    name = index + 1
    if tokens[name : name + 1] and tokens[name].text == "[":  # [my output]
        name = next((i for i in range(name, len(tokens)) if tokens[i].text == "]"), name)
    return any(token.word == "FROM" for token in tokens[name + 1 : name + 2])


_KSQL_WINDOWS = ("TUMBLING", "HOPPING", "SESSION")


def _is_flink(tokens: tuple[Token, ...], index: int) -> bool:
    """Syntax of Flink and of standard SQL: FETCH FIRST, FLOOR(x TO HOUR), FOR SYSTEM_TIME."""
    words = [token.word for token in tokens[index : index + 2]]
    if words in (["FETCH", "FIRST"], ["FETCH", "NEXT"], ["FOR", "SYSTEM_TIME"], ["UNNEST", "("]):
        return True
    if words not in (["FLOOR", "("], ["CEIL", "("], ["CEILING", "("]):
        return False
    inside = tokens[index + 2 : closed(tokens, index + 1)]
    return len(inside) > 2 and inside[-2].word == "TO"


def _is_risingwave(tokens: tuple[Token, ...], index: int) -> bool:
    """`FROM tumble(t, ts, ...)`, where Flink has `TUMBLE(TABLE t, ...)`, or its EMIT.

    Likewise date_bin, AT TIME ZONE and DISTINCT ON, which it takes from PostgreSQL.
    """
    words = [token.word for token in tokens[index : index + 4]]
    if words == ["EMIT", "ON", "WINDOW", "CLOSE"] or words[:3] == ["AT", "TIME", "ZONE"]:
        return True
    if words[:2] == ["DATE_BIN", "("] or words[:3] == ["DISTINCT", "ON", "("]:
        return True
    before = tokens[index - 1].word if index else ""
    if before not in ("FROM", "JOIN") or words[0] not in ("TUMBLE", "HOP") or words[1:2] != ["("]:
        return False
    return words[2:3] == ["("] or (words[3:4] in ([","], ["."]) and words[2] != "TABLE")


def _is_of_azure(tokens: tuple[Token, ...], index: int) -> bool:
    """`Hop(minute, 5)`, where Flink has `HOP(TABLE t, ...)` or `HOP(time, INTERVAL ...)`.

    Likewise `Session(Timeout(minute, 5), ...)`.
    """
    inside = tokens[index + 2 : index + 5]
    if tokens[index].word not in ("HOP", "SESSION") or len(inside) < 3:
        return False
    if inside[0].word in ("TIMEOUT", "MAXDURATION") and inside[1].text == "(":
        return True
    return inside[1].text == "," and inside[2].kind == "number"
