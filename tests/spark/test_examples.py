"""Every example runs and gives the right answers, by plain Spark or as computed here."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from agree import INTERPRETED, settings
from pyspark.sql import SparkSession

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Switch off code generation, which takes longer than processing a few hundred rows."""
    with settings(spark, INTERPRETED):
        yield


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def test_every_example_is_tested_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    names = [path.stem for path in EXAMPLES.glob("*.py")]
    assert len(names) == 7
    assert [name for name in names if f'load("{name}")' not in text] == []


def test_stock_monitoring(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    report = load("stock_monitoring").main(spark, rows=3_000, rules=9)
    assert report.ok
    assert len(report.differences) == 10
    shown = capsys.readouterr().out
    assert "equal: 10 of 10 queries" in shown
    assert "large_caps" in shown


def test_iot_sensors(spark: SparkSession) -> None:
    example = load("iot_sensors")
    report = example.build(spark, rows=600).verify()
    assert report.ok, str(report)
    results = example.main(spark, rows=600)
    windows = ["1min", "10min", "hour", "hop", "day"]
    assert list(results) == [*(f"temperature_{one}" for one in windows), "overheating"]
    # Azure's (start, end], computed here: a reading on the minute is in the minute that it ends.
    rows = example.readings(600).to_pandas()
    ends = rows.ts.dt.ceil("min")
    wanted = rows.groupby([ends, rows.DeviceID]).temperature.agg(["min", "max", "mean", "count"])
    found = results["temperature_1min"].toPandas()
    by = [end.tz_localize("UTC") for end in found.window.map(lambda w: w["end"])]
    found["end"] = pd.to_datetime(by) - pd.Timedelta(microseconds=1)
    found = found.set_index(["end", "DeviceID"])[["low", "high", "mean", "readings"]].sort_index()
    assert np.array_equal(found.to_numpy(float), wanted.sort_index().to_numpy(float))
    assert (rows.ts == ends).sum() > 30
    assert results["overheating"].count() > 0


def known_at(rows: pd.DataFrame, user: str, at: pd.Timestamp, hours: int) -> list[float | None]:
    """Sum, count and maximum over the last full hours before `at`, computed in Python."""
    end = at.floor("h")
    mine = rows[
        (rows.user == user) & (rows.ts >= end - pd.Timedelta(hours=hours)) & (rows.ts < end)
    ]
    assert (mine.ts < at).all()
    return [mine.cents.sum(), len(mine), mine.cents.max()] if len(mine) else [None, None, None]


def test_ml_features_are_what_was_known(spark: SparkSession) -> None:
    example = load("ml_features")
    rows = example.purchases(400)
    joined = example.main(spark, rows=400).toPandas()
    joined["at"] = joined["at"].dt.tz_localize("UTC")
    assert len(joined) == 200
    for name, hours in (("1h", 1), ("6h", 6), ("24h", 24), ("7d", 168)):
        name = {"7d": "168h"}.get(name, name)
        columns = [f"{one}_{name}" for one in ("spent", "orders", "largest")]
        for label, values in zip(
            joined.itertuples(), joined[columns].astype(object).to_numpy(), strict=True
        ):
            found = [None if pd.isna(value) else value for value in values]
            assert found == known_at(rows, label.user, label.at, hours), (label.user, label.at)
    assert joined["orders_168h"].notna().sum() > 150


def test_ml_features_at_t_use_no_row_at_or_after_t(spark: SparkSession) -> None:
    """Rows at and after t are changed completely; the features at t stay the same."""
    example = load("ml_features")
    rows = example.purchases(400)
    at = example.START + pd.Timedelta(days=9, hours=5)
    later = rows.ts >= at
    assert 50 < later.sum() < 350
    exactly = pd.DataFrame({"ts": [at], "user": ["u1"], "cents": [999_999]})
    other = pd.concat([rows.assign(cents=rows.cents.where(~later, 777_777)), exactly])

    def known(given: pd.DataFrame) -> list[tuple[object, ...]]:
        table = example.features(spark.createDataFrame(given))
        kept = table.where(f"time <= timestamp'{at.isoformat()}'")
        return sorted(map(repr, map(tuple, kept.collect())))

    before = known(rows)
    assert known(other) == before
    assert len(before) > 500


def test_ml_features_agree_with_plain_spark(spark: SparkSession) -> None:
    example = load("ml_features")
    assert example.build(spark.createDataFrame(example.purchases(60))).verify().ok


def test_features_are_the_same_streamed_served_and_trained_on(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = load("features").main(spark, tmp_path, rows=1_500)
    assert list(compared) == ["last_6h", "last_1d", "last_3d"]
    assert min(compared.values()) > 50  # of 5 users and some 20 hours
    assert "now.open=True" in capsys.readouterr().out


def test_training_sets_know_the_past_and_nothing_else(spark: SparkSession) -> None:
    example = load("training_set")
    exact, served = (frame.toPandas() for frame in example.main(spark, rows=400, spine=80))
    rows = example.purchases(400)
    assert len(exact) == len(served) == 80
    days = {"last_1h": 1 / 24, "last_1d": 1, "last_7d": 7, "refunds": 7, "shop": 0.25}
    compared = 0
    for frame, end_of in (
        (exact, lambda at: at),
        (served, lambda at: (at - pd.Timedelta(minutes=10)).floor("h")),
    ):
        for label in frame.itertuples():
            end = end_of(pd.Timestamp(label.at, tz="UTC"))
            for name, length in days.items():
                known = rows[(rows.ts >= end - pd.Timedelta(days=length)) & (rows.ts < end)]
                known = known if name == "shop" else known[known.user == label.user]
                if name == "refunds":
                    assert label.refunds_n == (known.cents < 0).sum()
                    continue
                assert getattr(label, f"{name}_orders") == len(known)
                if name != "shop" and len(known):
                    found = [getattr(label, f"{name}_{one}") for one in ("spent", "largest")]
                    assert found == [known.cents.sum(), known.cents.max()]
                    compared += 1
    assert compared > 150
    assert (exact.last_1d_orders != served.last_1d_orders).any()


def fired(example: ModuleType, rows: int, count: int) -> set[tuple[str, int, str, int, float]]:
    """The alerts, rule by rule and minute by minute."""
    table = example.metrics(rows).to_pandas()
    micros = table.ts.astype("int64").to_numpy()
    minute, found = 60_000_000, set()
    for number in range(count):
        above = table.latency.to_numpy() > 100 + 4 * number
        for end in range(micros.min() // minute, micros.max() // minute + 6):
            inside = above & (micros >= (end - 5) * minute) & (micros < end * minute)
            for host, some in table[inside].groupby("host"):
                if len(some) >= (20 if number % 5 == 0 else 5):
                    found.add((f"rule_{number:03d}", end, host, len(some), some.latency.max()))
    return found


def test_alert_rules_share_fragments(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    example = load("alert_rules")
    alerts = example.main(spark, rows=1_500).selectExpr(
        "query", "CAST(unix_seconds(window.end) / 60 AS INT) AS end", "host", "n", "worst"
    )
    found = set(map(tuple, alerts.collect()))
    wanted = fired(example, 1_500, 200)
    assert found == wanted
    assert len({rule for rule, *_ in found}) > 20
    shown = capsys.readouterr().out
    assert "200 queries" in shown
    assert "-> 1 tree" in shown
    latency = example.metrics(1_500)["latency"].to_numpy()
    intervals = np.unique(np.searchsorted([100 + 4 * n for n in range(200)], latency))
    alerting = len(intervals[intervals > 0])  # rows below every threshold have no fragment
    assert f"200 rules cut the rows into {alerting} fragments" in shown


def test_count_windows(spark: SparkSession) -> None:
    example = load("count_windows")
    report = example.build(example.numbered_trades(spark, 1_000).cache()).verify()
    assert report.ok, str(report)
    results = example.main(spark, rows=1_000)
    rows = example.numbered_trades(spark, 1_000).orderBy("n").toPandas()
    found = {row["window"].start: row for row in results["last_50"].collect()}
    assert sorted(found) == list(range(-40, 1_000, 10))
    for start, row in found.items():
        some = rows[(rows.n >= start) & (rows.n < start + 50)]
        assert row.high == some.price.max()
        assert row.vwap == pytest.approx((some.price * some.volume).sum() / some.volume.sum())
