"""The value of a string literal, as Spark parses it."""

from __future__ import annotations

import re

from weft.query.syntax.tree import Literal

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_MEANT = {
    "0": "\0",
    "b": "\b",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "Z": "\x1a",
    "%": r"\%",
    "_": r"\_",
}


def string_value(node: Literal) -> str | None:
    r"""The text of a string literal; None for other literals.

    >>> string_value(Literal("string", r"'it\'s \\d+'")), string_value(Literal("number", "5"))
    ("it's \\d+", None)
    """
    if node.kind != "string":
        return None
    text = node.text
    if text[0] in "rR":
        return text[2:-1]
    return _ESCAPE.sub(_unescaped, text[1:-1].replace(text[0] * 2, text[0]))


def _unescaped(match: re.Match[str]) -> str:
    said = match[1]
    if said[0] in "uU" and len(said) > 1:
        number = int(said[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    if len(said) == 3:
        return chr(int(said, 8))
    return _MEANT.get(said, said)
