"""What `auto` chooses, and that it says why."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchmarks.slides.slides import sliding
from weft.algebra.monoid import Laws
from weft.algebra.ops import bind
from weft.algebra.part import Part
from weft.engine.finals import choose
from weft.errors import FinalsError

EXTREME = Laws(commutative=True, invertible=False, idempotent=True)
EXACT = Laws(commutative=True, invertible=True, idempotent=False)
ORDERED = Laws(commutative=False, invertible=False, idempotent=False)


@pytest.mark.parametrize(
    ("laws", "need", "structure"),
    [
        (EXTREME, {"window": 256}, "two_stacks"),
        (ORDERED, {"window": 256}, "two_stacks"),
        (EXTREME, {"window": 256, "keys": 1000}, "two_stacks"),
        (EXTREME, {"window": 1024, "ranges": 1024}, "shift"),
        (EXTREME, {"window": 100_000, "ranges": 4}, "two_stacks"),
        (EXTREME, {"window": 256, "ranges": 8, "keys": 100}, "flatfit"),
        (ORDERED, {"window": 256, "ranges": 8, "numbers": False}, "flatfit"),
        (ORDERED, {"window": 4, "numbers": False}, "naive"),
        (EXTREME, {"form": "batch"}, "two_stacks"),
        (EXTREME, {"form": "batch", "ranges": 50}, "blocks"),
        (EXACT, {"form": "batch", "ranges": 50}, "subtract"),
        (ORDERED, {"form": "batch", "ranges": 50, "numbers": False}, "two_stacks"),
        (EXTREME, {"form": "stream", "window": 1440}, "flatfit"),
        (EXACT, {"form": "stream", "window": 1440}, "subtract"),
        (EXTREME, {"form": "stream", "window": 1440, "ranges": 20}, "flatfit"),
        (EXTREME, {"form": "stream", "window": 3, "ranges": 20}, "naive"),
        (EXTREME, {"form": "stream"}, "flatfit"),
    ],
)
def test_by_laws_ranges_keys_and_window(laws: Laws, need: dict[str, int], structure: str) -> None:
    choice = choose(laws, **need)  # type: ignore[arg-type]
    assert choice.structure == structure
    assert str(choice) == f"{structure}: {choice.reason}"
    assert len(choice.reason) > 20


def test_the_choice_can_be_made() -> None:
    op = bind(Part("max", ("x",)), [pa.float64()])
    for ranges in (1, 3, 200):
        sliding("auto", op, capacity=200, ranges=ranges)


@pytest.mark.parametrize("need", [{"ranges": 0}, {"keys": 0}, {"window": 0}])
def test_a_need_of_nothing_is_refused(need: dict[str, int]) -> None:
    with pytest.raises(FinalsError, match="must be at least 1"):
        choose(EXTREME, **need)  # type: ignore[arg-type]
