"""Cards, and the page that is generated from them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from weft.algebra.cards import cards, table
from weft.algebra.catalogue import FUNCTIONS
from weft.algebra.registry import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "aggregates.md"


def test_every_function_and_kind_has_a_row() -> None:
    assert len(cards()) == len(FUNCTIONS)
    found = table()
    assert all(f"\n| `{kind}` |" in found for kind in KINDS)


def test_a_card_claims_what_all_its_parts_do() -> None:
    by_name = {card.name: card for card in cards()}
    mean, distinct = by_name["avg(x)"], by_name["count(DISTINCT x)"]
    assert (mean.laws.invertible, mean.laws.idempotent, mean.bounded) == (True, False, True)
    assert (distinct.laws.idempotent, distinct.bounded) == (True, False)
    assert by_name["first(x)"].order == "all"
    assert by_name["max_by(x, y)"].order == "ties"


def test_the_page_holds_the_generated_tables() -> None:
    assert table() in PAGE.read_text(encoding="utf-8"), (
        "docs/aggregates.md is out of date: replace its tables by the output of "
        "python -m weft.algebra"
    )


def test_the_module_prints_the_tables() -> None:
    command = [sys.executable, "-m", "weft.algebra"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.decode() == table()
