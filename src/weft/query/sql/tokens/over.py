"""Window functions, ORDER BY and other clauses over answers, and the expressions in them.

A clause is text with numbered placeholders. The expression behind a placeholder is read as one more
item of the SELECT list, and comes back as SQL over the columns of the answers:

    rank() OVER (PARTITION BY window ORDER BY count(*) DESC)
    `rank() OVER (PARTITION BY`, 0, `ORDER BY`, 1, `DESC )`      0: window, 1: count(*)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weft.errors import QueryError
from weft.query.functions import AGGREGATES
from weft.query.sql.select.answers import OVER
from weft.query.sql.select.nodes import unquoted
from weft.query.syntax.lexer import Token, closed, place

EXTRA = "weft_item_"
"""Prefix of the names of expressions that are read in addition to the SELECT list."""
_FRAMES = ("ROWS", "RANGE", "GROUPS")
_CONSTANT = ("number", "string", "literal")

Clause = list[str | int]
"""Pieces of text, and between them the numbers of expressions."""


@dataclass
class Lifted:
    """What is taken out of a SELECT so that the rest can be read as a shared query."""

    sql: str
    aliases: Mapping[str, Sequence[Token]]
    """The SELECT items that have an alias, by alias in lower case."""
    fields: Mapping[str, Sequence[Token]] = field(default_factory=dict)
    """The items without an alias that are columns or fields, by their own names."""
    extras: list[list[Token]] = field(default_factory=list)
    overs: list[Clause] = field(default_factory=list)
    called: set[str] = field(default_factory=set)
    """The aliases that were replaced by their items where a column would take precedence."""

    def without_over(self, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with a name in place of every window function."""
        found: list[Token] = []
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if not (_is_word(token, "OVER") and found and _ends_call(found[-1])):
                found.append(token)
                index += 1
                continue
            if index + 1 >= len(tokens) or tokens[index + 1].text != "(":
                raise self._fail(token, "OVER a named window: write what it is in parentheses")
            call, end = self._taken(found, token), closed(tokens, index + 1)
            self.overs.append(self._over(call, tokens[index + 2 : end]))
            name = f"{OVER}{len(self.overs) - 1}"
            found.append(Token("name", name, call[0].start, call[0].end, name.upper()))
            index = end + 1
        return found

    def ordering(self, tokens: Sequence[Token]) -> Clause:
        """The clause of an ORDER BY; aliases and positions of items stay as they are."""
        clause: Clause = []
        for at, item in enumerate(split(tokens)):
            clause += [","] if at else []
            clause += self._ordered(item, by_output=True)
        return clause

    def condition(self, tokens: Sequence[Token]) -> Clause:
        """A condition on answers, such as that of QUALIFY."""
        return [self._extra(self.without_over(self._named(tokens, columns_first=True)))]

    def items(self) -> Iterator[tuple[list[Token], str]]:
        """The expressions to be read in addition to the SELECT list, with their names."""
        for number, tokens in enumerate(self.extras):
            yield tokens, f"{EXTRA}{number}"

    def _over(self, call: Sequence[Token], spec: Sequence[Token]) -> Clause:
        opening = next(i for i, token in enumerate(call) if token.text == "(")
        end = closed(call, opening)
        rest = [token.word for token in call[end + 1 :]]
        if rest not in ([], ["IGNORE", "NULLS"], ["RESPECT", "NULLS"]):
            raise self._fail(call[0], "FILTER of a window function")
        clause: Clause = [call[0].text, "("]
        for at, argument in enumerate(split(call[opening + 1 : end])):
            clause += [","] if at else []
            clause.append(self._argument(argument))
        return [*clause, ")", *rest, "OVER", "(", *self._spec(spec), ")"]

    def _argument(self, tokens: Sequence[Token]) -> str | int:
        if len(tokens) == 1 and (tokens[0].kind in _CONSTANT or tokens[0].text == "*"):
            return tokens[0].text
        return self._extra(self._named(tokens, columns_first=True))

    def _spec(self, tokens: Sequence[Token]) -> Clause:
        """The clause in the parentheses after OVER."""
        clause: Clause = []
        frame = next((i for i in level(tokens) if _is_word(tokens[i], *_FRAMES)), len(tokens))
        order = next((i for i in level(tokens[:frame]) if _is_word(tokens[i], "ORDER")), frame)
        if order and [token.word for token in tokens[:2]] != ["PARTITION", "BY"]:
            raise self._fail(tokens[0], "OVER takes PARTITION BY, ORDER BY and a frame")
        for at, item in enumerate(split(tokens[2:order])):
            clause += [","] if at else ["PARTITION BY"]
            clause.append(self._extra(self._named(item, columns_first=True)))
        for at, item in enumerate(split(tokens[order + 2 : frame])):
            clause += [","] if at else ["ORDER BY"]
            clause += self._ordered(item, by_output=False)
        return [*clause, *(token.text for token in tokens[frame:])]

    def _ordered(self, tokens: Sequence[Token], *, by_output: bool) -> Clause:
        """One expression to order by, with what follows it: DESC, NULLS LAST."""
        end = len(tokens)
        if end > 2 and tokens[end - 2].word == "NULLS":
            end -= 2
        if end > 1 and tokens[end - 1].word in ("ASC", "DESC"):
            end -= 1
        what, suffix = tokens[:end], [token.word for token in tokens[end:]]
        if by_output and len(what) == 1:
            token = what[0]
            named = _name(token) in self.aliases or _name(token) in self.fields
            if token.kind == "number" or named or token.word == "ALL":
                return [token.text, *suffix]
        meant = self._named(what, columns_first=not by_output)
        return [self._extra(self.without_over(meant)), *suffix]

    def _extra(self, tokens: list[Token]) -> int:
        self.extras.append(tokens)
        return len(self.extras) - 1

    def _named(self, tokens: Sequence[Token], *, columns_first: bool) -> list[Token]:
        """The tokens with aliases replaced by their items; in an aggregate, names are columns."""
        found: list[Token] = []
        inside = 0
        for index, token in enumerate(tokens):
            if index < inside:
                found.append(token)
                continue
            before = tokens[index - 1].text if index else ""
            after = tokens[index + 1].text if index + 1 < len(tokens) else ""
            if after == "(" and token.text.lower() in AGGREGATES:
                inside = closed(tokens, index + 1) + 1
            known = self.aliases if columns_first else {**self.fields, **self.aliases}
            meant = known.get(_name(token)) if token.kind in ("name", "quoted") else None
            if meant is None or before == "." or after in (".", "("):
                found.append(token)
                continue
            if columns_first:
                self.called.add(_name(token))
            opening, closing = (Token("op", sign, token.start, token.end, sign) for sign in "()")
            found += [opening, *meant, closing]
        return found

    def _taken(self, found: list[Token], over: Token) -> list[Token]:
        """Remove the call at the end of a list of tokens, and return it."""
        end = len(found)
        if found[-1].word == "NULLS":
            end -= 2
        start = end - 1
        while True:
            depth = 0
            while start >= 0:
                depth += {")": 1, "(": -1}.get(found[start].text, 0)
                if depth == 0:
                    break
                start -= 1
            start -= 1
            if start > 0 and found[start].word == "FILTER":
                start -= 1
                continue
            break
        if start < 0:
            raise self._fail(over, "OVER needs a function before it")
        call = found[start:]
        del found[start:]
        return call

    def _fail(self, token: Token, message: str) -> QueryError:
        return QueryError(place(self.sql, token.start, message))


