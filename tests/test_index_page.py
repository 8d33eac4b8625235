"""The home page's tabs say the same thing in Python, in SQL and on the command line."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

from click.testing import CliRunner

from pages import ROOT
from weft.cli.main import cli

PAGE = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def tab(language: str) -> str:
    """The code in the tab of a language."""
    (found,) = re.findall(rf"^    ```{language}\n(.*?)^    ```", PAGE, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(found)


def test_python_and_sql_give_one_plan(tmp_path: Path, capsys) -> None:
    names: dict = {}
    exec(tab("python"), names)
    assert "big_trades" in capsys.readouterr().out
    queries = tmp_path / "queries.sql"
    queries.write_text(tab("sql"))
    command = tab("sh").splitlines()[0].split()[1:]
    command[command.index("queries.sql")] = str(queries)
    done = CliRunner().invoke(cli, [*command, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["cost"] == names["plan"].cost
    assert [len(tree["queries"]) for tree in told["trees"]] == [
        len(tree.queries) for tree in names["plan"].trees
    ]


def test_the_commands_have_these_options() -> None:
    for line in tab("sh").splitlines():
        name = line.split()[1]
        told = CliRunner().invoke(cli, [name, "--help"]).output
        for option in re.findall(r"--[a-z-]+", line):
            assert option in told, line
