"""`weft serve TARGET`: a dashboard over a stream or a stored plan."""

from __future__ import annotations

import secrets
import threading
from importlib.util import find_spec

import click

from weft.cli.jobs import json_option
from weft.cli.output import echo_json
from weft.errors import EngineError


@click.command()
@click.argument("target")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to bind to.")
@click.option("--port", type=click.IntRange(0, 65535), default=8787, show_default=True,
              help="The port; 0 picks a free one.")  # fmt: skip
@click.option(
    "--token", envvar="WEFT_TOKEN",
    help="Token that changes must carry. Prefer WEFT_TOKEN, which does not show in process lists. "
    "On loopback, a token is generated if you give none.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="Allow no changes from the page.")
@click.option("--allow-host", multiple=True, metavar="NAME",
              help="Another host name of the server (repeatable).")  # fmt: skip
@json_option
def serve(
    target: str,
    host: str,
    port: int,
    token: str | None,
    read_only: bool,
    allow_host: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show the plan and the stream of TARGET on a web page, and change its queries there.

    TARGET is a job file, a checkpoint or a stored plan (`weft plan --json`). Needs the extra
    weft[dashboard].

    \b
    weft serve job.yaml
    weft plan queries.sql --json > plan.json; weft serve plan.json
    """
    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise EngineError(
            f"the dashboard needs {' and '.join(missing)}, which is not installed: "
            f"pip install 'weft[dashboard]'"
        )
    from weft.serve.app import make_app
    from weft.serve.guard import policy_for
    from weft.serve.server import run_server
    from weft.serve.source import open_source

    policy = policy_for(host, token, read_only=read_only, names=allow_host)
    source = open_source(target)
    made_up = token is None and not read_only and source.kind != "plan"
    if made_up:
        token = secrets.token_urlsafe(24)
        policy = policy_for(host, token, names=allow_host)

    def ready(url: str) -> None:
        if as_json:
            echo_json({"url": url, "token": token if made_up else None}, indent=None)
            return
        # Browsers do not send the fragment, so that the token does not get into logs.
        click.echo(f"weft dashboard: {url}/{f'#token={token}' if made_up else ''}")
        if read_only:
            click.echo("read-only: nothing can be changed from the page")
        click.echo("Ctrl-C stops the dashboard; the stream keeps running")

    stopping = threading.Event()
    run_server(make_app(source, policy, stopping), host, port, ready, stopping)