def filled(clause: Clause, expressions: Sequence[str]) -> str:
    """The text of a clause, with its expressions filled in."""
    pieces = (piece if isinstance(piece, str) else f"({expressions[piece]})" for piece in clause)
    return " ".join(pieces)


def split(tokens: Sequence[Token], sign: str = ",") -> list[Sequence[Token]]:
    """Split tokens at the commas outside parentheses; no tokens give an empty list."""
    if not tokens:
        return []
    found, begin = [], 0
    for index in level(tokens):
        if tokens[index].text == sign:
            found.append(tokens[begin:index])
            begin = index + 1
    return [*found, tokens[begin:]]


def level(tokens: Sequence[Token]) -> Iterator[int]:
    """The indexes of tokens outside parentheses, the parentheses themselves included."""
    depth = 0
    for index, token in enumerate(tokens):
        depth -= token.text in (")", "]")
        if depth == 0:
            yield index
        depth += token.text in ("(", "[")


Aliased = tuple[Sequence[Token], str | None]


def list_end(tokens: Sequence[Token], begin: int, after: Sequence[str]) -> int:
    """The index after a list: of a word that may follow it, of a bracket that closes, or the end.

    >>> from weft.query.syntax.lexer import tokenize
    >>> list_end(tokenize("(ORDER BY f(a, b), c ROWS 1 PRECEDING)"), 3, ("ROWS",))
    11
    """
    depth, end = 0, begin
    while end < len(tokens) and (depth or tokens[end].word not in after):
        depth += (tokens[end].text == "(") - (tokens[end].text == ")")
        if depth < 0:
            break
        end += 1
    return end


def aliased(item: Sequence[Token]) -> Aliased:
    """The expression of a SELECT item, and its alias in lower case.

    >>> from weft.query.syntax.lexer import tokenize
    >>> [aliased(tokenize(sql))[1] for sql in ("a + b AS n", "f(x) n", "CASE x END", "t.x")]
    ['n', 'n', None, None]
    """
    last = item[-1]
    if len(item) < 2 or last.kind not in ("name", "quoted"):
        return item, None
    before = item[-2]
    if before.word == "AS":
        return item[:-2], _name(last)
    ends = before.text in (")", "]") or before.kind in ("quoted", "number", "string", "literal")
    ends = ends or (before.kind == "name" and before.word not in ("DISTINCT", "NOT", "IS"))
    if ends and last.word not in ("END", "NULL", "TRUE", "FALSE", "NULLS"):
        return item[:-1], _name(last)
    return item, None


def _ends_call(token: Token) -> bool:
    return token.text == ")" or token.word == "NULLS"


def _is_word(token: Token, *words: str) -> bool:
    return token.kind == "name" and token.word in words


def _name(token: Token) -> str:
    return unquoted(token.text).casefold()
