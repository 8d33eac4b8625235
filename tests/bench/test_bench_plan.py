"""`weft bench plan`: the run on small settings, and that wrong answers are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft.bench import plan as bench
from weft.bench.report import BenchReport
from weft.bench.workloads import EXPERIMENTS, Experiment, Setting
from weft.plan.cost import LinearCost
from weft.plan.search.weave import search as weave

LIMITS = {"bitset": 10**6, "f1": 10**5, "f1_table": 10**5}


def point(setting: Setting) -> tuple[BenchReport, dict[str, dict[str, object]]]:
    report = BenchReport()
    rows = bench.point({"experiment": "0"}, setting, 0, LIMITS, report)
    return report, {str(row["method"]): row for row in rows}


@pytest.mark.parametrize("fragments", [False, True])
def test_all_methods_end_with_the_same_plan(fragments: bool) -> None:
    report, rows = point(Setting(60, 12, 5.0, 0.5, 10, fragments=fragments))
    assert report.failures == []
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert len({row["trees"] for row in rows.values()}) == 1
    assert rows["f1"]["faster"] == 1.0
    assert not rows["exact"]["at_least"]


def test_methods_past_their_budget_are_recorded() -> None:
    report, rows = point(Setting(60, 60, 1000.0, 0.0, 10))
    assert report.failures == []
    assert rows["exact"]["status"] == "ok"
    for method in ("bitset", "f1"):
        assert rows[method]["status"] == "past its budget"
        assert rows[method]["cost"] is None
    assert rows["exact"]["at_least"]


def compared(edit: str) -> BenchReport:
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
    report = BenchReport()
    other, exact = (good, bad) if edit == "exact rate" else (bad, good)
    if edit == "exact rate":
        exact = replace(good, edge_rate=good.edge_rate * (1 + 1e-8))
    runs = {"f1": bench._Run(1.0, other), "exact": bench._Run(1.0, exact)}
    bench._compare("here", runs, table, cost, report)
    return report


def test_a_wrong_answer_fails_it() -> None:
    assert compared("nothing").failures == []
    assert "here: f1 costs" in compared("rate").failures[0]
    assert "here: f1 costs" in compared("plan").failures[0]
    assert "edge rates of exact are not those of its trees" in compared("exact rate").failures[0]


def test_a_run_says_how_the_targets_were_met(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Experiment(3, "input rate", "rate", (100, 20_000), Setting(40, 30, 100, 1, 100))
    large = replace(EXPERIMENTS[0], values=(100, 2_000))
    monkeypatch.setattr(bench, "EXPERIMENTS", (large, small))
    monkeypatch.setattr(bench, "HEAVY", Setting(1_000, 50, 100, 0.5, 10))
    monkeypatch.setattr(bench, "FIGURE_14", Setting(20, 8, 100, 0.7, 10))
    told: list[str] = []
    report = bench.run(quick=True, progress=lambda done, total, what: told.append(what))
    assert report.failures == []
    assert len(told) == 8
    assert len(report.rows) == 8 * len(bench.METHODS) + 4
    said = "\n".join(report.summary)
    for target in ("figure 14", "from lambda 1e4", "exact: 8 of 8 points", "peak memory"):
        assert target in said
    comparisons = [row["comparisons"] for row in report.rows if "comparisons" in row]
    assert comparisons == sorted(comparisons, reverse=True)
    assert all(np.isfinite(row["seconds"]) for row in report.rows)
