"""The papers' examples, with every intermediate number."""

from __future__ import annotations

import pytest
from edge_cases import composite_edges, edges_of, ended
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.plan.edges import METHODS, Progressions, edge_rate, weaveability
from weft.plan.edges.bitset import composite_slide
from weft.plan.edges.f1 import f1_terms
from weft.query.window import Window


def f1_shifts(*queries):
    """F1 section 3.2: slides with their shifts; fragments (f1, f2) shift the second by f1."""
    offset, step = [], []
    for slide, fragment in queries:
        offset += [0] if fragment is None else [0, fragment]
        step += [slide] if fragment is None else [slide, slide]
    return offset, step


def test_f1_examples_2_and_3_without_fragments():
    terms, groups = f1_terms(*f1_shifts((2, None), (3, None), (4, None), (5, None), (6, None)))
    assert [term * 60 for term in terms] == [87, 70, 36, 10, 1]
    assert groups == 2**5 - 1
    assert 87 - 70 + 36 - 10 + 1 == 44
    windows = [Window(range=slide) for slide in (2, 3, 4, 5, 6)]
    for method in METHODS:
        assert edge_rate(windows, method, fractions=True) * 60 == 44
        assert edge_rate(windows, method) * 60 == pytest.approx(44)


def test_f1_examples_4_and_6_with_fragments():
    terms, _ = f1_terms(*f1_shifts((3, None), (4, 3), (6, 2), (9, None)))
    assert [term * 36 for term in terms] == [46, 26, 8, 1]
    assert 46 - 26 + 8 - 1 == 27
    # The second fragment is range mod slide: 4 = 3 + 1, 6 = 2 + 4.
    windows = [ended(3, 3), ended(5, 4), ended(10, 6), ended(9, 9)]
    assert edges_of(windows)[1][:8] == [2, 3, 4, 6, 7, 8, 9, 11]
    for method in METHODS:
        assert edge_rate(windows, method, fractions=True) * 36 == 27
        assert edge_rate(windows, method) * 36 == pytest.approx(27)


def test_f1_example_5_overlap_check():
    assert len(f1_terms([0, 3], [3, 6])[0]) == 2
    assert len(f1_terms([0, 2], [3, 6])[0]) == 1


def test_weaveshare_example_2():
    # WeaveShare puts the fragment range mod slide first: windows start at multiples of the slide.
    a, b = Window(range=12, slide=9), Window(range=10, slide=6)
    assert edge_rate([a]) == pytest.approx(2 / 9)
    assert edge_rate([b]) == pytest.approx(2 / 6)
    both = Progressions.of_windows([a, b])
    assert composite_slide(both) == 18
    assert composite_edges(both) == [3, 4, 6, 9, 10, 12, 16, 18]
    assert edge_rate([a, b], fractions=True) * 18 == 8
    for method in METHODS:
        assert weaveability([a], [b], method) == pytest.approx(0.25)


def test_weaveshare_example_4_common_edges():
    x, y = Window(range=7, slide=5), Window(range=3)  # fragments 2 and 3; fragments 0 and 3
    per_15 = [edge_rate(windows, fractions=True) * 15 for windows in ([x], [y], [x, y])]
    assert per_15 == [6, 5, 9]
    of_x = composite_edges(Progressions.of_windows([x]))
    assert of_x == [2, 5]
    of_both = composite_edges(Progressions.of_windows([x, y]))
    assert of_both == [2, 3, 5, 6, 7, 9, 10, 12, 15]
    assert weaveability([x], [y]) == pytest.approx(2 / 9)  # 12 and 15, found by probing y's edges


def test_sigmod06_figure_3_composition():
    u, v = ended(18, 15), ended(12, 9)  # U(12, 3) and V(6, 3)
    period, edges = edges_of([u, v])
    assert period == 45
    slices = [b - a for a, b in zip([0, *edges], edges, strict=False)]
    assert slices == [6, 3, 3, 3, 3, 6, 3, 3, 3, 3, 6, 3]
    composed = Progressions.of_windows([u, v])
    assert composite_slide(composed) * composed.unit == 45
    assert composite_edges(composed) == edges
    assert edge_rate([u, v], fractions=True) * 45 == 12
    assert edge_rate([u], fractions=True) * 45 == 6
    assert edge_rate([v], fractions=True) * 45 == 10  # 6 + 10 - 12 = 4 shared, the ovals


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 30)), min_size=1, max_size=6),
    st.sampled_from(METHODS),
)
def test_sigmod06_theorem_1_pairs_never_cut_more_than_panes(sizes, method):
    windows = [ended(range, slide) for range, slide in sizes]
    pairs = edge_rate(windows, method, fractions=True)
    panes = edge_rate(windows, method, fractions=True, pieces="panes")
    assert pairs <= panes


def test_panes_cut_at_every_common_divisor_from_the_phase():
    window = Window(range=18, slide=12, offset=5)
    assert edge_rate([window], pieces="panes", fractions=True) * 6 == 1
    assert edge_rate([window], fractions=True) * 6 == 1  # ends half a slide after the starts
    window = Window(range=10, slide=4, offset=1)
    assert Progressions.of_windows([window], "panes").unit == 2
    assert edge_rate([Window(range=15, slide=10)], pieces="panes") == pytest.approx(1 / 5)
    assert edge_rate([Window(range=13, slide=10)], pieces="panes") == 1.0
    assert edge_rate([Window(range=13, slide=10)]) == pytest.approx(2 / 10)
