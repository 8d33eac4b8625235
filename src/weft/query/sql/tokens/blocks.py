"""Finds the SELECTs of a statement, however nested, in its tokens.

WITH busy AS (SELECT ... GROUP BY ...)          a block in parentheses, defined as `busy`
SELECT * FROM (SELECT ... GROUP BY ...) WHERE   a block in FROM of a block
UNION ALL SELECT ...                            and one beside it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weft.query.syntax.lexer import Token, closed

CLAUSES = {
    "FROM": "FROM", "WHERE": "WHERE", "GROUP": "GROUP", "HAVING": "HAVING", "QUALIFY": "QUALIFY",
    "WINDOW": "WINDOW", "ORDER": "ORDER", "SORT": "ORDER", "CLUSTER": "ORDER",
    "DISTRIBUTE": "ORDER", "LIMIT": "LIMIT", "OFFSET": "LIMIT",
}  # fmt: skip
"""Keywords that begin a clause, and the name of the clause in this module."""
_BEFORE_BY = frozenset(("GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE"))
SETS = frozenset(("UNION", "INTERSECT", "EXCEPT", "MINUS"))
_OPERATORS = frozenset(
    ("SELECT", "AND", "OR", "NOT", "IN", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "AS", ",", "(")
)


@dataclass(frozen=True)
class Definition:
    """A common table expression, `name AS (...)`: from its name to its closing parenthesis."""

    name: str
    begin: int
    end: int


@dataclass(frozen=True)
class Block:
    """One SELECT; all positions are indexes of tokens."""

    begin: int
    end: int
    """The index after its last token; LIMIT and the like are its own only if it is `alone`."""
    depth: int
    clauses: dict[str, tuple[int, int]] = field(hash=False)
    """Where each clause begins (at its keyword) and ends, by name; SELECT is one of them."""
    alone: bool
    """Whether it is not an operand of UNION or the like."""
    definitions: tuple[Definition, ...]
    """The common table expressions before it, the outermost first."""

    def holds(self, other: Block) -> bool:
        """Whether another block is inside this one."""
        return self.begin < other.begin and other.end <= self.end

    @property
    def core_end(self) -> int:
        """The index after HAVING or, without one, after the last clause that could precede it."""
        return max(self.clauses[n][1] for n in _CORE if n in self.clauses)


_CORE = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING")


def blocks(tokens: Sequence[Token]) -> list[Block]:
    """The SELECTs of a statement, the innermost first.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "WITH a AS (SELECT x FROM t) SELECT x FROM a GROUP BY x UNION SELECT 1"
    >>> [(b.depth, sorted(b.clauses), b.alone) for b in blocks(tokenize(sql))]
    [(1, ['FROM', 'SELECT'], True), (0, ['FROM', 'GROUP', 'SELECT'], False),
     (0, ['SELECT'], False)]
    """
    found = list(_blocks(tokens, 0, len(tokens), 0, ()))
    return sorted(found, key=lambda block: (-block.depth, block.begin))


def _blocks(
    tokens: Sequence[Token],
    begin: int,
    end: int,
    depth: int,
    definitions: tuple[Definition, ...],
) -> Iterator[Block]:
    """The blocks of one query, its WITH included, between two indexes."""
    position = begin
    if position < end and tokens[position].word == "WITH":
        for definition in _definitions(tokens, position + 1, end):
            opening = next(i for i in range(definition.begin, end) if tokens[i].text == "("
                           and tokens[i - 1].word == "AS")  # fmt: skip
            yield from _blocks(tokens, opening + 1, definition.end - 1, depth + 1, definitions)
            definitions = (*definitions, definition)
            position = definition.end
    selects = [i for i in _level(tokens, position, end) if _is_select(tokens, i)]
    sets = [i for i in _level(tokens, position, end) if _is_set(tokens, i)]
    for select in selects:
        until = next((i for i in sets if i > select), end)
        yield Block(
            select,
            until,
            depth,
            _clauses(tokens, select, until),
            not sets,
            definitions,
        )
    for opening, closing in _parentheses(tokens, position, end):
        if closing > opening + 1:
            yield from _inside(tokens, opening + 1, closing, depth + 1, definitions)


def _inside(
    tokens: Sequence[Token],
    begin: int,
    end: int,
    depth: int,
    definitions: tuple[Definition, ...],
) -> Iterator[Block]:
    if begin < end and tokens[begin].word in ("SELECT", "WITH"):
        yield from _blocks(tokens, begin, end, depth, definitions)
        return
    for opening, closing in _parentheses(tokens, begin, end):
        yield from _inside(tokens, opening + 1, closing, depth + 1, definitions)


def _definitions(tokens: Sequence[Token], begin: int, end: int) -> Iterator[Definition]:
    """What a WITH defines: `name [(columns)] AS (query), ...`."""
    position = begin
    while position < end:
        name = position
        position += 1
        while position < end and tokens[position].word != "AS":
            position += 1
        if position + 1 >= end or tokens[position + 1].text != "(":
            return
        closing = closed(tokens, position + 1)
        yield Definition(tokens[name].text.strip("`"), name, closing + 1)
        position = closing + 1
        if position >= end or tokens[position].text != ",":
            return
        position += 1


def _clauses(tokens: Sequence[Token], begin: int, end: int) -> dict[str, tuple[int, int]]:
    starts = [("SELECT", begin)]
    for index in _level(tokens, begin + 1, end):
        name = _clause_at(tokens, index)
        if name is not None and name not in (known for known, _ in starts):
            starts.append((name, index))
    ends = [index for _, index in starts[1:]] + [end]
    return {name: (at, until) for (name, at), until in zip(starts, ends, strict=True)}


def _clause_at(tokens: Sequence[Token], index: int) -> str | None:
    token, before = tokens[index], tokens[index - 1]
    if token.kind != "name" or token.word not in CLAUSES or before.text == ".":
        return None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if after is None or (before.word in _OPERATORS and before.kind != "quoted"):
        return None
    if token.word in _BEFORE_BY and after.word != "BY":
        return None
    if token.word == "FROM" and before.word == "DISTINCT" and tokens[index - 2].word != "SELECT":
        return None  # IS DISTINCT FROM
    if token.word == "WINDOW" and (
        index + 2 >= len(tokens) or tokens[index + 2].word != "AS"
    ):  # the function, or a column
        return None
    if after.text in (",", ")", ".", "=", "AS") and token.word not in ("FROM",):
        return None  # a column of that name
    return CLAUSES[token.word]


def _is_select(tokens: Sequence[Token], index: int) -> bool:
    return (
        tokens[index].kind == "name"
        and tokens[index].word == "SELECT"
        and (index == 0 or tokens[index - 1].text != ".")
    )


def _is_set(tokens: Sequence[Token], index: int) -> bool:
    if tokens[index].kind != "name" or tokens[index].word not in SETS:
        return False
    after = [token.word for token in tokens[index + 1 : index + 3]]
    if after[:1] == ["("]:
        return after[1:] in (["SELECT"], ["WITH"], ["("])
    return after[:1] in (["SELECT"], ["ALL"], ["DISTINCT"], ["VALUES"], ["TABLE"])


def _level(tokens: Sequence[Token], begin: int, end: int) -> Iterator[int]:
    """The indexes in a range that are outside parentheses, the parentheses themselves included."""
    depth = 0
    for index in range(begin, end):
        if tokens[index].text in (")", "]"):
            depth -= 1
        if depth == 0:
            yield index
        if tokens[index].text in ("(", "["):
            depth += 1


def _parentheses(tokens: Sequence[Token], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The indexes of the outermost pairs of parentheses in a range."""
    index = begin
    while index < end:
        if tokens[index].text == "(":
            closing = closed(tokens, index)
            yield index, min(closing, end)
            index = closing
        index += 1
