"""The cost models: the paper's formula, and what the engine's adds."""

import numpy as np
import pytest

from weft.engine.finals.registry import STRUCTURES
from weft.plan.cost import COMBINES, Constants, EngineCost, PaperCost, Statistics


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


def batch(overlap: list[float], span: float | None = 100.0) -> EngineCost:
    return EngineCost.of(
        np.array(overlap),
        np.full(len(overlap), 2.0),
        rate=1000.0,
        groups=10.0,
        fragments=1.0,
        constants=Constants(row=2.0, partial=10.0, combine=1.0, tree=5000.0, alone=300.0),
        span=span,
    )


def test_a_query_that_runs_as_it_is_pays_for_copies_of_rows_and_for_its_own_job():
    # 10 groups in each window of 2 and 6 units, one window every 2 units; jobs every 100 units.
    assert batch([1.0, 3.0]).apart(np.array([0.5, 1.0])) == pytest.approx(
        [300 / 100 + 1000 * 1 * 2 + 10 / 2 * 10, 300 / 100 + 1000 * 3 * 2 + 10 / 2 * 10]
    )


def test_a_query_of_much_overlap_is_cut_into_slices_also_by_itself():
    model, edges = batch([3.1]), np.array([0.5])
    assert model.apart(edges) == pytest.approx(model.price(edges, model.linear.weight))


def test_on_a_stream_no_query_runs_as_it_is_and_jobs_cost_nothing():
    model, edges = batch([1.0], span=None), np.array([0.5])
    assert model.apart(edges) == pytest.approx(model.price(edges, model.linear.weight))
    assert model.linear.fixed == pytest.approx(2000.0)


def test_the_final_structure_has_its_price() -> None:
    overlap, slide = np.array([64.0]), np.array([1.0])
    known = Constants()

    def price(finals: str) -> float:
        model = EngineCost.of(
            overlap, slide, rate=100.0, groups=10.0, fragments=1.0, constants=known, finals=finals
        )
        return float(model.price(np.array([1.0]), model.linear.weight)[0])

    assert price("subtract") < price("flatfit") == price("auto") < price("daba")
    assert price("daba") < price("flatfat") < price("bint") < price("naive") == price("shift")


def test_every_structure_has_a_price() -> None:
    assert set(COMBINES) == {"auto", "blocks", *STRUCTURES}
