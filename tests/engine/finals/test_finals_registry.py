"""The registry, its cards, and the page that shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft.engine.finals
from weft.algebra.monoid import Laws
from weft.engine.finals import STRUCTURES, cards, servers
from weft.engine.finals.registry import structure, table
from weft.errors import FinalsError

DOCS = Path(__file__).parents[3] / "docs" / "finals.md"


def test_every_structure_the_design_names_is_there() -> None:
    named = ["naive", "flatfat", "bint", "flatfit", "two_stacks", "daba", "subtract", "shift"]
    assert list(STRUCTURES) == named
    assert [card.name for card in cards()] == [*named, "blocks"]


def test_the_page_shows_the_cards() -> None:
    assert table() in DOCS.read_text()


def test_only_subtract_needs_laws() -> None:
    nothing = Laws(commutative=False, invertible=False, idempotent=False)
    everything = Laws(commutative=True, invertible=True, idempotent=False)
    assert set(STRUCTURES) - set(servers(nothing)) == {"subtract"}
    assert set(servers(everything)) == set(STRUCTURES)


def test_what_works_on_whole_batches_only_is_told_apart() -> None:
    with pytest.raises(FinalsError, match=r"blocks works on whole batches \(finals.batch\)"):
        structure("blocks")


def test_public_names_are_there() -> None:
    for name in weft.engine.finals.__all__:
        assert getattr(weft.engine.finals, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'treap'"):
        _ = weft.engine.finals.treap  # type: ignore[attr-defined]
