r"""Refuses regular expressions with catastrophic backtracking.

Java's matcher tries every way to split a text among the repetitions of a pattern: `(a+)+b` takes
time exponential in the text's length, `.*.*.*.*b` polynomial time. An untrusted pattern must be a
constant, so it is checked before any row is read:

- a repeated group has no repetition and no alternatives: `(\w+\s)+` is refused, `(\d\d:)?` is not
- no back references; at most `REPEATS` unbounded repetitions, and at most `RUN` of them without a
  mandatory element in between
- over a text that the query itself makes (not a column), the number of steps is bounded
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from weft.query.limits import LIMITS, limits

REPEATS = 20
"""Most unbounded repetitions in one pattern."""
RUN = 3
"""Most unbounded repetitions without a mandatory element between them."""
FEW = 10
"""Repetitions of at most this many are not counted."""
STEPS = 1e8
"""Most steps of a match over a text that the query itself makes."""
DEEP = 40
"""Most levels of nested groups."""
_COUNT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_OPENING = re.compile(r"\(\?(?:<?[=!]|[:>]|<\w+>|[a-zA-Z-]*[:)])")


class _Refused(Exception):
    """Why a pattern is refused."""


@dataclass
class _Group:
    """The content of a pair of parentheses."""

    repeats: bool = False
    alternatives: bool = False


def pattern_refusal(pattern: str, length: float | None = None) -> str | None:
    r"""Why a pattern is refused, or None. `length` is that of a text which the query itself makes.

    >>> pattern_refusal(r"^(\d+)-(\d+)$") is None
    True
    >>> pattern_refusal("(a+)+b")
    'the pattern repeats a group that contains a repetition, which may take forever'
    """
    most = limits().pattern
    if len(pattern) > most:
        return (
            f"the pattern has {len(pattern):,} characters: at most {most:,} are accepted (the "
            f"limit pattern of {LIMITS})"
        )
    reader = _Reader(pattern, most)
    try:
        while reader.at < len(pattern):  # Spark reports an unbalanced parenthesis
            reader.group(0)
            reader.at += 1
    except _Refused as refused:
        return str(refused)
    if reader.repeats > REPEATS or reader.longest > RUN:
        return (
            f"the pattern has {reader.repeats} unbounded repetitions, {reader.longest} in a row: "
            f"at most {REPEATS} and {RUN} are accepted"
        )
    return repeats_refusal(reader.repeats, length)


def repeats_refusal(repeats: int, length: float | None) -> str | None:
    """Why this many repetitions over a text that the query itself makes are refused, or None."""
    if length is None or max(length, 2.0) ** min(repeats, 100) <= STEPS:
        return None
    return (
        f"the pattern has {repeats} unbounded repetitions over a text of up to {length:,.0f} bytes "
        f"that the query itself makes: match a column instead"
    )


class _Reader:
    """A pattern read from left to right."""

    def __init__(self, pattern: str, most: int) -> None:
        self.pattern, self.most = pattern, most
        self.at = 0
        self.repeats = self.longest = self._run = 0

    def group(self, depth: int) -> _Group:
        """Everything up to the parenthesis that closes the group, or the end."""
        if depth > DEEP:
            raise _Refused(f"the pattern has groups nested more than {DEEP} deep")
        found = _Group()
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                found.alternatives, self._run, self.at = True, 0, self.at + 1
                continue
            inner = self._atom(depth)
            least, most = self._quantifier()
            if most > 1 and inner is not None:
                self._repeated(inner, most)
            if inner is not None:
                found.repeats |= inner.repeats
            if most > FEW:
                found.repeats = True
                self.repeats, self._run = self.repeats + 1, self._run + 1
                self.longest = max(self.longest, self._run)
            elif least > 0 and inner is None:
                self._run = 0
        return found

    def _repeated(self, inner: _Group, most: float) -> None:
        if inner.repeats:
            raise _Refused(
                "the pattern repeats a group that contains a repetition, which may take forever"
            )
        if inner.alternatives and most > FEW:
            raise _Refused(
                "the pattern repeats a group of alternatives, which may take forever: write a "
                "class such as [ab]"
            )

    def _atom(self, depth: int) -> _Group | None:
        """Skip one atom; return its content if it is a group."""
        rest = self.pattern[self.at :]
        if rest[0] == "(":
            opening = _OPENING.match(rest)
            self.at += opening.end() if opening else 1
            if opening and opening[0].endswith(")"):  # only flags, such as (?i)
                return None
            inner = self.group(depth + 1)
            self.at += 1
            return inner
        if rest[0] == "\\":
            if rest[1:2] and rest[1] in "123456789k":
                raise _Refused("the pattern refers back to a group, which may take forever")
            quoted = rest.find("\\E") if rest[1:2] == "Q" else -2
            self.at += {-2: 2, -1: len(rest)}.get(quoted, quoted + 2)
        elif rest[0] == "[":
            self.at += _class_length(rest)
        else:
            self.at += 1
        return None

    def _quantifier(self) -> tuple[float, float]:
        """Skip a quantifier; return its minimum and maximum (1 and 1 without a quantifier)."""
        character = self.pattern[self.at : self.at + 1]
        counted = _COUNT.match(self.pattern, self.at)
        least, most = 1.0, 1.0
        if counted is not None:
            least = float(counted[1])
            most = least if counted[2] is None else float(counted[3] or "inf")
            self.at = counted.end()
            if max(least, most if most != float("inf") else 0) > self.most:
                raise _Refused(
                    f"the pattern repeats something more than {self.most:,} times (the limit "
                    f"pattern of {LIMITS})"
                )
        elif character and character in "*+?":
            least, most = {"*": (0, float("inf")), "+": (1, float("inf")), "?": (0, 1)}[character]
            self.at += 1
        else:
            return least, most
        if self.pattern[self.at : self.at + 1] in ("?", "+"):  # lazy or possessive
            self.at += 1
        return least, most


def _class_length(text: str) -> int:
    """The length of a class such as `[^]a-z]` at the start of a text; classes nest."""
    position, depth = 1, 1
    position += text[position : position + 1] == "^"
    position += text[position : position + 1] == "]"
    while position < len(text):
        if text[position] == "\\":
            position += 1
        depth += {"[": 1, "]": -1}.get(text[position : position + 1], 0)
        position += 1
        if depth == 0:
            return position
    return len(text)
