"""A plan that was made for another rate is replaced, and no answer is lost."""

from __future__ import annotations

from dataclasses import replace

from same import assert_same, rows
from test_running import batch_rows, feed_end, wait_for

from weft.plan.cost import Statistics
from weft.plan.optimizer import optimize
from weft.plan.plan import Plan
from weft.query.query import Query
from weft.query.window import Window
from weft.sinks import read_results
from weft.spark.loom import Loom
from weft.stream.adaptive import Adapter, measured_lines, measured_statistics
from weft.stream.catalogue import Settings
from weft.stream.evolve import first_catalogue
from weft.stream.status import Tally

AGGS = {"n": "count(*)", "s": "sum(x)"}
SLOW = Query("slow", aggs=AGGS, window=Window(range="20 minutes", slide="5 minutes"), by=["k"])
QUICK = Query("quick", aggs=AGGS, window=Window(range="7 minutes", slide="3 minutes"), by=["k"])
SOME = Query("some", aggs=AGGS, window=Window(range="6 minutes"), where="x > 3", by=["k"])
SETTINGS = Settings("ts", "timestamp", "5 minutes", (0, 1), 2, "append", "operator")

HELD = {"slices": 1, "pieces": 1, "bytes": 10, "merging": 0.0, "answering": 0.0}


def seen(rate: float, shards: int, fragments: int, stores: int) -> Tally:
    """A tally like that of two buckets: three micro-batches of a minute, with a slice each."""
    tally = Tally()
    for batch in range(3):
        tally.add(
            batch,
            [
                {
                    "bucket": bucket,
                    "high": (batch + 1) * 60_000_000,
                    "rows": int(rate * 60),
                    "late": {},
                    "answers": {},
                    "fragments": fragments,
                    "stores": {
                        str(number + 1): {**HELD, "shards": shards // 2, "cuts": 1}
                        for number in range(stores)
                    },
                }
                for bucket in range(2)
            ],
            1.0,
        )
    return tally


def test_groups_and_fragments_are_measured_and_change_the_price() -> None:
    guess = Statistics(groups=1.0)
    plan = optimize([SLOW, SOME], rate=100.0, strategy="share_all", cost="engine", statistics=guess)
    catalogue = first_catalogue(plan, SETTINGS)
    tally = seen(100.0, shards=1000, fragments=2, stores=len(catalogue.stores))
    found = measured_statistics(plan, catalogue, tally)
    assert found.groups == {"k": 500.0}
    assert found.fragments == 2.0
    lines = "\n".join(measured_lines(plan, catalogue, tally, tally.rate(1_000_000)))
    assert "1,000 shards per slice (planned for at most 1)" in lines
    honest = optimize([SLOW, SOME], rate=100.0, strategy="share_all", cost="engine",
                      statistics=replace(guess, groups={"k": 500.0}, fragments=2.0))  # fmt: skip
    assert f"the plan costs {honest.cost:,.6g} (predicted {plan.cost:,.6g})" in lines


def test_it_waits_for_batches_and_between_changes() -> None:
    plan = optimize([SLOW, QUICK], rate=1e-4, strategy="weave")
    assert len(plan.trees) == 2
    catalogue = first_catalogue(plan, SETTINGS)
    tally = seen(50.0, shards=16, fragments=1, stores=2)
    adapter = Adapter()
    assert adapter.better_plan(catalogue, Tally(), 50.0) is None
    assert adapter.better_plan(catalogue, tally, None) is None
    better = adapter.better_plan(catalogue, tally, 50.0, now=1000.0)
    assert better is not None
    assert (len(better.trees), better.rate) == (1, 50.0)
    assert adapter.better_plan(catalogue, tally, 50.0, now=1030.0) is None
    assert Adapter().better_plan(first_catalogue(better, SETTINGS), tally, 50.0) is None


def test_a_stream_changes_its_plan(spark, feed, tmp_path) -> None:
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "ck")
    for minute in (0, 10, 20, 30):
        feed.minutes(minute, minute + 10, rows=300)
    loom = Loom(feed.stream(spark), time="ts", watermark="2 minutes")
    loom.add(SLOW)
    loom.add(QUICK)
    running = loom.start(
        out, checkpoint=checkpoint, trigger="100 milliseconds", adaptive=True, rate=1e-4
    )
    assert len(Plan.from_dict(running.catalogue.plan).trees) == 2
    wait_for(lambda: len(Plan.from_dict(running.catalogue.plan).trees) == 1)
    feed.minutes(40, 70, rows=300)
    feed.end()
    wait_for(lambda: (running.progress.frontier or 0) > feed_end(feed))
    running.stop()
    assert running.status().error is None
    for query in (SLOW, QUICK):
        found = rows(read_results(spark, out, query.name).collect())
        expected = batch_rows(spark, feed, query, None, running.progress.frontier)
        assert_same(query.name, found, expected)
        assert len(expected) > 20
