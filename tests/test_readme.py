"""The README's first example runs unchanged, without Spark; the links resolve."""

import re

from pages import ROOT, python_blocks, run_blocks

README = ROOT / "README.md"


def test_the_first_example_plans_and_explains(capsys):
    exec(compile(python_blocks("README.md")[0], "README.md", "exec"), {})
    assert "2 queries at 375 rows per second" in capsys.readouterr().out


def test_what_is_said_of_losing_is_so(capsys):
    plan = run_blocks("docs/when-sharing-loses.md", {})["plan"]
    assert [tree.queries for tree in plan.trees] == [("regular", "regular_too"), ("awkward",)]
    shown = capsys.readouterr().out
    assert "no sharing costs" in shown
    assert re.search(r"regular .* do not share: one tree of both would cost .* more", shown)


def test_every_page_it_links_to_is_there():
    for link in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / link).exists(), link
