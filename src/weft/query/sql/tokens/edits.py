"""Changes of a statement's text, all made at once.

Reading the tokens again after every change would take time that grows with the square of the text.
"""

from __future__ import annotations

from collections.abc import Iterable

Edit = tuple[int, int, str]
"""The text between two positions becomes another one; equal positions insert it."""


def edited(sql: str, edits: Iterable[Edit]) -> str:
    """A statement with changes that do not overlap.

    >>> edited("a::int, b", [(1, 6, " AS int)"), (0, 0, "CAST("), (8, 9, "c")])
    'CAST(a AS int), c'
    """
    found: list[str] = []
    at = 0
    for begin, end, text in sorted(edits, key=lambda edit: edit[:2]):
        found += [sql[at:begin], text]
        at = end
    return "".join([*found, sql[at:]])
