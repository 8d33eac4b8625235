"""Small HTML tables for notebooks, which show `_repr_html_` instead of `repr`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

SHOWN = 20
"""Most rows shown of a table: as many as fit a screen."""


def table(title: str, rows: Sequence[Mapping[str, Any]], *, more: int = 0, note: str = "") -> str:
    """Rows as a table under a title; `more` is how many there are beyond these.

    >>> print(table("two", [{"a": 1234, "b": "x < y"}], more=1, note="and no more"))
    <div><strong>two</strong>
    <table>
    <tr><th>a</th><th>b</th></tr>
    <tr><td style="text-align:right">1,234</td><td style="text-align:left">x &lt; y</td></tr>
    </table>
    <div>and 1 more</div>
    <div>and no more</div></div>
    """
    lines = [f"<div><strong>{escape(title)}</strong>"]
    if rows:
        heads = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
        lines += ["<table>", f"<tr>{heads}</tr>"]
        lines += [f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in rows]
        lines.append("</table>")
    if more:
        lines.append(f"<div>and {more:,} more</div>")
    if note:
        lines.append(f"<div>{escape(note)}</div>")
    return "\n".join(lines) + "</div>"


def _cell(value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is None:
        text = "-"
    elif number:
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    else:
        text = str(value)
    return f'<td style="text-align:{"right" if number else "left"}">{escape(text)}</td>'
