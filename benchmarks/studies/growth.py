"""How weft's time grows with queries, rows or keys, with a sample of answers checked."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.support.harness import Claim, Row, Rows, check
from benchmarks.support.loads import queries, stream
from benchmarks.support.sparks import best, cached, compare, plainly, timed, woven
from weft.query.query import Query

SLIDES = (60, 120, 180, 240, 300, 360, 420, 480, 540, 600)
SAMPLE = 3
"""The number of plain queries that are also run, spread evenly over all queries."""


def point(rows: int, keys: int, asked: list[Query]) -> Row:
    """Seconds to plan and to answer all queries, and of the plain queries, scaled from a sample."""
    with cached(stream(rows, keys)) as df:
        planned, (_, plan, answer) = timed(lambda: woven(df, asked, strategy="share_all"))
        answer()
        seconds, found = timed(answer)
        some = asked[:: max(1, len(asked) // SAMPLE)][:SAMPLE]
        plain, expected = best(plainly(df, some), repeats=1)
    mine = found.filter(pc.is_in(found["query"], pa.array([query.name for query in some])))
    compare(mine, expected, some, f"{len(asked)} queries, {rows} rows, {keys} keys")
    return {
        "queries": len(asked),
        "rows": rows,
        "keys": keys,
        "plan_s": planned,
        "seconds": seconds,
        "answers": found.num_rows,
        "trees": len(plan.trees),
        "plain_s": plain / len(some) * len(asked),
    }


def asked(count: int, keys: int) -> list[Query]:
    """Queries with slides of whole minutes and ranges of any whole seconds up to an hour."""
    found = queries(count, 5, slides=SLIDES, overlap=60, by=["k"] if keys > 1 else [])
    check(len(found) == count, f"only {len(found)} distinct windows")
    return found


def told(rows: Rows, column: str) -> Claim:
    """A sentence about how time grows over the range of a column."""
    first, last = rows[0], rows[-1]
    times = last[column] / first[column]
    slower = last["seconds"] / first["seconds"]
    gain = last["plain_s"] / last["seconds"]
    return Claim(
        paper="none",
        ours=f"{first[column]:,} to {last[column]:,} {column}: {first['seconds']:.2f} s to "
        f"{last['seconds']:.2f} s, {slower:.2g}x for {times:,.0f}x; {last['answers']:,} answers; "
        f"{gain:,.3g}x plain Spark at the end",
        holds=slower < times and gain > 1,
        comment=f"plain Spark from {SAMPLE} of the queries",
    )
