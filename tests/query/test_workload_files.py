"""Workloads in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.errors import QueryError, WindowError, WorkloadError
from weft.query.calendar import Calendar
from weft.query.query import Query
from weft.query.window import Session, Window
from weft.query.workload import Workload

YAML = """
rate: 375.0
queries:
  - name: big_trades
    aggs: {value: sum(price * volume), n: count(*)}
    range: 12 minutes
    slide: 5 minutes
    offset: 1 minute
    where: volume > 50000
    by: [symbol]
    having: n > 10
  - name: hourly_hi
    sql: SELECT symbol, max(price) AS hi FROM t GROUP BY window(ts, '1 hour'), symbol
"""
BIG = Query(
    "big_trades",
    aggs={"value": "sum(price * volume)", "n": "count(*)"},
    window=Window(range="12 minutes", slide="5 minutes", offset="1 minute"),
    where="volume > 50000",
    by=["symbol"],
    having="n > 10",
)
HOURLY = Query("hourly_hi", aggs={"hi": "max(price)"}, window=Window(range="1 hour"), by="symbol")


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_yaml(tmp_path: Path) -> None:
    load = Workload.load(write(tmp_path, "w.yaml", YAML))
    assert load == Workload([BIG, HOURLY], rate=375.0)


def test_json_with_a_plain_list(tmp_path: Path) -> None:
    entry = {"name": "n", "aggs": {"n": "count(*)"}, "range": 10, "by": "k"}
    load = Workload.load(str(write(tmp_path, "w.json", json.dumps([entry]))))
    assert load.queries == (Query("n", aggs=entry["aggs"], window=Window(range=10), by="k"),)  # type: ignore[arg-type]


def test_sql(tmp_path: Path) -> None:
    select = "SELECT symbol, max(price) AS hi FROM t GROUP BY window(ts, '1 hour'), symbol"
    text = f"-- name: hourly_hi\n{select}"
    assert Workload.load(write(tmp_path, "w.sql", text)).queries == (HOURLY,)


@pytest.mark.parametrize(
    ("name", "text", "kind", "message"),
    [
        ("w.txt", "", WorkloadError, "unknown kind of file; accepted are .yaml, .yml, .json, .sql"),
        ("w.yaml", "a: [", WorkloadError, "cannot be read"),
        ("w.json", "{", WorkloadError, "cannot be read"),
        ("w.yaml", "", WorkloadError, "a list of queries under 'queries:' is expected"),
        ("w.yaml", "queries: 5", WorkloadError, "a list of queries"),
        ("w.yaml", "querys: []\nqueries: []", WorkloadError, "'querys' is not a field of the file"),
        ("w.yaml", "queries: [5]", WorkloadError, r"queries\[1\]: 5 is not a query"),
        ("w.yaml", "queries: [{name: a}]", WorkloadError, r"queries\[1\] \(a\): aggs is missing"),
        (
            "w.yaml",
            "queries: [{name: a, aggs: {n: count(*)}, range: 1 hour, slyde: 1 minute}]",
            WorkloadError,
            r"queries\[1\] \(a\): 'slyde' is not a field of a query; accepted are name, aggs",
        ),
        (
            "w.yaml",
            "queries: [{name: a, aggs: {n: count(*)}, range: 1 decade}]",
            WindowError,
            r"queries\[1\] \(a\): range='1 decade' is not a fixed length",
        ),
        (
            "w.yaml",
            "queries: [{name: a, aggs: {n: count(*)}, range: 1 hour, by: {x: y}}]",
            WorkloadError,
            "by=.* is not a list of columns",
        ),
        (
            "w.yaml",
            "queries: [{name: a, sql: SELECT 1, by: x}]",
            WorkloadError,
            "'by' is not a field of a query in sql",
        ),
        ("w.yaml", "queries: [{sql: 5}]", WorkloadError, r"queries\[1\]: sql=5 is not a text"),
        ("w.yaml", "queries: [{sql: SELECT x FROM t}]", QueryError, r"queries\[1\]: query 'q1': "),
        ("w.yaml", "queries: []\nrate: 0", WorkloadError, "rate=0 is not a number"),
        ("w.sql", "SELECT 1 FROM t; SELECT", QueryError, "query 'q1': "),
    ],
)
def test_refused(
    tmp_path: Path, name: str, text: str, kind: type[QueryError], message: str
) -> None:
    file = write(tmp_path, name, text)
    with pytest.raises(kind, match=message) as caught:
        Workload.load(file)
    assert str(caught.value).startswith(f"{file}: ")


def test_missing_and_binary_files(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="cannot be read"):
        Workload.load(tmp_path / "none.yaml")
    (tmp_path / "w.sql").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WorkloadError, match="is not UTF-8 text"):
        Workload.load(tmp_path / "w.sql")


def test_sessions_have_a_gap_and_may_have_a_maximum(tmp_path: Path) -> None:
    entry = {"name": "s", "aggs": {"n": "count(*)"}, "gap": "5 minutes"}
    capped = entry | {"name": "c", "maximum": "1 hour"}
    load = Workload.load(write(tmp_path, "w.json", json.dumps([entry, capped])))
    windows = [query.window for query in load.queries]
    assert windows == [Session(gap="5 minutes"), Session(gap="5 minutes", maximum="1 hour")]
    for given in ({"range": "1 hour"}, {}):
        del (wrong := capped | given)["gap"]
        with pytest.raises(WorkloadError, match=r"\(c\): maximum is of sessions: give their gap"):
            Workload.load(write(tmp_path, "w.json", json.dumps([wrong])))


def test_calendar_windows_are_by_their_unit_or_their_zone(tmp_path: Path) -> None:
    head = "name: {}, aggs: {{n: count(*)}}"
    entries = [
        head.format("months") + ", range: 3 months, slide: 1 month, zone: Europe/Berlin",
        head.format("utc") + ", range: 1 quarter",
        head.format("days") + ", range: 1 day, zone: Asia/Kolkata",
        head.format("fixed") + ", range: 1 day",
    ]
    text = "queries:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)
    found = [query.window for query in Workload.load(write(tmp_path, "w.yaml", text))]
    assert found == [
        Calendar(range="3 months", slide="1 month", zone="Europe/Berlin"),
        Calendar(range="3 months"),
        Calendar(range="1 day", zone="Asia/Kolkata"),
        Window(range="1 day"),
    ]
