"""Benchmark `plan`: a run with small settings, and that wrong answers are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.studies import plan
from benchmarks.support import experiments, million, planning
from benchmarks.support.harness import Bench, WrongAnswer
from benchmarks.support.workloads import EXPERIMENTS, Experiment, Setting
from weft.plan.cost import LinearCost
from weft.plan.search.weave import search as weave

LIMITS = {"bitset": 10**6, "f1": 10**5, "f1_table": 10**5}


def point(setting: Setting) -> dict[str, dict[str, object]]:
    rows = planning.point({"experiment": "0"}, setting, LIMITS)
    return {str(row["method"]): row for row in rows}


@pytest.mark.parametrize("fragments", [False, True])
def test_all_methods_end_with_the_same_plan(fragments: bool) -> None:
    rows = point(Setting(60, 12, 5.0, 0.5, 10, fragments=fragments))
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert len({row["trees"] for row in rows.values()}) == 1
    assert rows["f1"]["faster"] == 1.0
    assert not rows["exact"]["at_least"]


def test_methods_past_their_budget_are_recorded() -> None:
    rows = point(Setting(60, 60, 1000.0, 0.0, 10))
    assert rows["exact"]["status"] == "ok"
    for method in ("bitset", "f1"):
        assert rows[method]["status"] == "past its budget"
        assert rows[method]["cost"] is None
    assert rows["exact"]["at_least"]


def compared(edit: str) -> dict[str, str]:
    setting = Setting(60, 20, 5.0, 0.5, 10)
    table = setting.table()
    cost = LinearCost(5.0, 0.0, table.overlap)
    good = weave.search(table, cost)
    rate, labels = good.edge_rate.copy(), good.labels.copy()
    if edit == "rate":
        rate *= 1 + 1e-8
    elif edit == "plan":
        labels[-1] = 0 if labels[-1] else 1
    bad = replace(good, edge_rate=rate, labels=labels)
    other, exact = (good, bad) if edit == "exact rate" else (bad, good)
    if edit == "exact rate":
        exact = replace(good, edge_rate=good.edge_rate * (1 + 1e-8))
    runs = {"f1": planning.Run(1.0, other), "exact": planning.Run(1.0, exact)}
    return planning.compared("here", runs, table, cost)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("rate", "here: f1 costs"),
        ("plan", "here: f1 costs"),
        ("exact rate", "here: exact: edge rates are not those of its trees"),
    ],
)
def test_a_wrong_answer_fails_it(edit: str, said: str) -> None:
    assert compared("nothing") == {}
    with pytest.raises(WrongAnswer, match=said):
        compared(edit)


def test_a_run_says_how_the_targets_were_met(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    large = replace(EXPERIMENTS[0], values=(100, 2_000))
    small = Experiment(2, "input rate", "rate", (100, 20_000), Setting(40, 30, 100, 1, 100))
    for module in (plan, experiments):
        monkeypatch.setattr(module, "EXPERIMENTS", (large, small))
    monkeypatch.setattr(planning, "FIGURE_14", Setting(20, 8, 100, 0.7, 10))
    heavy = {"heavy merging": Setting(1_000, 50, 100, 0.5, 10)}
    monkeypatch.setattr(million, "WORKLOADS", heavy)
    found = Bench("plan").measure(full=False)
    assert len(found.rows) == 8 * len(planning.METHODS) + 4 + 1
    assert len(capsys.readouterr().err.splitlines()) == len(found.rows)
    said = "\n".join(found.claim.also)
    for target in ("figure 14", "exact: 8 of 8 points", "1,000 queries, heavy merging", "GiB)"):
        assert target in said
    comparisons = [row["comparisons"] for row in found.rows if "comparisons" in row]
    assert comparisons == sorted(comparisons, reverse=True)
    assert all(np.isfinite(row["seconds"]) for row in found.rows)
