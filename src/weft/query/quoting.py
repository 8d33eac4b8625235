"""Values for error messages: enough to recognise them, but huge ones are shortened."""

from __future__ import annotations

QUOTED = 60
"""Most characters of a value that a message quotes."""
LONG = 200
"""The same for an expression, where the message also shows the place of the error."""
_BITS = 256
"""Larger integers are shown by size only: Python refuses to print thousands of digits."""


def quoted(value: object, most: int = QUOTED) -> str:
    """A value as Python writes it, cut to about `most` characters.

    >>> quoted("10 minutes"), quoted(7), quoted("9" * 5000, 8)
    ("'10 minutes'", '7', "'99999999'... (5,000 characters)")
    >>> quoted(10**5000)
    'an integer of 16,610 bits'
    """
    if isinstance(value, int) and value.bit_length() > _BITS:
        return f"an integer of {value.bit_length():,} bits"
    if isinstance(value, str):
        more = f"... ({len(value):,} characters)" if len(value) > most else ""
        return f"{value[:most]!r}{more}"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # it contains a huge integer or deeply nested lists
        return f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."
