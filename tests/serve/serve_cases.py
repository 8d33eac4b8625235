"""Checkpoints, answers and clients for the dashboard's tests, made without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from starlette.testclient import TestClient

from weft.plan.optimizer import optimize
from weft.query.query import Query
from weft.query.window import Window
from weft.serve.app import make_app
from weft.serve.guard import Policy
from weft.serve.source import ApiSource, open_source
from weft.sinks.files import Folder
from weft.stream.catalogue import Settings
from weft.stream.catalogue_files import CatalogueFiles
from weft.stream.evolve import first_catalogue, next_catalogue
from weft.stream.progress import Progress, ProgressFile
from weft.stream.status import QueryStatus, Status, StoreStatus
from weft.stream.status_file import Board

TOKEN = "a-token-for-tests-only"
MINUTE = 60_000_000
QUERIES = (
    Query("hourly", aggs={"hi": "max(price)"}, window=Window(range="1 hour"), by=["symbol"],
          lateness="5 minutes"),
    Query(
        "busy trades",
        aggs={"n": "count(*)"},
        window=Window(range="12 minutes", slide="5 minutes"),
        where="volume > 500",
        by=["symbol"],
    ),
    Query("all", aggs={"n": "count(*)"}, window=Window(range="10 minutes")),
)  # fmt: skip
SQL = "SELECT symbol, max(price) AS hi FROM trades GROUP BY window(ts, '30 minutes'), symbol"


def write_checkpoint(folder: Path) -> Path:
    """A checkpoint with three queries, the last of which was added by a second change."""
    checkpoint = folder / "ck"
    settings = Settings("ts", "timestamp", "1 minute", (0, 1), 2, "append")
    plan = optimize(QUERIES[:2], rate=1000.0, strategy="weave", engine="operator")
    files = CatalogueFiles(str(checkpoint))
    first = first_catalogue(plan, settings)
    files.write(first)
    progress = Progress(batch=4, max_event_time=100 * MINUTE, frontier=99 * MINUTE)
    ProgressFile(str(checkpoint)).write(progress)
    files.write(next_catalogue(first, plan.add(QUERIES[2:]), progress))
    return checkpoint


def post_status(checkpoint: Path, sink: dict[str, Any], error: str | None = None) -> Board:
    """Write a status like that of a stream."""
    queries = tuple(
        QueryStatus(query.name, number, None, 7 * number, 0, 1 / 3, (1,))
        for number, query in enumerate(QUERIES, 1)
    )
    stores = (StoreStatus(1, 2, 40, 3, 9_000, 12.0, 0.5),)
    status = Status(True, 4, 500, 250.0, 2.0, 99 * MINUTE, 100 * MINUTE, 3.0, 9_000, 40, 3, 0, 0, 2,
                    queries, stores, error)  # fmt: skip
    board = Board(str(checkpoint), sink)
    board.post(status)
    return board


def write_answers(folder: Path, number: int, starts: list[int], mode: str = "append") -> Path:
    """Write answers of `hourly` as a Parquet sink does, with a micro-batch for each start."""
    out = folder / "out"
    window = pa.struct([("start", pa.timestamp("us", "UTC")), ("end", pa.timestamp("us", "UTC"))])
    for batch, start in enumerate(starts):
        bounds = {"start": start * MINUTE, "end": (start + 60) * MINUTE}
        table = pa.table(
            {
                "window": pa.array([bounds, bounds], window),
                "symbol": ["a", "b"],
                "hi": [1.5 + batch, float("nan")],
            }
        )
        name = f"hourly/{number}/{batch:012d}-0000.parquet"
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, out / name)
        batches = Folder(str(out)).sub("_weft").sub("batches")
        batches.write(f"{batch:012d}.json", "batch", {str(number): [name]})
    # Written, but in no manifest: a micro-batch that was not finished.
    pq.write_table(table, out / f"hourly/{number}/{len(starts):012d}-0000.parquet")
    return out


def write_plan(path: Path, strategy: str = "weave", count: int = 0) -> Path:
    """Write a stored plan of the three queries, or of a number of generated ones."""
    queries = list(QUERIES) if not count else many_queries(count)
    path.write_text(json.dumps(optimize(queries, rate=100.0, strategy=strategy).to_dict()))
    return path


def many_queries(count: int) -> list[Query]:
    """Queries with a few hundred different windows, like those of dashboards and alert rules."""
    slides = (1, 2, 3, 5, 6, 10, 12, 15, 20, 30, 60, 7, 9, 14)
    found = []
    for number in range(count):
        slide = slides[number % len(slides)]
        window = Window(range=f"{slide * (1 + number % 11)} minutes", slide=f"{slide} minutes")
        keys = (("symbol",), ("venue",), ("symbol", "venue"), ())[number % 4]
        aggs = {"n": "count(*)"} if number % 2 else {"value": "sum(price * volume)"}
        where = f"volume > {100 * (number % 7)}" if number % 4 == 0 else None
        found.append(Query(f"rule_{number:04d}", aggs=aggs, window=window, by=keys, where=where))
    return found


def client(source: ApiSource | Path, policy: Policy | None = None, **headers: str) -> TestClient:
    """A client of a source's dashboard that sends requests as a page on loopback would."""
    opened = open_source(str(source)) if isinstance(source, Path) else source
    app = make_app(opened, policy or Policy(TOKEN))
    return TestClient(app, base_url="http://127.0.0.1:8787", headers=headers)


def bearer(token: str = TOKEN) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}
