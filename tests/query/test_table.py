"""Windows as arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import WindowError
from weft.query.table import WindowTable
from weft.query.window import Window

windows = st.builds(
    lambda r, s, o: Window(range=r, slide=s, offset=o),
    st.integers(1, 100),
    st.integers(1, 100),
    st.integers(-100, 100),
)


@given(st.lists(windows, max_size=10))
def test_a_table_is_its_windows(listed: list[Window]) -> None:
    table = WindowTable.of_windows(listed)
    assert list(table) == listed
    assert table.overlap.tolist() == pytest.approx([window.overlap for window in listed])
    assert table.start.tolist() == [window.phase for window in listed]
    for window, start, end in zip(listed, table.start, table.end, strict=True):
        assert {(int(start), window.slide), (int(end), window.slide)} == set(window.progressions())


def test_take() -> None:
    table = WindowTable(range=[1, 2, 3], slide=[4, 5, 6], offset=[7, 8, 9])
    assert list(table.take(np.array([2, 0]))) == [table[2], table[0]]


def test_one_offset_for_all_and_no_slide() -> None:
    table = WindowTable(range=[4, 6], offset=1)
    assert list(table) == [Window(range=4, offset=1), Window(range=6, offset=1)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"range": [1, 0]}, r"range\[1\]=0 must be longer than nothing"),
        ({"range": [1], "slide": [-1]}, r"slide\[0\]=-1 must be longer"),
        ({"range": [1, 2], "slide": [1]}, "one length"),
        ({"range": [1.5]}, "range must be integers, not float64"),
        ({"range": [[1]]}, "one-dimensional"),
    ],
)
def test_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(WindowError, match=message):
        WindowTable(**given)  # type: ignore[arg-type]


def test_mixed_axes_are_refused() -> None:
    with pytest.raises(WindowError, match="cannot be mixed"):
        WindowTable.of_windows([Window(range=1), Window(range="1 hour")])
