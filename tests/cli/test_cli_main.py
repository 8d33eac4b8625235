"""The command line as a whole: its commands, errors, exit codes, colours and completion."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from weft.cli import plan as plan_module
from weft.cli.main import COMMANDS, EXIT, cli
from weft.job import job_schema

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
JOB = """
source: {format: parquet, path: in}
queries:
  - {name: a, aggs: {n: count(*)}, range: 1 hour, slide: 10 minutes}
  - {name: b, aggs: {n: count(*)}, range: 30 minutes}
plan: {rate: 250}
"""


def invoke(*args: str, **options):
    return CliRunner().invoke(cli, args, **options)


@pytest.fixture
def workload(tmp_path: Path) -> str:
    file = tmp_path / "w.yaml"
    file.write_text("queries: [{name: a, aggs: {n: count(*)}, range: 1 hour}]")
    return str(file)


def commands(group: click.Group, ctx: click.Context):
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from commands(command, ctx)


def test_every_command_is_documented():
    for name in COMMANDS:
        assert f"`weft {name}" in PAGE, name


def test_every_command_has_help_and_json():
    ctx = click.Context(cli)
    for name, command in commands(cli, ctx):
        assert command.help, name
        if not isinstance(command, click.Group) and name != "demo":
            assert any("--json" in parameter.opts for parameter in command.params), name


def test_the_exit_codes_are_documented_and_in_the_help():
    table = dict(re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.MULTILINE))
    assert {int(code): what for code, what in table.items()} == EXIT
    shown = invoke("--help").output
    for code, what in EXIT.items():
        assert f"{code}  {what}" in shown


def test_a_misspelt_command_is_told_with_what_was_meant():
    result = invoke("verfy", "x")
    assert result.exit_code == 2
    assert "There is no command 'verfy'. Did you mean 'verify'?" in result.stderr


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (KeyboardInterrupt(), "weft: interrupted\n", 130),
        (FileNotFoundError(2, "No such file", "x.sql"), "weft: x.sql: No such file\n", 2),
        (
            KeyError("k"),
            "weft: a bug in weft, KeyError: 'k' (--debug shows the stack trace)\n",
            70,
        ),
    ],
)
def test_whatever_goes_wrong_is_one_message(monkeypatch, workload, error, message, code):
    def fail(file, strict):
        raise error

    monkeypatch.setattr(plan_module, "workload_of", fail)
    result = invoke("plan", workload)
    assert (result.stderr, result.exit_code) == (message, code)


@pytest.mark.parametrize("how", [["--debug"], []])
def test_debug_shows_where(monkeypatch, workload, how):
    monkeypatch.setattr(plan_module, "workload_of", lambda file, strict: 1 / 0)
    result = invoke(*how, "plan", workload, env={} if how else {"WEFT_DEBUG": "1"})
    assert "Traceback" in result.stderr
    assert "ZeroDivisionError" in result.stderr


def test_a_job_is_planned_at_its_rate(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    result = invoke("plan", str(tmp_path / "job.yaml"))
    assert result.exit_code == 0, result.output
    assert "2 queries at 250 rows per second" in result.stdout


def test_a_job_that_is_wrong_is_not_taken_for_a_workload(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB.replace("format", "formt"))
    result = invoke("plan", str(tmp_path / "job.yaml"))
    assert result.exit_code == 2
    assert "job.yaml:2:10: source.formt is not a field of the source" in result.stderr


def test_the_schema_is_printed():
    assert json.loads(invoke("schema").stdout) == job_schema()


def test_options_of_a_table_need_a_table(tmp_path):
    result = invoke("run", str(tmp_path / "job.yaml"), "--time", "ts")
    assert (result.exit_code, result.stderr) == (
        2,
        "weft: --time needs --source; in a job file, set it there\n",
    )
    result = invoke("run", "q.sql", "--source", "x.csv", "--option", "header")
    assert (result.exit_code, result.stderr) == (
        2,
        "weft: --option 'header': write NAME=VALUE\n",
    )


def test_no_colours_unless_on_a_terminal(workload):
    assert "\x1b[" not in invoke("plan", workload).output
    assert "\x1b[" not in invoke("plan", workload, env={"NO_COLOR": "1"}).output


def test_completion_knows_the_commands():
    complete = BashComplete(cli, {}, "weft", "_WEFT_COMPLETE")
    assert [item.value for item in complete.get_completions([], "ve")] == ["verify"]
    assert [item.value for item in complete.get_completions(["query"], "")] == [
        "add",
        "costs",
        "drop",
        "limit",
        "list",
        "pause",
        "resume",
    ]


def test_ctrl_c_asks_once_and_then_interrupts():
    from weft.cli.stream import stopping

    before = signal.getsignal(signal.SIGINT)
    with stopping() as event:
        signal.raise_signal(signal.SIGTERM)
        assert event.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_importing_the_command_line_starts_nothing():
    heavy = {"pyspark", "numpy", "sqlglot", "yaml", "rich"}
    text = f"import sys, weft.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
