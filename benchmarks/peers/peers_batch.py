"""Peers: eight sliding windows by key in weft, plain Spark, DuckDB and Polars."""

from __future__ import annotations

from benchmarks.peers import engines
from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Row, Rows, pick
from benchmarks.support.sparks import best

PICTURE = Picture("engine", "seconds", "form_of_query", kind="bars", log="y")


def run(full: bool) -> Rows:
    """Each as its users would write it, warm, with the same answers; versions recorded."""
    table = engines.rows(5_000_000 if full else 200_000)
    rows: Rows = []
    expected: engines.Answers = {}
    for name in ("spark", "weft", "duckdb", "polars"):
        with getattr(engines, name)(table) as (version, runs):
            for form, action in runs.items():
                seconds, found = best(action, repeats=1)
                expected = expected or found
                answers = engines.same(found, expected, f"{name}, {form}")
                rows.append(_row(name, version, form, table.num_rows, seconds, answers))
    return rows


def _row(engine: str, version: str, form: str, rows: int, seconds: float, answers: int) -> Row:
    return {"engine": engine, "version": version, "form_of_query": form, "rows": rows,
            "queries": len(engines.WINDOWS), "seconds": seconds, "answers": answers}  # fmt: skip


def claim(rows: Rows) -> Claim:
    """The fastest form of each."""
    fastest = {
        engine: min(row["seconds"] for row in pick(rows, engine=engine))
        for engine in dict.fromkeys(row["engine"] for row in rows)
    }
    versions = {row["engine"]: row["version"] for row in rows}
    return Claim(
        paper="none",
        ours=", ".join(
            f"{engine} {versions[engine]}: {seconds:.2f} s" for engine, seconds in fastest.items()
        ),
        holds=fastest["weft"] < fastest["spark"],
        ratio=fastest["spark"] / fastest["weft"],
        comment=f"{rows[0]['rows']:,} rows, 100 keys, {rows[0]['answers']:,} equal answers; ratio: "
        "plain Spark's best over weft; DuckDB and Polars run in the process, without a cluster's "
        "overhead",
    )
