"""Several groupings in one GROUP BY (ROLLUP, CUBE, GROUPING SETS), each read as its own SELECT.

    SELECT a, b, count(*) FROM t GROUP BY window(ts, '1 hour'), ROLLUP (a, b)

asks for three queries: by (a, b), by (a) and by the window alone. A key that a grouping lacks is
replaced by NULL, and `grouping(a)` by a constant that says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

from weft.errors import QueryError
from weft.query.functions import AGGREGATES
from weft.query.sql.select.nodes import unquoted
from weft.query.sql.tokens.over import level, split
from weft.query.syntax.lexer import Token, closed, place

Key = tuple[Token, ...]
_WORDS = ("ROLLUP", "CUBE", "GROUPING")
_MOST = 256
"""The most groupings that one SELECT may have."""


@dataclass(frozen=True)
class Groupings:
    """The sets of keys that a GROUP BY groups by, and all of its keys in order."""

    choices: list[list[Key]]
    keys: list[Key]


def groupings(sql: str, tokens: Sequence[Token]) -> Groupings | None:
    """The groupings in the tokens after GROUP BY; None if they are a plain list of keys.

    >>> from weft.query.syntax.lexer import tokenize
    >>> sql = "w, ROLLUP (a, (b, c)), GROUPING SETS ((d), ())"
    >>> found = groupings(sql, tokenize(sql)).choices
    >>> ["".join(token.text for key in keys for token in key) for keys in found]
    ['wabcd', 'wabc', 'wad', 'wa', 'wd', 'w']
    """
    if not any(_is_word(tokens, index) for index in level(tokens)):
        return None
    words = [token.word for token in tokens[-2:]]
    if words in (["WITH", "ROLLUP"], ["WITH", "CUBE"]):
        keys = [(tuple(key),) for key in split(tokens[:-2])]
        return Groupings([list(some) for some in _sets(words[1], keys)], _flat(keys))
    begin = next((i for i in level(tokens) if _is_hive(tokens, i)), None)
    known: dict[tuple[str, ...], Key] = {}  # a key that is written twice counts once
    if begin is not None:  # GROUP BY a, b GROUPING SETS ((a), (b))
        known = {_words(tuple(key)): tuple(key) for key in split(tokens[:begin])}
        tokens = tokens[begin:]
    items = [_alternatives(sql, item) for item in split(tokens)]
    found = [
        list(dict.fromkeys(known.setdefault(_words(key), key) for key in _flat(some)))
        for some in product(*items)
    ]
    if len(found) > _MOST:
        raise QueryError(place(sql, tokens[0].start, f"more than {_MOST} groupings"))
    return Groupings(found, list(known.values()))


def without_keys(
    sql: str, tokens: Sequence[Token], missing: Sequence[Key], keys: Sequence[Key]
) -> list[Token]:
    """A SELECT's tokens with NULL for keys that a grouping lacks, and constants for `grouping()`.

    Inside an aggregate, names still mean columns.
    """
    gone = {_name(key) for key in missing}
    if None in gone:
        reason = "a key that is no column, in some groupings and not in others"
        raise QueryError(place(sql, missing[0][0].start, reason))
    found: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        after = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if after == "(" and token.word in ("GROUPING", "GROUPING_ID"):
            end = closed(tokens, index + 1)
            asked = [tuple(one) for one in split(tokens[index + 2 : end])] or list(keys)
            found.append(_constant(token, asked, gone))
            index = end + 1
        elif after == "(" and token.text.lower() in AGGREGATES:
            end = closed(tokens, index + 1)
            found += tokens[index : end + 1]
            index = end + 1
        else:
            length = 3 if after == "." and index + 2 < len(tokens) else 1
            before = tokens[index - 1].text if index else ""
            named = _name(tuple(tokens[index : index + length]))
            is_alias = index and tokens[index - 1].word == "AS"
            if named in gone and before != "." and not is_alias and after != "(":
                found.append(Token("name", "NULL", token.start, token.end, "NULL"))
            else:
                found += tokens[index : index + length]
            index += length
    return found


def _constant(token: Token, asked: Sequence[Key], gone: set[str | None]) -> Token:
    bits = sum((_name(key) in gone) << (len(asked) - 1 - at) for at, key in enumerate(asked))
    kind = "TINYINT" if token.word == "GROUPING" else "BIGINT"
    text = f"{bits}{'Y' if kind == 'TINYINT' else 'L'}"
    return Token("number", text, token.start, token.end, text)


def _alternatives(sql: str, item: Sequence[Token]) -> list[tuple[Key, ...]]:
    """The sets of keys that one item of GROUP BY stands for."""
    word = item[0].word if item else ""
    if word == "GROUPING" and len(item) > 2 and item[1].word == "SETS":
        inner = split(item[3 : closed(item, 2)])
        return [some for one in inner for some in _alternatives(sql, one)]
    if word in ("ROLLUP", "CUBE") and len(item) > 1 and item[1].text == "(":
        return _sets(word, [_keys(one) for one in split(item[2 : closed(item, 1)])])
    return [_keys(item)]


def _keys(item: Sequence[Token]) -> tuple[Key, ...]:
    """`(a, b)`, `()` or `a`."""
    if item and item[0].text == "(" and closed(item, 0) == len(item) - 1:
        return tuple(tuple(key) for key in split(item[1:-1]))
    return (tuple(item),) if item else ()


def _sets(word: str, keys: Sequence[tuple[Key, ...]]) -> list[tuple[Key, ...]]:
    if word == "ROLLUP":
        return [tuple(_flat(keys[:count])) for count in range(len(keys), -1, -1)]
    chosen = (some for count in range(len(keys), -1, -1) for some in combinations(keys, count))
    return [tuple(_flat(some)) for some in chosen]


def _flat(some: Sequence[tuple[Key, ...]]) -> list[Key]:
    return [key for keys in some for key in keys]


def _is_word(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if token.kind != "name" or token.word not in _WORDS:
        return False
    if token.word == "GROUPING":
        return after is not None and after.word == "SETS"
    with_ = index > 0 and tokens[index - 1].word == "WITH"
    return with_ or (after is not None and after.text == "(")


def _is_hive(tokens: Sequence[Token], index: int) -> bool:
    words = [token.word for token in tokens[index : index + 2]]
    return index > 0 and words == ["GROUPING", "SETS"] and tokens[index - 1].text != ","


def _words(key: Key) -> tuple[str, ...]:
    return tuple(unquoted(token.text).casefold() for token in key)


def _name(key: Key) -> str | None:
    """The name of a key that is a column, without its table; None for other keys."""
    plain = len(key) == 1 or (len(key) == 3 and key[1].text == ".")
    if not plain or key[-1].kind not in ("name", "quoted"):
        return None
    return unquoted(key[-1].text).casefold()
