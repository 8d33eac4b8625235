"""The contributors' guide is true: hooks, workflow, good first issues, numbers of decisions."""

from __future__ import annotations

import re

import yaml

from pages import ROOT


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_hooks_are_what_make_check_runs() -> None:
    recipe = read("Makefile").split("\ncheck:")[1].split("\n\n")[0]
    made = re.findall(r"^\t\$\(BIN\)/(.+)$", recipe, re.MULTILINE)
    (local,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert local["repo"] == "local"
    assert [hook["entry"].removeprefix(".venv/bin/") for hook in local["hooks"]] == made


def test_the_workflow_runs_what_developers_run() -> None:
    steps = yaml.safe_load(read(".github/workflows/ci.yml"))["jobs"]["ci"]["steps"]
    assert steps[-1] == {"run": ".ci/run"}


def test_files_and_names_of_good_first_issues_are_there() -> None:
    section = read("CONTRIBUTING.md").split("## Good first issues\n")[1].split("\n## ")[0]
    places = [line.split(" | ")[1] for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(places) > 5
    for place in places:
        files = re.findall(r"`((?:src|tests)/[^`]+)`", place)
        text = "".join(read(file) for file in files)
        for name in re.findall(r"`([\w.]+)`", place):
            assert name.split(".")[-1] in text, name


def test_the_policy_says_what_the_page_says() -> None:
    policy, page = (" ".join(read(n).split()) for n in ("SECURITY.md", "docs/security.md"))
    for words in ("Report a vulnerability", "within three working days", "Only the newest release"):
        assert words in policy
        assert words in page


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    index = read("docs/decisions/index.md")
    files = sorted(p.name for p in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert [int(name[:4]) for name in files] == list(range(1, len(files) + 1))
    assert re.findall(r"^- \[\d{4}: .*\]\((.*)\)$", index, re.MULTILINE) == files


def test_a_word_is_in_the_glossary_once() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", read("docs/glossary.md"), re.MULTILINE)[1:]
    words = [word for row in rows for word in row.split(", ")]
    assert len(words) > 90
    assert [word for word in set(words) if words.count(word) > 1] == []
