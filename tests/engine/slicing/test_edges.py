"""Edges, compared with brute force over every instant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.engine.slicing.edges import TreeEdges, windows_of
from weft.engine.slicing.lookup import NO_SLICE
from weft.errors import WindowError
from weft.query.window import Window

progressions = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(1, 40)), min_size=1, max_size=12
)
windows = st.builds(
    lambda r, s, o: Window(range=r, slide=s, offset=o),
    st.integers(1, 30),
    st.integers(1, 30),
    st.integers(-40, 40),
)


def is_edge(at: int, of: list[tuple[int, int]]) -> bool:
    return any((at - offset) % step == 0 for offset, step in of)


@given(progressions, st.integers(-200, 200))
@settings(max_examples=300, deadline=None)
def test_a_slice_starts_at_the_greatest_edge_not_after_the_time(of, shift) -> None:
    times = np.arange(shift, shift + 60)
    edges = TreeEdges(of)
    expected, ends = [], []
    for at in times.tolist():
        expected.append(next(e for e in range(at, at - 50, -1) if is_edge(e, of)))
        ends.append(next(e for e in range(at + 1, at + 50) if is_edge(e, of)))
    assert edges.slice_start(times).tolist() == expected
    assert edges._latest(times).tolist() == expected
    assert edges.slice_end(times).tolist() == ends


@given(progressions, st.integers(-200, 200), st.integers(0, 150))
@settings(max_examples=300, deadline=None)
def test_edges_between_are_all_the_edges_in_order(of, low, length) -> None:
    expected = [at for at in range(low, low + length) if is_edge(at, of)]
    assert TreeEdges(of).edges_between(low, low + length).tolist() == expected


def test_edges_between_works_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = TreeEdges([(1, 7), (3, 11), (0, 13)])
    whole = edges.edges_between(-500, 700)
    monkeypatch.setattr("weft.engine.slicing.edges._CHUNK", 10)
    assert edges.edges_between(-500, 700).tolist() == whole.tolist()


def test_sparse_edges_do_not_mark_every_granule() -> None:
    day = 86_400_000_000
    edges = TreeEdges([(1, 1000 * day), (2, 999 * day)])
    found = edges.edges_between(0, 10_000 * day)
    expected = {1 + k * 1000 * day for k in range(10)} | {2 + k * 999 * day for k in range(11)}
    assert found.tolist() == sorted(expected)


@given(st.lists(windows, min_size=1, max_size=4), st.integers(-300, 300))
@settings(max_examples=300, deadline=None)
def test_a_slice_is_needed_if_some_window_takes_its_times(listed, shift) -> None:
    edges = TreeEdges.of_windows(listed)
    times = np.arange(shift, shift + 60)
    taken = [any((t - w.phase) % w.slide < w.range for w in listed) for t in times.tolist()]
    assert edges.needed(edges.slice_start(times)).tolist() == taken


@given(st.lists(windows, min_size=1, max_size=3), st.integers(-10_000, 10_000))
@settings(max_examples=300, deadline=None)
def test_tables_say_what_arithmetic_says(listed, shift) -> None:
    edges = TreeEdges.of_windows(listed)
    times = np.arange(shift, shift + 100)
    starts = edges.slice_start(times)
    expected = np.where(edges.needed(starts), starts, NO_SLICE)
    table = edges.lookup_table(1 << 20)
    assert table is not None
    assert table.slice_start(times).tolist() == expected.tolist()
    span = edges.span_table(shift, shift + 99, 1 << 20)
    assert span is not None
    assert span.slice_start(times).tolist() == expected.tolist()
    assert span.slice_start([shift - 10_000, shift + 10_000]).tolist() == [NO_SLICE, NO_SLICE]


def test_a_table_that_would_be_too_long_is_none() -> None:
    edges = TreeEdges([(0, 7), (0, 11), (0, 13)])
    assert edges.lookup_table(1000) is None
    assert edges.lookup_table(1001) is not None
    assert edges.span_table(0, 1000, 1000) is None


def test_the_granule_takes_offsets_into_account() -> None:
    edges = TreeEdges([(5, 60), (25, 80)])
    assert (edges.granule, edges.base, edges.period) == (20, 5, 240)


def test_a_period_past_64_bits_is_none() -> None:
    primes = [1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049]
    assert TreeEdges([(0, p) for p in primes]).period is None


def test_the_period_is_that_of_the_gaps_too() -> None:
    # Edges repeat every 2, but the second window takes only every other of the odd slices.
    listed = [Window(range=1, slide=2), Window(range=1, slide=4, offset=1)]
    table = TreeEdges.of_windows(listed).lookup_table(64)
    assert table is not None
    assert table.back.tolist() == [0, 0, 0, -1]


def test_progressions_within_others_are_dropped() -> None:
    edges = TreeEdges([(7, 6), (1, 3), (0, 4), (2, 4), (4, 4)])
    assert list(zip(edges.offset.tolist(), edges.step.tolist(), strict=True)) == [
        (1, 3),
        (0, 4),
        (2, 4),
    ]


def test_many_progressions_are_cleaned_alike() -> None:
    random = np.random.default_rng(5)
    of = [(int(o), int(s)) for o, s in random.integers((0, 900), (900, 999), (1500, 2))]
    assert len({(o % s, s) for o, s in of}) > 1000
    edges = TreeEdges(of).edges_between(0, 500)
    assert edges.tolist() == [at for at in range(500) if is_edge(at, of)]


@given(windows, st.lists(windows, max_size=3), st.integers(-200, 200))
@settings(max_examples=300, deadline=None)
def test_windows_of_a_slice_are_those_that_contain_it(window, others, shift) -> None:
    edges = TreeEdges.of_windows([window, *others]).edges_between(shift, shift + 80)
    if len(edges) < 2:
        return
    starts, ends = edges[:-1], edges[1:]
    first, count = windows_of(window, starts, ends)
    for low, high, start, many in zip(starts, ends, first, count, strict=True):
        found = [int(start) + k * window.slide for k in range(int(many))]
        near = range(int(low) - 100, int(low) + 1)
        instances = [s for s in near if (s - window.phase) % window.slide == 0]
        assert found == [s for s in instances if s <= low and high <= s + window.range]


@pytest.mark.parametrize("at", [np.iinfo(np.int64).min + 20, np.iinfo(np.int64).max - 20])
def test_times_at_the_ends_of_64_bits_do_not_overflow(at: int) -> None:
    edges = TreeEdges([(0, 10), (3, 1 << 40)])
    assert edges.slice_start([at]).tolist() == [at // 10 * 10]
    assert edges.slice_end([at]).tolist() == [at // 10 * 10 + 10]


def test_a_time_without_an_edge_before_it_is_refused() -> None:
    with pytest.raises(WindowError, match="no edge before"):
        TreeEdges([(0, 10)]).slice_start([np.iinfo(np.int64).min])
    with pytest.raises(WindowError, match="no edge after"):
        TreeEdges([(0, 10)]).slice_end([np.iinfo(np.int64).max])


@pytest.mark.parametrize("of", [[], [(0, 0)], [(3, -5)]])
def test_progressions_must_move(of) -> None:
    with pytest.raises(WindowError):
        TreeEdges(of)
