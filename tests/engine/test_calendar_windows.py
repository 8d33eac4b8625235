"""The engine's arithmetic on calendar windows, compared with a list of all their instances."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from weft.algebra.ops import bind
from weft.algebra.part import Part
from weft.engine.answer import DueWindows
from weft.engine.finals.batch import Slices, answer
from weft.engine.query_windows import FAR, QueryWindows
from weft.errors import WindowError
from weft.query.calendar import Calendar
from weft.query.window import Window
from weft.stream.tree_schema import first_start

DAY = 86_400_000_000
LOW, HIGH = 19_600 * DAY, 20_400 * DAY  # 2023-08-31 to 2025-11-08
WINDOWS = [
    Calendar(range="1 month", zone="Europe/Berlin"),
    Calendar(range="3 months", slide="1 month", zone="America/New_York"),
    Calendar(range="1 month", slide="1 quarter", offset="1 month", zone="Asia/Kolkata"),
    Calendar(range="1 week", zone="Australia/Lord_Howe"),
    Calendar(range="10 days", slide="3 days"),
    Window(range="30 days", slide="7 days", offset="5 hours"),
]


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_starts_and_ends_are_those_of_the_instances(window: Window) -> None:
    random = np.random.default_rng(1)
    all_starts, all_ends = window.instances(LOW - 300 * DAY, HIGH + 300 * DAY)
    assert (np.diff(all_starts) > 0).all()
    edges = np.concatenate([all_starts, all_ends])
    for _ in range(60):
        # Often an edge itself, or next to one.
        near = random.choice(edges[(edges > LOW) & (edges < HIGH)], 6) + random.integers(-1, 2, 6)
        low, high = np.sort(near[:2]).tolist()
        after, upto = np.sort(near[2:4]).tolist()
        since, until = np.sort(near[4:6]).tolist()
        for service in (
            QueryWindows.of(window), QueryWindows.of(window, since=since, until=until)
        ):  # fmt: skip
            served = (all_starts >= service.since) & (all_starts < service.until)
            due = served & (all_ends > low) & (all_starts <= high)
            due &= (all_ends > after) & (all_ends <= upto)
            got = service.starts(low, high, after, upto)
            assert got.tolist() == all_starts[due].tolist()
            assert service.ends(got).tolist() == all_ends[due].tolist()
            assert len(got) <= service.count(low, high, after, upto) <= len(got) + 1
            still = all_starts[served & (all_ends > after)]
            found = service.next_start(after)
            assert found == (still[0] if len(still) else None)
            assert (all_ends - all_starts).max() <= service.longest
            slices = np.sort(random.integers(LOW, HIGH, 20))
            assert service.is_late(slices, after).tolist() == [
                _is_late(slice_, all_starts[served], all_ends[served], all_starts, after)
                for slice_ in slices.tolist()
            ]
        assert first_start(window, since) == all_starts[all_starts >= since][0]


def _is_late(slice_: int, starts: np.ndarray, ends: np.ndarray, every: np.ndarray, at: int) -> bool:
    """Whether the latest window that starts by a slice is served, contains it, and is closed."""
    latest = every[every <= slice_][-1]
    own = np.flatnonzero(starts == latest)
    return bool(len(own) and ends[own[0]] > slice_ and ends[own[0]] <= at)


@pytest.mark.parametrize("structure", ["auto", "naive", "flatfit", "two_stacks"])
def test_answers_of_windows_on_several_scales(structure: str) -> None:
    random = np.random.default_rng(2)
    key = np.sort(random.integers(0, 3, 400))
    times = np.concatenate(
        [np.sort(random.integers(LOW, HIGH, (key == k).sum())) for k in range(3)]
    )
    values, counts = random.integers(0, 99, 400), random.random(400) < 0.5
    part = (bind(Part("sum", ("x",)), [pa.int64()]), [pa.array(values)])
    after, upto = LOW + 100 * DAY, HIGH - 100 * DAY
    dues = [
        DueWindows(QueryWindows.of(window), after, upto) for window in WINDOWS
    ]  # fmt: skip
    asks = [due.request((0,), counts if at % 2 else None) for at, due in enumerate(dues)]
    found: dict[int, dict] = {}
    for some in answer(Slices(key, times), [part], asks, structure=structure, chunk=150, most=40):
        whose = [ask for ask, count in some.asks for _ in range(count)]
        spans = np.array([WINDOWS[ask].range for ask in whose])
        ends = some.start + spans if some.end is None else some.end
        rows = zip(some.key.tolist(), some.start.tolist(), ends.tolist(), strict=True)
        for ask, row, total in zip(whose, rows, some.parts[0][0].to_pylist(), strict=True):
            found.setdefault(ask, {})[row] = total
    for at, window in enumerate(WINDOWS):
        taken = counts if at % 2 else np.ones(400, dtype=bool)
        expected = {}
        for start, end in zip(*(a.tolist() for a in window.instances(LOW, HIGH)), strict=True):
            for k in range(3):
                mine = taken & (key == k) & (times >= start) & (times < end)
                if after < end <= upto and mine.any():
                    expected[k, start, end] = int(values[mine].sum())
        assert found[at] == expected


def test_a_row_before_the_zones_table_is_an_error_of_its_query() -> None:
    ask = DueWindows(QueryWindows.of(WINDOWS[0])).request((), None)
    with pytest.raises(WindowError, match="starts at 1969"):
        list(answer(Slices(np.array([0]), np.array([-5])), [], [ask]))
    assert QueryWindows.of(WINDOWS[0]).next_start(-FAR) == -FAR
