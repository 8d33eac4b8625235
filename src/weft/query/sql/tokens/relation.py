"""A FROM of more than one table: the names of its tables, and the columns taken from them.

    SELECT a.name, count(*) AS n FROM flights f JOIN carriers a ON f.carrier = a.carrier
    GROUP BY window(f.dep, '1 day'), a.name

is read as `SELECT name, count(*) AS n FROM weft_rows GROUP BY window(dep, '1 day'), name`, over the
rows of `SELECT a.name AS name, f.dep AS dep FROM flights f JOIN carriers a ON ...`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weft.query.names import quoted_name
from weft.query.sql.select.nodes import unquoted
from weft.query.sql.tokens.blocks import Block, Definition, blocks
from weft.query.syntax.lexer import Token, closed, tokenize

ROWS = "weft_rows"
"""The name of a relation where a table is expected."""
_JOINS = frozenset(
    (
        *("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "SEMI", "ANTI", "OUTER"),
        *("ON", "USING", "LATERAL", "PIVOT", "UNPIVOT", "TABLESAMPLE", "AS", "WHERE", "GROUP"),
    )
)


@dataclass(frozen=True)
class Rows:
    """The rows that a block reads, and how its tokens name their columns."""

    text: str
    definitions: str
    columns: dict[str, str]
    """The SQL of a column, with its table, by the name that the block's tokens now use."""

    def column(self, name: str) -> tuple[str, str]:
        """The SQL of a column, and its name."""
        return self.columns.get(name.casefold(), quoted_name(name)), name


def is_table(tokens: Sequence[Token], definitions: Iterable[Definition]) -> bool:
    """Whether FROM has a single table, with or without an alias.

    >>> from weft.query.syntax.lexer import tokenize
    >>> [is_table(tokenize(sql), ()) for sql in ("t", "a.t AS x", "t, u", "(SELECT 1)")]
    [True, True, False, False]
    """
    position = _name_end(tokens, 0)
    if position == 0 or (
        position == 1 and _word(tokens[0]) in {d.name.lower() for d in definitions}
    ):
        return False
    rest = [t for t in tokens[position:] if t.word != "AS"]
    return len(rest) <= 1 and all(t.kind in ("name", "quoted") for t in rest)


def table_names(tokens: Sequence[Token]) -> set[str]:
    """The names or aliases of the tables in FROM, in lower case.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "shop.flights f JOIN (SELECT 1 AS x) AS b ON f.x = b.x, LATERAL explode(f.y) e"
    >>> sorted(table_names(tokenize(sql)))
    ['b', 'e', 'f']
    """
    found, position, expected = set(), 0, True
    while position < len(tokens):
        token = tokens[position]
        if expected and token.word not in ("LATERAL", "VIEW", "OUTER"):
            end = closed(tokens, position) + 1 if token.text == "(" else _name_end(tokens, position)
            if end == position:
                end += 1
            own = _word(tokens[end - 1])
            if end < len(tokens) and tokens[end].text == "(" and token.text != "(":
                end = closed(tokens, end) + 1
            if end < len(tokens) and tokens[end].word == "AS":
                end += 1
            if end < len(tokens) and _is_alias(tokens[end]):
                own, end = _word(tokens[end]), end + 1
            found.add(own)
            position, expected = end, False
            continue
        if token.text == "(":
            position = closed(tokens, position)
        elif token.text == "," or token.word in ("JOIN", "VIEW"):
            expected = True
        position += 1
    return found - {")"}


def read_rows(
    sql: str, tokens: Sequence[Token], block: Block, moved: tuple[int, int] | None
) -> Rows:
    """The rows of a block; `moved` is the range of a WHERE that becomes part of them."""
    begin, end = block.clauses["FROM"]
    text = sql[tokens[begin + 1].start : tokens[end - 1].end]
    inside = list(tokens[begin + 1 : end])
    if moved is not None:
        text += f" {sql[tokens[moved[0]].start : tokens[moved[1] - 1].end]}"
        inside += tokens[moved[0] : moved[1]]
    needed = _needed(tokens, inside, block.definitions)
    defined = [sql[tokens[d.begin].start : tokens[d.end - 1].end] for d in needed]
    return Rows(text, f"WITH {', '.join(defined)}" if defined else "", {})


