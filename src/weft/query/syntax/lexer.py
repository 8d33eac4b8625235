"""Splits Spark SQL text into tokens with their positions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal as OneOf
from typing import NamedTuple

from weft.errors import ExpressionError

NUMBER = 200
"""Most characters of a number: Spark's widest has 38 digits, and Python's conversions to int and
float fail on numbers with hundreds or thousands."""
EXPONENT = 6
"""Most digits of a number's exponent; Python's Decimal accepts up to 18."""
LINE = 320
"""Most characters of a line that an error quotes; of a longer line, those around the place."""
TokenKind = OneOf["name", "quoted", "number", "string", "literal", "op"]
"""`literal` is a typed literal or an interval: several words of SQL that make one constant."""


class Token(NamedTuple):
    """A piece of SQL as written, and where it begins and ends in the text."""

    kind: TokenKind
    text: str
    start: int
    end: int
    word: str
    """The word in upper case for an unquoted name, else the text unchanged."""


_PIECES = re.compile(
    r"""
      (?P<space>   \s+ | \ufeff | --(?:\\\n|[^\r\n])* )
    | (?P<comment> /\* )
    | (?P<string>  [rR]'[^']*' | [rR]"[^"]*"
                 | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" )
    | (?P<quoted>  `(?:[^`]|``)*` )
    | (?P<number>  (?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?:[bB][dD]|[lLsSyYfFdD])?(?!\w) )
    | (?P<name>    \w+ )
    | (?P<op>      <=> | >>> | <> | != | == | <= | >= | -> | => | :: | \|\| | << | >>
                 | [-+*/%&|^~!<>=().,\[\]:;?@\#{}$] )
    """,
    re.VERBOSE | re.DOTALL,
)
_TYPED = {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME", "X"}
_UNIT = re.compile(
    r"(?:YEAR|MONTH|WEEK|DAY|HOUR|MINUTE|SECOND|MILLISECOND|MICROSECOND|NANOSECOND)S?", re.I
)


def tokenize(sql: str) -> list[Token]:
    """The tokens of a text, without white space and comments.

    >>> [token.text for token in tokenize("volume > 5L -- many")]
    ['volume', '>', '5L']
    >>> [token.text for token in tokenize("d > date '2024-01-01' + interval 1  day")]
    ['d', '>', "DATE '2024-01-01'", '+', 'INTERVAL 1 DAY']
    """
    return _join_literals(_split(sql))


def _split(sql: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while position < len(sql):
        piece = _PIECES.match(sql, position)
        if piece is None:
            what = "is not closed" if sql[position] in "'\"`" else "is not SQL"
            raise ExpressionError(place(sql, position, f"{sql[position]!r} {what}"))
        kind = piece.lastgroup
        if kind == "comment":
            position = _comment_end(sql, position)
            continue
        if kind != "space":
            text = piece.group()
            if kind == "number":
                _check_number(sql, position, text)
            word = text.upper() if kind == "name" else text
            tokens.append(Token(kind, text, position, piece.end(), word))  # type: ignore[arg-type]
        position = piece.end()
    return tokens


def _check_number(sql: str, position: int, text: str) -> None:
    """Refuse a number that is too long, before anything converts it."""
    if len(text) > NUMBER:
        raise ExpressionError(
            place(
                sql,
                position,
                f"the number {text[:20]}... has {len(text):,} characters: at most {NUMBER} are "
                f"accepted",
            )
        )
    exponent = re.search(r"[eE][+-]?0*(\d*)", text)
    if exponent is not None and len(exponent[1]) > EXPONENT:
        raise ExpressionError(
            place(
                sql,
                position,
                f"the number's exponent has {len(exponent[1])} digits: at most {EXPONENT} are "
                f"accepted",
            )
        )


def _comment_end(sql: str, start: int) -> int:
    """The end of a bracketed comment; as in Spark, comments nest, except for hints."""
    depth, position = 0, start
    while True:
        if sql.startswith("/*", position) and not (depth and sql.startswith("/*+", position)):
            depth, position = depth + 1, position + 2
        elif sql.startswith("*/", position):
            depth, position = depth - 1, position + 2
            if depth == 0:
                return position
        elif position >= len(sql):
            raise ExpressionError(place(sql, start, "the comment is not closed"))
        else:
            position += 1


def _join_literals(tokens: list[Token]) -> list[Token]:
    """Typed literals (`DATE '2024-01-01'`) and intervals as one token each."""
    joined: list[Token] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        following = tokens[position + 1] if position + 1 < len(tokens) else None
        after_dot = bool(joined) and joined[-1].text == "."
        end = position + 1
        if token.kind == "name" and following is not None and not after_dot:
            if token.word in _TYPED and following.kind == "string":
                end = position + 2
            elif token.word == "INTERVAL":
                end = _interval_end(tokens, position)
        if end > position + 1:
            text = " ".join(piece.word for piece in tokens[position:end])
            joined.append(Token("literal", text, token.start, tokens[end - 1].end, text))
        else:
            joined.append(token)
        position = end
    return joined


def _interval_end(tokens: list[Token], start: int) -> int:
    """The index after the interval that starts at `start`; the next index if there is none."""
    position, end = start + 1, start + 1
    while position < len(tokens):
        if tokens[position].text in ("+", "-") and end == start + 1:
            position += 1
        if position >= len(tokens) or tokens[position].kind not in ("number", "string"):
            break
        alone = tokens[position].kind == "string" and end == start + 1  # INTERVAL '1 day'
        position += 1
        if position >= len(tokens) or not _is_unit(tokens[position]):
            return position if alone else end
        position += 1
        end = position
        words = [token.word for token in tokens[position : position + 2]]
        if words[:1] == ["TO"] and len(words) == 2 and _is_unit(tokens[position + 1]):
            return position + 2
    return end


def _is_unit(token: Token) -> bool:
    return token.kind == "name" and _UNIT.fullmatch(token.text) is not None


def closed(tokens: Sequence[Token], opening: int) -> int:
    """The index of the matching closing parenthesis; the end if there is none.

    >>> closed(tokenize("f(a, (b))"), 1)
    7
    """
    depth = 0
    for index in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return len(tokens)


def place(sql: str, position: int, message: str) -> str:
    """A message that quotes a place in a text: line, column and a caret under it.

    Of a long line only the part around the place is quoted.

    >>> print(place("a >\\n  b +", 8, "something is missing"))
    something is missing (line 2, column 5):
        b +
          ^
    """
    line, begin = sql.count("\n", 0, position) + 1, sql.rfind("\n", 0, position) + 1
    column = position - begin + 1
    end = sql.find("\n", position)
    end = end if end >= 0 else len(sql)
    left, right = begin, end
    if end - begin > LINE:
        left, right = max(begin, position - LINE // 4), min(end, position + LINE // 4)
    before, after = "..." if left > begin else "", "..." if right < end else ""
    # Tabs are kept, so that the caret is under its character.
    pad = "".join("\t" if char == "\t" else " " for char in f"{before}{sql[left:position]}")
    quoted = f"{before}{sql[left:right]}{after}"
    return f"{message} (line {line}, column {column}):\n  {quoted}\n  {pad}^"
