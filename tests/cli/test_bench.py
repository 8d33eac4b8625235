"""`weft bench` runs the repository's benchmarks; if it cannot, it says where they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import weft
from benchmarks.support.harness import Bench, check, load
from weft.cli.main import cli

NAME = "factor_example"


def bench(*words: str) -> Result:
    return CliRunner().invoke(cli, ["bench", *words])


def test_a_benchmark_is_shown_and_kept_where_it_is_told(tmp_path: Path) -> None:
    before = Bench(NAME).file.read_bytes()
    result = bench(NAME, "--csv", str(tmp_path / "rows.csv"))
    assert result.exit_code == 0
    assert "480 to 150" in result.output
    assert [row["unshared"] for row in load(tmp_path / "rows.csv")] == [480, 360]
    assert Bench(NAME).file.read_bytes() == before


def test_rows_as_json() -> None:
    found = json.loads(bench(NAME, "--json").output)
    assert [row["graph"] for row in found["rows"]] == [150, 246]
    assert found["failures"] == []


def test_a_wrong_answer_ends_it_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bench(NAME).module, "run", lambda full: check(full, "481 is wrong"))
    result = bench(NAME, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["failures"] == ["481 is wrong"]
    assert "FAILED: 481 is wrong" in result.stderr


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    result = bench("nothing")
    assert result.exit_code == 2
    assert "'nothing' is not one of" in result.output
    assert "finals" in result.output


@pytest.mark.parametrize("there", [True, False])
def test_benchmarks_are_found_in_a_checkout_only(tmp_path: Path, there: bool) -> None:
    root = Path(__file__).parents[2]
    code = (
        f"from weft.cli.main import cli; import sys; sys.path.remove(''); cli(['bench', '{NAME}'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root if there else tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(weft.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (0 if there else 2), done.stderr
    if not there:
        assert "benchmarks are in weft's repository" in done.stderr
