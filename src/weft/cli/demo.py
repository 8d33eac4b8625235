"""`weft demo`: shows the main features in a minute, on an embedded Spark, without any set-up."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from weft.query.query import Query
    from weft.spark.streaming.running import Running
    from weft.spark.verify.compare import Difference

FILES = 4
"""The number of micro-batches in which the hour arrives."""
ADD_AT, DROP_AT = 2, 3
"""The micro-batches after which a query is added and another one is dropped."""
NEWCOMER = """
SELECT symbol, max(price) AS high, min(price) AS low
FROM trades GROUP BY window(ts, '15 minutes', '5 minutes'), symbol
"""
LEAVES, NEWEST = "odd_lots", "market_volume"
SCHEMA = (
    "ts timestamp, symbol int, price double, volume bigint, cp double, "
    "r3000 boolean, r2000 boolean, r1000 boolean"
)
WATERMARK = "10 seconds"
PATIENCE = 120.0
MANY = 5
"""Windows per row in a plain query from which on code generation pays."""
COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.subexpressionElimination.enabled": "true",
}
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
    # With a few thousand rows at a time, compiling dozens of plans takes longer than running them.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Without code generation, caching common subexpressions costs more than computing them again.
    "spark.sql.subexpressionElimination.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    # Java's second compiler (C2) pays only after minutes, and until then takes a core. The first
    # one (C1) alone has a code cache of 48 MB by default, which is too small.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
}


@click.command()
@click.option("--rows", type=int, default=10_000, show_default=True, help="Trades to generate.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the outcome as JSON, and progress on stderr."
)
def demo(rows: int, as_json: bool) -> None:
    """Weave two dozen queries into one stream of generated trades, and verify every answer.

    An hour of trades arrives in micro-batches; on the way one query is added and one is dropped.
    """
    from weft import read_results
    from weft.demo.trades import QUERIES
    from weft.query.workload import Workload
    from weft.spark.loom import Loom
    from weft.spark.session import local_session, silent_children

    steps = Steps()
    say = partial(click.echo, err=as_json)
    workload = Workload.load(QUERIES)
    say(f"{rows:,} generated trades in an hour, {len(workload)} queries, embedded Spark\n")
    with TemporaryDirectory(prefix="weft-demo-") as folder:
        with silent_children():
            spark = local_session(name="weft demo", settings=SETTINGS)
        steps.done("Spark starts")
        try:
            feed = Feed(spark, Path(folder) / "in", rows)
            loom = Loom(feed.stream(), time="ts", watermark=WATERMARK)
            for query in workload:
                loom.add(query)
            plan = loom.plan(rate=rows / 3600)
            saved = 1 - plan.cost / plan.costs["no_share"]
            say(plan.explain(limit=3))
            say(f"\nsaved against no sharing: {saved:.0%}\n")
            steps.done("trades and plan")
            running = loom.start(
                f"{folder}/out",
                checkpoint=f"{folder}/checkpoint",
                trigger="200 milliseconds",
                rate=rows / 3600,
            )
            try:
                steps.done("stream starts")
                live(running, feed, say, steps)
            finally:
                running.stop()
            say("\nmarket_volume, the newest windows:")
            for window, volume, trades in newest(read_results(spark, f"{folder}/out", NEWEST)):
                say(f"  until {window.end:%H:%M}  {volume:,} shares in {trades:,} trades")
            say("\nthe plain Spark queries over the same trades, row by row:")
            found = compared(spark, running, feed, f"{folder}/out")
            steps.done("plain queries and comparison")
        finally:
            spark.stop()
    steps.done("the end")
    ok = told(found, say)
    say(f"\n{steps}")
    if as_json:
        outcome = {
            "ok": ok,
            "trades": rows,
            "queries": len(found),
            "rows": sum(difference.rows for difference in found),
            "differences": [str(difference) for difference in found if not difference.ok],
            "saved": round(saved, 4),
            "seconds": round(steps.all, 1),
            "steps": {name: round(seconds, 1) for name, seconds in steps.seconds.items()},
        }
        click.echo(json.dumps(outcome, indent=2))
    sys.exit(0 if ok else 1)


def newest(answers: Any) -> list[Any]:
    """The last few windows of a query."""
    return list(answers.orderBy("window", ascending=False).limit(3).collect())


class Steps:
    """How long each step took.

    >>> steps = Steps()
    >>> steps.done("tea"); steps.done("toast"); list(steps.seconds)
    ['tea', 'toast']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.monotonic()

    def done(self, step: str) -> None:
        """Count the time since the last call for this step."""
        now = time.monotonic()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._began
        self._began = now

    @property
    def all(self) -> float:
        return sum(self.seconds.values())

    def __str__(self) -> str:
        lines = [f"{seconds:5.1f} s  {step}" for step, seconds in self.seconds.items()]
        return "\n".join([*lines, f"{self.all:5.1f} s  in all"])


