"""`weft plan FILE`: plan a workload and show the plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.jobs import strict_option, tell_beside
from weft.cli.output import console, number, searching
from weft.errors import WorkloadError

if TYPE_CHECKING:
    from weft.plan.cost import Constants
    from weft.plan.plan import Plan
    from weft.query.query import Query
    from weft.query.workload import Workload


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--rate", type=float, help="Rows per second (per unit on an integer axis).")
@click.option("--strategy", default="auto", show_default=True, help="How to search for a plan.")
@click.option("--edges", default="exact", show_default=True, help="How to count edges.")
@click.option(
    "--cost",
    type=click.Choice(["paper", "engine"]),
    default="paper",
    show_default=True,
    help="The cost model.",
)
@click.option(
    "--groups", type=float, default=1.0, show_default=True, help="Groups alive at the same time."
)
@click.option(
    "--keys", default="auto", show_default=True,
    help="Sharing between different group-by keys: separate, union or auto.",
)  # fmt: skip
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of randomised strategies."
)
@click.option("--polish", is_flag=True, help="Run a local search after the strategy.")
@click.option(
    "--calibrate",
    is_flag=True,
    help="First measure the cost model's constants on Spark (a minute).",
)
@click.option(
    "--limit", type=int, default=20, show_default=True, help="Show this many trees in full."
)
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(
    file: Path,
    rate: float | None,
    groups: float,
    calibrate: bool,
    limit: int,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Plan the queries in FILE and show which of them share work. Needs no Spark.

    FILE is a workload (YAML, JSON or SQL) or a job file.

    \b
    weft plan src/weft/demo/trades.yaml --rate 375
    weft plan queries.sql --strategy weave --json
    """
    from weft.plan.cost import Constants, Statistics
    from weft.plan.optimizer import optimize

    workload = workload_of(file, strict=strict)
    constants = measured_constants() if calibrate else Constants()
    sources = by_source(workload)
    if not sources:
        raise WorkloadError("\n".join(("no query can be shared:", *workload.refused)))
    plans = []
    with searching(enabled=not as_json) as progress:
        for queries in sources.values():
            made = optimize(
                queries,
                rate=rate if rate is not None else workload.rate or 1000.0,
                statistics=Statistics(groups=groups, constants=constants),
                progress=progress,
                **options,
            )
            plans.append(made)
    if as_json:
        told = [made.to_dict() for made in plans]
        click.echo(json.dumps(told[0] if len(told) == 1 else told, indent=2))
        return
    if rate is None and workload.rate is None:
        click.echo("no rate given: planned for 1,000 rows per second (see --rate)")
    for source, made in zip(sources, plans, strict=True):
        if len(plans) > 1:
            click.echo(f"\nfrom {source}:")
        click.echo(made.explain(limit=limit))
        show_trees(made, limit)
    tell_beside(
        {
            one.name: one.unshared or str(one.refusal)
            for one in workload.statements
            if not one.queries
        }
    )


def by_source(workload: Workload) -> dict[str, list[Query]]:
    """The shared queries by source; queries of the same source share their work."""
    found: dict[str, list[Query]] = {}
    simple = {query.name for query in workload}
    more = [q for one in workload.statements for q in one.queries if q.name not in simple]
    for query in (*workload, *more):
        source = query.source
        named = "" if source is None else f"{source.table}, by {source.time or 'its time'}"
        key = named if source is not None else next(iter(found), "its rows")
        found.setdefault(key, []).append(query)
    return found


def workload_of(file: Path, *, strict: bool = True) -> Workload:
    """The queries of a workload file, or of a job file."""
    from weft.job.reading import is_job, load_job
    from weft.query.workload import Workload

    if not is_job(file):
        return Workload.load(file, strict=strict)
    job = load_job(file, strict=strict)
    return Workload(job.queries, job.plan.get("rate"), job.refused, job.statements)


def measured_constants() -> Constants:
    """The costs of the engine's steps, measured on an embedded Spark."""
    from weft.spark.batch.calibrate import constants
    from weft.spark.session import local_session

    spark = local_session()
    try:
        return constants(spark)
    finally:
        spark.stop()


def show_trees(made: Plan, limit: int) -> None:
    """Show a table of the costliest trees, if there is more than one."""
    from rich.table import Table

    if len(made.trees) < 2:
        return
    table = Table(title=None, box=None, header_style="bold")
    for heading in ("tree", "queries", "edges", "overlap", "cost", "alone", "saved"):
        table.add_column(heading, justify="right")
    ranked = sorted(made.trees[: 100 * limit], key=lambda tree: -tree.cost)
    for tree in ranked[:limit]:
        table.add_row(
            str(tree.number),
            f"{len(tree.queries):,}",
            "-" if tree.edge_rate is None else number(tree.edge_rate),
            number(tree.overlap),
            number(tree.cost),
            number(tree.unshared_cost),
            f"{max(0.0, tree.saved / tree.unshared_cost):.0%}" if tree.unshared_cost else "-",
        )
    console().print(table)
