"""`weft demo`: the main job in a minute, from nothing."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
def demo() -> None:
    """Plan a built-in workload of trades monitoring and show what sharing saves."""
    from weft.plan.optimizer import optimize
    from weft.query.workload import Workload

    workload = Workload.load(Path(__file__).parent / "trades.yaml")
    click.echo(optimize(workload, rate=workload.rate or 375.0, strategy="weave").explain())
