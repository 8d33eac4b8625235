"""The `weft` command: its commands, imported when called, and how errors are shown."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from typing import Any

import click

from weft import __version__
from weft.errors import WeftError

COMMANDS = {
    "plan": "weft.cli.plan",
    "explain": "weft.cli.explain",
    "run": "weft.cli.run",
    "verify": "weft.cli.verify",
    "stream": "weft.cli.stream",
    "serve": "weft.cli.serve",
    "query": "weft.cli.query",
    "ask": "weft.cli.ask",
    "rescale": "weft.cli.rescale",
    "translate": "weft.cli.translate",
    "schema": "weft.cli.schema",
    "doctor": "weft.cli.doctor",
    "prepare": "weft.cli.prepare",
    "bench": "weft.cli.bench",
    "demo": "weft.cli.demo",
}
EXIT = {
    0: "success",
    1: "answers differ, a check failed, or a query of `weft run` failed",
    2: "the request cannot be carried out: an error in the job, the data or the set-up",
    70: "a bug in weft",
    130: "interrupted",
}
"""The exit codes, and what they mean."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = get_close_matches(name, COMMANDS, 1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; any error ends in one message, without a stack trace."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError):
            raise  # handled by click
        except KeyboardInterrupt:
            click.echo("weft: interrupted", err=True)
            ctx.exit(130)
        except Exception as error:
            message, code = told(error)
            if ctx.params.get("debug"):
                click.echo(_hidden(ctx, "".join(traceback.format_exception(error))), err=True)
            click.echo(_hidden(ctx, f"weft: {message}"), err=True)
            ctx.exit(code)


def told(error: Exception) -> tuple[str, int]:
    """An error as a message, and its exit code."""
    if isinstance(error, WeftError):
        return str(error), 2
    if "pyspark" in sys.modules:
        from weft.spark.failures import spark_message

        message = spark_message(error)
        if message is not None:
            return message, 2
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}", 2
    kind = type(error).__name__
    return f"a bug in weft, {kind}: {error} (--debug shows the stack trace)", 70


def _hidden(ctx: click.Context, text: str) -> str:
    """The text without the secrets of the job that was run."""
    job = ctx.obj.get("job") if isinstance(ctx.obj, dict) else None
    return text if job is None else str(job.scrub(text))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExit codes:\n" + "\n".join(f"{code:>4}  {what}" for code, what in EXIT.items()),
)
@click.version_option(__version__, prog_name="weft")
@click.option(
    "--debug", is_flag=True, envvar="WEFT_DEBUG", help="Show the stack trace of an error.",
)  # fmt: skip
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Thousands of window aggregate queries on one stream for little more than the price of one."""
    ctx.ensure_object(dict)["debug"] = debug


def main() -> None:
    """Run the command line."""
    cli()
