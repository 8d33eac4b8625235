"""Changes of a statement's text, all made at once.

Reading the tokens again after every change would take time that grows with the square of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

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


@dataclass
class Rewriting:
    """Replaces parts of a statement from the last to the first, inner ones before outer ones.

    >>> found = Rewriting("f(a, f(b))")
    >>> found.replace(5, 9, "g(b)")
    >>> found.replace(0, 10, f"g({found.text(5, 9)}, a)")
    >>> found.whole
    'g(g(b), a)'
    """

    sql: str
    edits: list[Edit] = field(default_factory=list)
    """The outermost so far, the first in the text last."""

    def text(self, begin: int, end: int) -> str:
        """A part of the statement as it is now; positions are those in the original."""
        inside = []
        for edit in reversed(self.edits):
            if edit[0] >= end:
                break
            if edit[0] >= begin:
                inside.append((edit[0] - begin, edit[1] - begin, edit[2]))
        return edited(self.sql[begin:end], inside)

    def replace(self, begin: int, end: int, text: str) -> None:
        """Replace a part; what was replaced inside it is part of the new text, or gone."""
        while self.edits and self.edits[-1][0] < end:
            self.edits.pop()
        self.edits.append((begin, end, text))

    @property
    def whole(self) -> str:
        """The whole statement as it is now."""
        return edited(self.sql, self.edits)
