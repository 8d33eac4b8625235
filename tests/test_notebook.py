"""The notebook is well formed and has no outputs, and its cells run in order."""

from __future__ import annotations

import json

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from pages import ROOT

NOTEBOOK = ROOT / "examples" / "weave.ipynb"


@pytest.fixture
def cells() -> list[dict]:
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    return book["cells"]


def test_outputs_are_stripped(cells: list[dict]) -> None:
    for cell in cells:
        assert cell["cell_type"] in ("markdown", "code")
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


def test_its_cells_run_and_say_what_is_so(cells: list[dict], capsys) -> None:
    matplotlib.use("Agg")
    names: dict = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    for name in ("timeline", "busy", "quiet", "graph"):
        assert isinstance(names[name], Figure)
    assert "3 queries at 375 rows per second -> 1 tree" in capsys.readouterr().out
    busy, quiet = (
        {line.get_label(): line.get_ydata()[-1] for line in names[name].axes[0].lines}
        for name in ("busy", "quiet")
    )
    assert np.isclose(busy["weave"], busy["share_all"])
    assert busy["no_share"] > 50 * busy["weave"]
    assert quiet["share_all"] > quiet["no_share"] > quiet["weave"]
    assert names["covered"].coverages[0].factors
