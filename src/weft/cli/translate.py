"""`weft translate FILE --to DIALECT`: translate queries from any dialect to another."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from weft.errors import WeftError

_DIALECTS = ("spark", "cql", "asa", "flink")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--to", type=click.Choice(_DIALECTS), required=True, help="The dialect to write.")
@click.option(
    "--from",
    "dialect",
    type=click.Choice(["auto", *_DIALECTS]),
    default="auto",
    show_default=True,
    help="The dialect to read; auto detects it for each statement.",
)
@click.option("--table", help="Write the queries over this table.")
@click.option("--time", help="Write the queries over this time column.  [default: as read, or ts]")
@click.option("--json", "as_json", is_flag=True, help="Print names, queries and texts as JSON.")
def translate(
    file: str, to: Any, dialect: Any, table: str | None, time: str | None, as_json: bool
) -> None:
    """Translate the queries in FILE (SQL, YAML or JSON; - for SQL on standard input) to a dialect.

    A query that the dialect cannot express is reported on standard error; the others are written,
    and the exit code is 2.

    \b
    weft translate queries.sql --to flink
    echo "SELECT max(x) AS m FROM t [RANGE '1 hour' SLIDE '5 min']" | weft translate - --to spark
    """
    from weft.query.sql import write_query

    entries: list[dict[str, Any]] = []
    for query in _read(file, dialect):
        entry: dict[str, Any] = {"name": query.name, "query": query.to_dict()}
        try:
            entry["text"] = write_query(query, to, table=table, time=time)
        except WeftError as error:
            entry["error"] = str(error)
        entries.append(entry)
    failed = [entry["error"] for entry in entries if "error" in entry]
    if as_json:
        click.echo(json.dumps({"dialect": to, "queries": entries}, indent=2))
    else:
        written = [f"{entry['text']};" for entry in entries if "text" in entry]
        if written:
            click.echo("\n\n".join(written))
        for message in failed:
            click.echo(f"weft: {message}", err=True)
    sys.exit(2 if failed else 0)


def _read(file: str, dialect: Any) -> list[Any]:
    from weft.query.sql import parse_queries
    from weft.query.workload import Workload

    path = Path(file)
    if file == "-":
        return parse_queries(sys.stdin.read(), dialect)
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        return list(Workload.load(path))
    try:
        return parse_queries(path.read_text(encoding="utf-8"), dialect)
    except UnicodeDecodeError:
        raise WeftError(f"{path}: is not UTF-8 text") from None
    except WeftError as error:
        raise type(error)(f"{path}: {error}") from None