def used_definitions(tokens: Sequence[Token], block: Block) -> list[Definition]:
    """The common table expressions that a block reads, directly or indirectly."""
    return _needed(tokens, tokens[block.begin : block.end], block.definitions)


def without_unused(sql: str) -> str:
    """A statement without the common table expressions that nothing reads.

    >>> without_unused("WITH a AS (SELECT 1), b AS (SELECT 2) SELECT * FROM b")
    'WITH b AS (SELECT 2) SELECT * FROM b'
    """
    tokens = tokenize(sql)
    outer = [block for block in blocks(tokens) if block.depth == 0]
    if not outer or tokens[0].word != "WITH":
        return sql
    used = {one for block in outer for one in used_definitions(tokens, block)}
    kept = [one for one in outer[0].definitions if one in used]
    listed = ", ".join(sql[tokens[one.begin].start : tokens[one.end - 1].end] for one in kept)
    rest = sql[tokens[outer[0].begin].start :]
    return f"WITH {listed} {rest}" if kept else rest


def without_tables(tokens: Sequence[Token], names: set[str]) -> tuple[list[Token], dict[str, str]]:
    """Tokens with `f.x` as `x`, or `f_x` if `x` is ambiguous, and the column behind each name.

    >>> from weft.query.syntax.lexer import tokenize
    >>> found, columns = without_tables(tokenize("f.x + a.x + f.y + z"), {"f", "a"})
    >>> " ".join(token.text for token in found), columns["f_x"]
    ('`f_x` + `a_x` + `y` + z', 'f.x')
    """
    places = list(_qualified(tokens, names))
    owners = defaultdict(set)
    for at in places:
        owners[_word(tokens[at + 2])].add(_word(tokens[at]))
    bare = {_word(token) for i, token in enumerate(tokens) if _is_bare(tokens, i)}
    found: list[Token] = []
    columns: dict[str, str] = {}
    skip = 0
    for index, token in enumerate(tokens):
        if skip:
            skip -= 1
            continue
        if index not in places:
            found.append(token)
            continue
        table, column = unquoted(token.text), unquoted(tokens[index + 2].text)
        shared = len(owners[column.casefold()]) > 1 or column.casefold() in bare
        name = f"{table}_{column}" if shared else column
        columns[name.casefold()] = f"{token.text}.{tokens[index + 2].text}"
        text = quoted_name(name)
        found.append(Token("quoted", text, token.start, tokens[index + 2].end, text))
        skip = 2
    return found, columns


def _qualified(tokens: Sequence[Token], names: set[str]) -> Iterator[int]:
    for index in range(len(tokens) - 2):
        if (
            tokens[index].kind in ("name", "quoted")
            and _word(tokens[index]) in names
            and tokens[index + 1].text == "."
            and tokens[index + 2].kind in ("name", "quoted")
            and (index == 0 or tokens[index - 1].text != ".")
        ):
            yield index


def _is_bare(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token may be the name of a column without its table."""
    before = tokens[index - 1].text if index else ""
    after = tokens[index + 1].text if index + 1 < len(tokens) else ""
    return tokens[index].kind in ("name", "quoted") and before != "." and after not in ("(", ".")


def _needed(
    tokens: Sequence[Token], inside: Sequence[Token], definitions: tuple[Definition, ...]
) -> list[Definition]:
    """The definitions that the tokens name, and those that they depend on."""
    names = {_word(token) for token in inside if token.kind in ("name", "quoted")}
    found: list[Definition] = []
    for definition in reversed(definitions):
        if definition.name.casefold() in names:
            found.insert(0, definition)
            body = tokens[definition.begin : definition.end]
            names |= {_word(token) for token in body if token.kind in ("name", "quoted")}
    return found


def _name_end(tokens: Sequence[Token], position: int) -> int:
    """The index after a name, which may have dots in it."""
    if position >= len(tokens) or not _is_alias(tokens[position]):
        return position
    position += 1
    while position + 1 < len(tokens) and tokens[position].text == ".":
        position += 2
    return position


def _is_alias(token: Token) -> bool:
    return token.kind == "quoted" or (token.kind == "name" and token.word not in _JOINS)


def _word(token: Token) -> str:
    return unquoted(token.text).casefold()
