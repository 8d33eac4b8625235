"""Rules for the names of queries, outputs and keys."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from weft.errors import QueryError

LONGEST = 255
UNOWNED = "unowned"
"""The name under which queries without an owner are listed."""


def check_query_name(name: object) -> str:
    """A query's name, which also names a directory of its answers.

    >>> check_query_name("big trades")
    'big trades'
    """
    text = _check(name, "name")
    if "/" in text or text in (".", "..") or text != text.strip():
        raise QueryError(
            f"name={name!r} cannot name a query: accepted is any text of 1 to {LONGEST} characters "
            f"without '/', control characters or spaces around it (it also names a directory)"
        )
    return text


def check_owner(owner: object) -> str | None:
    """Check the owner of a query: one line of text, or None.

    >>> check_owner("payments team"), check_owner(None)
    ('payments team', None)
    """
    if owner is None:
        return None
    text = _check(owner, "owner")
    if text != text.strip():
        raise QueryError(f"owner={owner!r} has spaces around it")
    return text


def check_column_names(outputs: Iterable[object], keys: Iterable[object]) -> None:
    """The columns of a query's answers: `window`, its keys and outputs, each name once."""
    taken = {"window": "the window's column"}
    for field, names in (("by", keys), ("aggs", outputs)):
        for name in names:
            text = _check(name, field)
            before = taken.get(text.casefold())
            if before is not None:
                raise QueryError(
                    f"{field}: the name {name!r} is already {before} (names are compared without "
                    f"case); give it another with AS or as the key of aggs"
                )
            taken[text.casefold()] = f"the name of {'a key' if field == 'by' else 'an output'}"


def _check(name: object, field: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise QueryError(f"{field}={name!r} is not a name: accepted is any text that is not empty")
    if len(name) > LONGEST:
        raise QueryError(
            f"{field}={name[:40]!r}... has {len(name)} characters: at most {LONGEST} are accepted"
        )
    if "${" in name:
        raise QueryError(f"{field}={name!r} contains '${{', which Spark may replace by a setting")
    for char in name:
        if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp"):
            raise QueryError(f"{field}={name!r} contains the control character {char!r}")
    return name


def quoted_name(name: str) -> str:
    """A name in backquotes.

    >>> quoted_name("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"
