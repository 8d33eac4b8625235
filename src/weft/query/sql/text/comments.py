"""Settings in the comments before a statement: `-- name: hourly`, `-- owner: payments`."""

from __future__ import annotations

import re


def said(word: str, before: str, default: str | None = None) -> str | None:
    """The value in the last comment of a kind; the default if there is none.

    >>> said("name", "-- name: old\\n-- Name: hourly, by symbol\\n")
    'hourly, by symbol'
    """
    comment = rf"--[ \t]*{word}:[ \t]*([^\n]*)"
    found = re.findall(comment, before, re.IGNORECASE)
    return (found[-1].strip() if found else default) or None
