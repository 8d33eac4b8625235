"""Statements that wrap a query and say where its answers go; weft uses them for its name only.

INSERT INTO hourly SELECT ...            CREATE OR REPLACE TEMPORARY VIEW hourly AS SELECT ...
COPY INTO hourly FROM (SELECT ...)       CREATE MATERIALIZED VIEW hourly AS SELECT ...
SELECT ... INTO hourly FROM t            WITH a AS (...) SELECT ... INTO b ... SELECT ... INTO c ...
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.query.sql.select.nodes import unquoted
from weft.query.sql.tokens.blocks import SETS
from weft.query.sql.tokens.over import level
from weft.query.syntax.lexer import Token, closed

KINDS = ("VIEW", "TABLE", "STREAM", "SINK")
"""What a statement may create from a query."""
BEFORE_KIND = frozenset(
    (
        *("OR", "REPLACE", "REFRESH", "GLOBAL", "TEMP", "TEMPORARY", "MATERIALIZED", "STREAMING"),
        *("EXTERNAL", "LIVE", "PRIVATE"),
    )
)
"""Words between CREATE and the kind."""
_QUERY = ("SELECT", "WITH", "FROM")


def unwrapped(tokens: Sequence[Token]) -> tuple[Sequence[Token], str | None]:
    """The query inside a statement, and the name that the statement gives it.

    >>> from weft.query.syntax.lexer import tokenize
    >>> tokens, name = unwrapped(tokenize("INSERT INTO shop.hourly (a, b) SELECT 1, 2"))
    >>> tokens[0].text, name
    ('SELECT', 'hourly')
    """
    words = [token.word for token in tokens[:2]]
    if words == ["CREATE", "FLOW"]:  # CREATE FLOW f AS INSERT INTO hourly BY NAME SELECT ...
        insert = next((i for i in level(tokens) if tokens[i].word == "INSERT"), 0)
        return unwrapped(tokens[insert:]) if insert else (tokens, None)
    if words in (["INSERT", "INTO"], ["INSERT", "OVERWRITE"]):
        position = 2 + (len(tokens) > 2 and tokens[2].word == "TABLE")
    elif words[:1] == ["CREATE"]:
        position = 1
        while position < len(tokens) and tokens[position].word in BEFORE_KIND:
            position += 1
        if position >= len(tokens) or tokens[position].word not in KINDS:
            return tokens, None
        position += 1
        if [token.word for token in tokens[position : position + 3]] == ["IF", "NOT", "EXISTS"]:
            position += 3
    elif words == ["COPY", "INTO"]:
        position = 2
    elif words == ["CACHE", "TABLE"] or (words[:1] == ["CACHE"] and len(tokens) > 2):
        position = 2 + (tokens[1].word == "LAZY")
    else:
        return tokens, None
    return _after(tokens, position)


def without_set(tokens: Sequence[Token]) -> Sequence[Token]:
    """A statement without what begins or ends Flink's statement set around it; maybe nothing.

    >>> from weft.query.syntax.lexer import tokenize
    >>> for sql in ("EXECUTE STATEMENT SET BEGIN SELECT 1", "BEGIN STATEMENT SET", "END"):
    ...     print([token.text for token in without_set(tokenize(sql))])
    ['SELECT', '1']
    []
    []
    """
    words = [token.word for token in tokens[:4]]
    if words == ["EXECUTE", "STATEMENT", "SET", "BEGIN"]:
        return tokens[4:]
    if words == ["BEGIN", "STATEMENT", "SET"] or words == ["END"]:
        return ()
    return tokens


def outputs(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """The ranges of the SELECTs in a statement that each go INTO an output of their own.

    What comes before the first (WITH) belongs to all of them. Azure writes no `;` between them.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "WITH a AS (SELECT 1) SELECT x INTO b FROM a UNION SELECT 2 SELECT y INTO c FROM a"
    >>> tokens = tokenize(sql)
    >>> [" ".join(token.text for token in tokens[i:j]) for i, j in outputs(tokens)]
    ['SELECT x INTO b FROM a UNION SELECT 2', 'SELECT y INTO c FROM a']
    """
    starts = [
        index
        for index in level(tokens)
        if tokens[index].word == "SELECT"
        and tokens[index].kind == "name"
        and not (index and (tokens[index - 1].word in (*SETS, "ALL", "DISTINCT", ".")))
    ]
    if len(starts) > 1:
        found = list(zip(starts, [*starts[1:], len(tokens)], strict=True))
        if all(into(tokens[begin:end]) is not None for begin, end in found):
            return found
    return [(starts[0] if starts else 0, len(tokens))]


def into(tokens: Sequence[Token]) -> str | None:
    """The output that a SELECT names: `SELECT ... INTO output FROM ...`."""
    for index in level(tokens):
        if tokens[index].word == "FROM":
            return None
        if index and tokens[index].word == "INTO" and index + 1 < len(tokens):
            name = tokens[index + 1]
            is_name = name.kind in ("name", "quoted") and name.word != "FROM"
            return unquoted(name.text) if is_name else None
    return None


def _begins_query(tokens: Sequence[Token], index: int) -> bool:
    """Whether a query begins at an index, rather than the options of a table, `WITH (...)`."""
    after = tokens[index + 1].text if index + 1 < len(tokens) else ""
    return tokens[index].word in _QUERY and not (tokens[index].word == "WITH" and after == "(")


def _after(tokens: Sequence[Token], position: int) -> tuple[Sequence[Token], str | None]:
    """The first query after the name of a target, and that name."""
    if position >= len(tokens) or tokens[position].kind not in ("name", "quoted"):
        return tokens, None
    end = position + 1
    while end + 1 < len(tokens) and tokens[end].text == ".":
        end += 2
    name = unquoted(tokens[end - 1].text)
    while end < len(tokens) and not _begins_query(tokens, end):
        if tokens[end].text == "(":
            if end + 1 < len(tokens) and tokens[end + 1].word in ("SELECT", "WITH"):
                return tokens[end + 1 : closed(tokens, end)], name
            end = closed(tokens, end)
        end += 1
    if end + 1 < len(tokens) and tokens[end].word == "FROM" and tokens[end + 1].text == "(":
        return tokens[end + 2 : closed(tokens, end + 1)], name  # COPY INTO
    return (tokens[end:], name) if end < len(tokens) else (tokens, None)
