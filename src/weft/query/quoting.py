"""Values as error messages show them: enough to recognise them, never all of a huge one."""

from __future__ import annotations

QUOTED = 60
"""Characters of a value that a message quotes."""
LONG = 200
"""The same of an expression, of which a message shows the place of the error besides."""
_BITS = 256
"""Python refuses to print integers of thousands of digits; past this, only their size is shown."""


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
    except (ValueError, RecursionError):  # a huge integer within it, or no end of lists
        return f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."
