"""The cost models: the paper's formula, and what the engine's adds."""

import numpy as np
import pytest

from weft.plan.cost import Constants, EngineCost, PaperCost, Statistics


def test_paper_cost_is_weaveshare_equation_1():
    model = PaperCost.of(np.array([4.0, 2.0, 2.0]), rate=1.2)
    trees = model.price(np.array([0.25, 0.2, 0.25]), np.array([4.0, 2.0, 2.0]))
    assert trees == pytest.approx([2.2, 1.6, 1.7])
    assert trees.sum() == pytest.approx(5.5)  # WeaveShare example 3, before sharing


def engine(rate=1000.0, groups=10.0, fragments=1.0, constants=None):
    return EngineCost.of(
        np.array([4.0, 100.0]),
        np.array([2.0, 2.0]),
        rate=rate,
        groups=groups,
        fragments=fragments,
        constants=constants or Constants(row=2.0, partial=10.0, combine=1.0, answer=5.0),
    )


def test_engine_cost_agrees_with_its_linear_form_where_it_was_linearised():
    model = engine()
    weight = model.linear.weight.sum()
    assert model.price(np.array([1.0]), np.array([weight]))[0] == pytest.approx(
        model.linear.tree(1.0, weight)
    )


def test_a_slice_never_holds_more_partials_than_rows():
    crowded = engine(rate=10.0, groups=1e6)
    cost = crowded.price(np.array([1000.0]), np.array([0.0]))[0]
    rows_only = 10.0 * 2.0 + 10.0 * 10.0  # every row of the stream is one partial
    assert cost == pytest.approx(rows_only, rel=1e-3)


def test_a_long_window_costs_no_more_combines_than_a_constant_time_final():
    weight = engine().linear.weight
    assert weight[1] == weight[0]  # both overlap factors are past three combines a slice


def test_groups_of_unknown_keys_multiply_what_is_known():
    known = Statistics(groups={"symbol": 50.0, "venue, side": 8.0})
    assert known.groups_of(frozenset()) == 1.0
    assert known.groups_of(frozenset(["symbol"])) == 50.0
    assert known.groups_of(frozenset(["venue", "side"])) == 8.0
    assert known.groups_of(frozenset(["symbol", "other"])) == 5000.0
    assert Statistics.from_dict(known.to_dict()) == known
