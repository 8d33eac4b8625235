"""OpenLineage: the runs, the origins of columns, and how events are sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
from lineage_cases import BIG, NAMES, TRADES, all_kinds, described

from weft.errors import EngineError
from weft.query.sql import parse_statement
from weft.sinks import (
    ConsoleSink,
    DeltaSink,
    IcebergSink,
    KafkaSink,
    LongSink,
    ParquetSink,
    PostgresSink,
)
from weft.sinks.contract import SinkQuery
from weft.stream.lineage.datasets import answers_of
from weft.stream.lineage.facets import column_lineage
from weft.stream.lineage.transport import ByHttp, transport


def lineage(told) -> dict[str, Any]:
    return column_lineage(told)["columnLineage"]


def read(told, column: str) -> list[tuple[str, str]]:
    fields = lineage(told)["fields"][column]["inputFields"]
    return [(one["name"], one["field"]) for one in fields]


def test_each_run_has_a_start_and_an_end():
    told = [(e["job"]["name"], e["eventType"], e["eventTime"][17:19]) for e in all_kinds()]
    assert told == [
        ("job.big", "START", "01"), ("job.hi", "START", "01"), ("job.over", "START", "04"),
        ("job.hi", "FAIL", "05"), ("job.hi", "START", "06"), ("job.over", "COMPLETE", "07"),
        ("job.big", "COMPLETE", "08"), ("job.big", "START", "08"),
        ("job.hi", "COMPLETE", "09"), ("job.big", "COMPLETE", "09"),
    ]  # fmt: skip
    runs: dict[str, list[str]] = {}
    for event in all_kinds():
        runs.setdefault(event["run"]["runId"], []).append(event["eventType"])
    assert all(kinds[0] == "START" and len(kinds) == 2 for kinds in runs.values())


def test_columns_of_a_query_by_its_fields():
    told = described(BIG, "window", "symbol", "sector", "value", "n")
    assert read(told, "window") == [("trades", "ts")]
    assert read(told, "symbol") == [("trades", "Symbol"), ("/data/names", "symbol")]
    assert read(told, "sector") == [("/data/names", "sector")]
    assert read(told, "value") == [("trades", "price"), ("trades", "volume")]
    assert read(told, "n") == []
    kinds = {
        name: {t["subtype"] for one in field["inputFields"] for t in one["transformations"]}
        for name, field in lineage(told)["fields"].items()
    }
    assert kinds == {
        "window": {"TRANSFORMATION"}, "symbol": {"IDENTITY"}, "sector": {"TRANSFORMATION"},
        "value": {"AGGREGATION"}, "n": set(),
    }  # fmt: skip
    deciding = {
        (one["field"], one["transformations"][0]["subtype"]) for one in lineage(told)["dataset"]
    }
    assert {("ts", "WINDOW"), ("sector", "GROUP_BY"), ("volume", "FILTER")} <= deciding


def test_columns_of_what_sql_selects_and_of_sql_over_answers():
    sql = "SELECT window.end AS till, max(price) - min(price) AS gap FROM t {by}"
    plain = parse_statement(sql.format(by="GROUP BY window(ts, '1 hour')"), "gap")[0]
    told = described(plain, "till", "gap")
    assert set(lineage(told)["fields"]) == {"till", "gap"}
    assert read(told, "till") == [("trades", "ts")]
    assert read(told, "gap") == [("trades", "price")]
    over = parse_statement(
        "SELECT window, max(v) AS m FROM (SELECT window, symbol, sum(volume) AS v FROM t "
        "GROUP BY window(ts, '1 hour'), symbol) GROUP BY window",
        "over",
    )[0]
    columns = {field for _, field in read(described(over, "window", "m"), "m")}
    assert columns == {"ts", "Symbol", "symbol", "volume"}


def test_where_answers_go():
    field = SimpleNamespace(name="n", dataType=SimpleNamespace(simpleString=lambda: "bigint"))
    query = SinkQuery(7, "big ones", SimpleNamespace(fields=[field]), None, ())
    sinks = {
        ParquetSink("/lake/out/"): ("file", "/lake/out/big_ones/7"),
        DeltaSink("s3a://lake/out/"): ("s3a://lake", "out/big_ones/7"),
        LongSink("/out"): ("file", "/out"),
        IcebergSink("lake.a.{query}"): ("iceberg", "lake.a.big_ones"),
        KafkaSink("h:1,i:2", "answers"): ("kafka://h:1", "answers"),
        PostgresSink("postgresql://ann:secret@db/x"): ("postgres://db:5432", "x.public.big ones"),
        ConsoleSink(): ("weft", "ConsoleSink/big ones"),
    }
    for sink, expected in sinks.items():
        found = answers_of(sink, query)
        assert (found.namespace, found.name) == expected
        assert found.fields == (("n", "bigint"),)
        assert "secret" not in repr(found)


def test_a_file_gets_a_line_for_every_event(tmp_path):
    sent = transport(str(tmp_path / "new" / "lineage.jsonl"))
    for event in all_kinds():
        sent.send(event)
    sent.close()
    lines = (tmp_path / "new" / "lineage.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 10
    with pytest.raises(EngineError, match="cannot be written to"):
        transport("/proc/none/x.jsonl")


class Service(HTTPServer):
    """A service on loopback that fails a number of posts, and keeps the later ones."""

    def __init__(self, failing: int) -> None:
        self.failing, self.kept, self.keys = failing, [], set()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                service = self.server
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.failing -= 1
                code = 503 if service.failing >= 0 else 201
                if code == 201:
                    service.kept.append(json.loads(body))
                    service.keys.add(self.headers["Authorization"])
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/api/v1/lineage"

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()


def test_events_are_posted_in_their_order_and_again_if_need_be(monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "sesame")
    service = Service(failing=2)
    sent = transport(service.url)
    assert isinstance(sent, ByHttp)
    events = all_kinds()
    for event in events:
        sent.send(event)
    sent.close()
    service.close()
    assert service.kept == events
    assert service.keys == {"Bearer sesame"}
    assert sent.lost == 0


def test_a_service_that_is_down_costs_a_warning_and_no_more(caplog):
    service = Service(failing=10**9)
    sent = transport(service.url)
    for event in all_kinds()[:2]:
        sent.send(event)
    sent.close()
    service.close()
    assert sent.lost == 2
    assert [one.levelname for one in caplog.records] == ["WARNING"]
    assert "503" in caplog.text


def test_inputs_are_datasets_with_their_own_columns():
    assert TRADES.has("SYMBOL")
    assert not NAMES.has("price")
