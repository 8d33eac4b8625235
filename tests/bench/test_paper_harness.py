"""The papers' benchmarks: the list, claims, stored rows, and pages and pictures made from these."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import BENCHES, FOLDERS
from benchmarks.__main__ import main, run
from benchmarks.support import harness
from benchmarks.support.draw import Picture, draw
from benchmarks.support.harness import Bench, Claim, WrongAnswer, check, load, one, pick, save
from benchmarks.support.page import (
    BEGIN,
    END,
    HEADINGS,
    HEADLINES,
    PAGE,
    PICTURES,
    README,
    headlines,
    section,
    write_page,
)

FOLDER = Path(harness.__file__).parent.parent


def test_every_file_is_listed() -> None:
    files = {
        path.stem: ".".join(path.relative_to(FOLDER).parent.parts)
        for path in FOLDER.rglob("*.py")
        if "\ndef claim(" in path.read_text(encoding="utf-8")
    }
    assert files == {name: Bench(name).folder for name in BENCHES}
    assert len(BENCHES) == sum(len(names) for names in FOLDERS.values())
    assert set(FOLDERS) == set(HEADINGS)


@pytest.mark.parametrize("name", BENCHES)
def test_every_benchmark_names_its_figure_and_has_a_claim(name: str) -> None:
    module = Bench(name).module
    assert Bench(name).headline.endswith(".")
    assert callable(module.run)
    assert callable(module.claim)
    assert module.PICTURE is None or isinstance(module.PICTURE, Picture)


@pytest.mark.parametrize("name", [n for n in BENCHES if Bench(n).file.exists()])
def test_committed_results_say_what_was_measured(name: str) -> None:
    rows = Bench(name).rows()
    assert rows
    assert {row["form"] for row in rows} <= {"quick", "full"}
    assert all(row["machine"] and row["commit"] for row in rows)
    claim = Bench(name).claim()
    assert claim.paper
    assert claim.ours
    assert claim.ratio is None or claim.ratio > 0


@pytest.mark.parametrize("page", [PAGE, README], ids=["papers.md", "README.md"])
def test_pages_are_made_from_the_results_that_are_there(page: Path) -> None:
    inside = page.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    made = (section if page == PAGE else headlines)([Bench(name) for name in BENCHES])
    assert inside.lstrip("\n") == made.lstrip("\n"), (
        f"{page.name} is not what the CSVs say: python -m benchmarks draw"
    )


def test_every_headline_was_measured() -> None:
    assert set(HEADLINES) <= set(BENCHES)
    assert all(Bench(name).file.exists() for name in HEADLINES)


def test_every_picture_is_there_and_no_other() -> None:
    wanted = {
        f"{name}.svg"
        for name in BENCHES
        if Bench(name).file.exists() and Bench(name).module.PICTURE
    }
    assert {path.name for path in PICTURES.iterdir()} == wanted


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [{"n": 1, "x": 0.25, "name": "a, b", "ok": True}, {"n": 2, "more": None}]
    save(tmp_path / "some.csv", rows, full=False, seconds=1.0)
    back = load(tmp_path / "some.csv")
    assert [(row["n"], row["x"], row["name"], row["ok"]) for row in back] == [
        (1, 0.25, "a, b", True),
        (2, None, None, None),
    ]
    assert {row["form"] for row in back} == {"quick"}
    assert "cores" in back[0]["machine"]


def test_pick_and_one() -> None:
    rows = [{"a": 1, "b": 2}, {"a": 1, "b": 3}]
    assert pick(rows, a=1) == rows
    assert one(rows, b=3) == rows[1]
    with pytest.raises(harness.CannotRun, match="2 rows"):
        one(rows, a=1)


def test_one_that_fails_says_why_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(full: bool) -> None:
        check(False, "the answer is wrong")

    modules = {
        "bad": SimpleNamespace(run=broken),
        "good": SimpleNamespace(
            run=lambda full: [{"n": 1}], claim=lambda rows: Claim("2", str(rows[0]["n"]), True)
        ),
    }
    monkeypatch.setattr(Bench, "module", property(lambda self: modules[self.name]))
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    assert run([Bench("bad"), Bench("good")], full=False) == 1
    said = capsys.readouterr()
    assert "FAILED" in said.out
    assert "WrongAnswer: the answer is wrong" in said.out
    assert "holds: 1 (paper: 2)" in said.out
    assert "1 of 2 failed: bad" in said.err
    assert [path.name for path in tmp_path.iterdir()] == ["good.csv"]
    assert run([Bench("good")], full=True) == 0
    assert load(tmp_path / "good.csv")[0]["form"] == "full"


def test_a_wrong_answer_is_an_error() -> None:
    with pytest.raises(WrongAnswer, match="no"):
        check(False, "no")


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "nothing_of_this_name"])
    assert "no benchmark is named" in capsys.readouterr().err


def test_list_names_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(BENCHES)


@pytest.mark.parametrize("kind", ["lines", "bars", "points", "map"])
def test_pictures_of_every_kind_are_the_same_bytes_twice(tmp_path: Path, kind: str) -> None:
    rows = [
        {"x": x, "y": y, "who": "a" if x > y else "b", "where": side}
        for x in (1, 10)
        for y in (2, 20)
        for side in (True, False)
    ]
    picture = Picture("x", "y", "who", panel="where", kind=kind, log="xy")  # type: ignore[arg-type]
    for name in ("one.svg", "two.svg"):
        draw(picture, rows, "A title", tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "A title" in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_only_what_is_between_the_markers_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nOLD TEXT\n{END}\nafter\n", encoding="utf-8")
    write_page(section([Bench("factor_example")]), page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "480 to 150" in text
    assert "OLD TEXT" not in text
