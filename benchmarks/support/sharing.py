"""SIGMOD'06 figures 13 to 16 on Spark: the shared plan compared with the plain queries."""

from __future__ import annotations

from benchmarks.support.aggregations import aggregations
from benchmarks.support.counting import shared as counted
from benchmarks.support.counting import unshared
from benchmarks.support.draw import Picture
from benchmarks.support.harness import Claim, Row, Rows, check, one, pick
from benchmarks.support.sparks import best, cached, compare, loom_of, plainly, timed, woven
from weft.demo.trades import market, workload
from weft.spark.verify.native import native, native_filters, union

QUICK, FULL = (4, 16), (16, 32, 64, 128, 256)
REGULAR = (16, 36, 64, 144, 256)
"""The paper's sizes of workload C: squares."""
ALONE = 16
"""Up to this many queries, one tree per query is measured too; each tree is a separate job."""
UNION = 64
"""Up to this many queries, their union is run; planning and compiling it then takes a minute."""
PICTURE = Picture("queries", "seconds", "strategy", log="xy")


def measured(kind: str, full: bool) -> Rows:
    """Run every strategy at every size; compare answers, and count aggregations in two ways."""
    table = market().joined() if full else market(60_000).joined()
    rows: Rows = []
    with cached(table) as df:
        for count in (REGULAR if kind == "C" else FULL) if full else QUICK:
            queries = workload(kind, count)
            head: Row = {"workload": kind, "queries": count, "rows": table.num_rows}
            loom, plan, answer = woven(df, queries)
            seconds, found = best(answer, repeats=1)
            shards = aggregations(loom, plan)
            row = head | {
                "strategy": "weft",
                "seconds": seconds,
                "trees": len(plan.trees),
                **shards,
            }
            alone = unshared(table, queries).partial
            check(
                alone == shards["unshared_partial"],
                f"{kind} at {count}: {shards} on Spark, {alone} unshared from the rows",
            )
            if len(plan.trees) == 1 and not shards["faceted"]:
                again = counted(table, queries)
                check(
                    (again.partial, again.final) == (shards["partial"], shards["final"]),
                    f"{kind} at {count}: {shards} on Spark, {again} counted from the rows",
                )
            rows.append(row)
            # Warm, as for weft: the queries of smaller workloads have been compiled by now.
            plain = plainly(df, queries)
            seconds, expected = timed(plain) if count > ALONE else best(plain, repeats=1)
            rows.append(head | {"strategy": "plain, one by one", "seconds": seconds})
            rows[-1]["answers"] = compare(found, expected, queries, f"{kind} at {count}")
            if full and count <= ALONE:
                seconds, own = best(woven(df, queries, strategy="no_share")[2], repeats=1)
                compare(own, expected, queries, f"{kind} at {count}, no_share")
                rows.append(head | {"strategy": "weft, a tree each", "seconds": seconds})
            rows += _other(df, kind, queries, head, full)
    return rows


def _other(df: object, kind: str, queries: list, head: Row, full: bool) -> Rows:  # type: ignore[type-arg]
    """Other forms that a user might write."""
    axis = loom_of(df, queries[:1]).axis
    rows: Rows = []
    if full and len(queries) <= UNION:
        seconds, _ = best(
            lambda: union([native(df, axis, query) for query in queries]).toArrow(), repeats=1
        )
        rows.append(head | {"strategy": "plain, one union", "seconds": seconds})
    if kind == "B":
        seconds, _ = best(lambda: native_filters(df, axis, queries).toArrow(), repeats=1)
        rows.append(head | {"strategy": "plain, one FILTER each", "seconds": seconds})
    return rows


def told(rows: Rows, paper: str, times: float) -> Claim:
    """The largest speedup of weft over the queries one by one, the paper's baseline."""
    most = max(row["queries"] for row in rows)
    at = {row["strategy"]: row["seconds"] for row in pick(rows, queries=most)}
    plain = {name: value for name, value in at.items() if name.startswith("plain")}
    name = min(plain, key=lambda way: plain[way])
    ratio = plain[name] / at["weft"]
    each = at["plain, one by one"] / at["weft"]
    weft = one(rows, queries=most, strategy="weft")
    own = (weft["unshared_partial"] + weft["final"]) / (weft["partial"] + weft["final"])
    comment = (
        f"paper: 256 queries, its own prototype; ours against plain Spark, {rows[0]['rows']:,} "
    )
    comment += f"rows; {own:,.3g}x fewer aggregations"
    if name != "plain, one by one":
        comment += f"; against {name}: {ratio:.3g}x"
    return Claim(
        paper=paper,
        ours=f"{most} queries: {each:.3g}x ({at['plain, one by one']:.2f} s to {at['weft']:.2f} s)",
        holds=each > 1 and _grows(rows),
        ratio=each / times,
        comment=comment,
    )


def _grows(rows: Rows) -> bool:
    """Whether the gain grows with the number of queries, as in the paper's figures."""
    gains = [
        one(rows, queries=n, strategy="plain, one by one")["seconds"]
        / one(rows, queries=n, strategy="weft")["seconds"]
        for n in sorted({row["queries"] for row in rows})
    ]
    return gains[-1] > gains[0]
