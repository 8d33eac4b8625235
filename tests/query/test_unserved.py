"""Every aggregate of Spark is supported, or is in a table with the reason why not."""

from __future__ import annotations

from pathlib import Path

from weft.algebra.catalogue import CALLABLE
from weft.query.functions import SPARK_AGGREGATES, UNSERVED

PAGE = Path(__file__).parents[2] / "docs" / "aggregates.md"


def listed() -> str:
    """The table in docs/aggregates.md: all aggregates with the same reason are in one row."""
    reasons: dict[str, list[str]] = {}
    for name, reason in UNSERVED.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    rows = [f"| {', '.join(names)} | {reason} |" for reason, names in reasons.items()]
    return "\n".join(["| aggregate | it |", "|---|---|", *rows]) + "\n"


def test_each_is_served_or_has_a_reason() -> None:
    assert set(UNSERVED) == SPARK_AGGREGATES - set(CALLABLE)
    assert all(len(reason) > 20 for reason in UNSERVED.values())


def test_the_table_is_on_the_page() -> None:
    assert PAGE.read_text(encoding="utf-8").split("<!-- unserved -->\n")[1] == listed()
