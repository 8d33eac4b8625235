"""`weft demo`: the main job in a minute, on embedded local Spark, from nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import click

SHOWN = ("minute_bars", "market_volume", "market_big")


@click.command()
@click.option("--rows", type=int, default=100_000, show_default=True, help="Trades to generate.")
def demo(rows: int) -> None:
    """Weave two dozen queries over an hour of generated trades, and verify every answer."""
    from weft.bench.trades import market
    from weft.query.workload import Workload
    from weft.spark.loom import Loom
    from weft.spark.session import local_session

    workload = Workload.load(Path(__file__).parent / "trades.yaml")
    click.echo(f"{rows:,} generated trades in an hour, {len(workload)} queries, embedded Spark\n")
    spark = local_session(name="weft demo")
    spark.sparkContext.setLogLevel("ERROR")
    try:
        trades = spark.createDataFrame(market(rows, symbols=300).joined()).cache()
        loom = Loom(trades, time="ts")
        for query in workload:
            loom.add(query)
        click.echo(loom.explain())
        with loom.run() as results:
            for name in SHOWN:
                click.echo(f"\n{name}:")
                results[name].orderBy("window", *workload[name].by).show(3, truncate=False)
        click.echo("the plain Spark queries beside the plan, row by row:")
        report = loom.verify()
        click.echo(str(report))
    finally:
        spark.stop()
    sys.exit(0 if report.ok else 1)