class Feed:
    """An hour of trades, written file by file: a small live stream."""

    def __init__(self, spark: Any, folder: Path, rows: int) -> None:
        from weft.demo.trades import market

        self.spark, self.folder = spark, folder
        self.table = market(rows, symbols=100).joined()
        self.put_so_far = 0
        folder.mkdir(parents=True)

    def put(self) -> int:
        """Write the rows of the next time span to a file; returns how many there are."""
        import pyarrow.parquet as pq

        size = -(-len(self.table) // FILES)
        piece = self.table.slice(self.put_so_far * size, size)
        hidden = self.folder / f".{self.put_so_far}.parquet"
        pq.write_table(piece, hidden)
        hidden.rename(self.folder / f"{self.put_so_far}.parquet")  # it appears atomically
        self.put_so_far += 1
        return int(piece.num_rows)

    def stream(self) -> Any:
        """The files as a streaming DataFrame."""
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder))


def live(running: Running, feed: Feed, say: Callable[[str], None], steps: Steps) -> None:
    """Let the hour arrive, and report what happens."""
    from weft.query.duration import parse_duration

    for number in range(1, FILES + 1):
        before, began = running.progress.max_event_time or 0, time.monotonic()
        rows = feed.put()
        wait(running, lambda before=before: (running.progress.max_event_time or 0) > before)
        status = running.status()
        answers = sum(query.answers for query in status.queries)
        took = time.monotonic() - began
        say(
            f"{clock(status.high)}  {rows:,} trades in {took:.1f} s, {answers:,} "
            f"answers of {len(status.queries)} queries; {status.state_bytes / 1024:,.0f} KiB held"
        )
        steps.done("first micro-batch" if number == 1 else "other micro-batches and changes")
        if number == ADD_AT:
            add = partial(running.add, NEWCOMER, name="quarter_hour_range", backfill=True)
            how = changed(running, add)
            since = running.status().query("quarter_hour_range").complete_from
            say(f"          + quarter_hour_range, complete from {clock(since)}{how}")
        if number == DROP_AT:
            how = changed(running, partial(running.drop, LEAVES))
            say(f"          - {LEAVES}{how}")
    # The last rows close windows a micro-batch later; Spark's watermark is in milliseconds.
    closed = (running.progress.max_event_time or 0) - parse_duration(WATERMARK, "watermark")
    wait(running, lambda: (running.progress.frontier or 0) > closed - 1000)
    steps.done("other micro-batches and changes")


def changed(running: Running, change: Callable[[], None]) -> str:
    """Make a change; return how long it took, and whether the stream kept running, as text."""
    run, began = running.last_query.runId, time.monotonic()
    change()
    took = (time.monotonic() - began) * 1000
    how = "the stream runs on" if running.last_query.runId == run else "the stream restarted"
    return f" ({took:,.0f} ms; {how})"


def wait(running: Running, arrived: Any) -> None:
    """Wait until `arrived` is true; an error if the stream has ended."""
    from weft.errors import EngineError

    ends = time.monotonic() + PATIENCE
    while not arrived():
        if not running.is_active or time.monotonic() > ends:
            raise EngineError(f"the stream ended early: {running.last_query.exception()}")
        time.sleep(0.05)


def clock(micros: int | None) -> str:
    """A time of the stream as hours, minutes and seconds."""
    if micros is None:
        return "the start"
    return time.strftime("%H:%M:%S", time.gmtime(micros / 1_000_000))


def compared(spark: Any, running: Running, feed: Feed, out: str) -> list[Difference]:
    """Compares every query's answers with the plain batch query's.

    Half of the time is spent in Spark's planning, which is single-threaded: two jobs run at once.
    """
    from weft import read_results
    from weft.spark.streaming.verify import verify_answers

    frontier = running.progress.frontier or 0

    def some(compiled: bool) -> list[Difference]:
        session = spark.newSession()  # has the settings that Spark was started with
        for name, value in COMPILED.items() if compiled else ():
            session.conf.set(name, value)
        entries = [e for e in running.catalogue.entries if (_overlap(e.query) >= MANY) == compiled]
        catalogue = replace(running.catalogue, entries=tuple(entries))
        rows = session.read.parquet(str(feed.folder)).coalesce(1).cache()
        return verify_answers(
            rows, running.axis, catalogue, frontier, lambda name: read_results(session, out, name)
        )

    with ThreadPoolExecutor(2) as pool:
        return [difference for found in pool.map(some, (True, False)) for difference in found]


def _overlap(query: Query) -> float:
    """The number of windows that a row is in."""
    return query.window.range / query.window.slide


def told(found: list[Difference], say: Callable[[str], None]) -> bool:
    """Report the comparison; return whether all answers were the same."""
    wrong = [difference for difference in found if not difference.ok]
    total = sum(difference.rows for difference in found)
    verdict = "equal" if not wrong else "NOT EQUAL"
    say(f"{verdict}: {len(found) - len(wrong)} of {len(found)} queries, {total:,} rows")
    for difference in wrong:
        say(str(difference))
    return not wrong
