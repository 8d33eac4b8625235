"""The `weft` command and how its errors look."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from weft import __version__
from weft.errors import WeftError

COMMANDS = {
    "plan": "weft.cli.plan",
    "translate": "weft.cli.translate",
    "bench": "weft.cli.bench",
    "demo": "weft.cli.demo",
}


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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="weft")
def cli() -> None:
    """Thousands of window aggregate queries on one stream for little more than one."""


def main() -> None:
    """Run the command line; an error of ours is one message and exit code 2."""
    try:
        cli()
    except WeftError as error:
        click.echo(f"weft: {error}", err=True)
        sys.exit(2)
