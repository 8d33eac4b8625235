"""A stream's status in Prometheus' text format, and a small server for it on the loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from weft.query.names import UNOWNED
from weft.stream.ledger import Cost, by_owner
from weft.stream.status import Status

_HELP = {
    "weft_active": "1 while the stream runs",
    "weft_batch": "number of the last micro-batch",
    "weft_rows": "rows of the last micro-batch",
    "weft_rows_per_second": "rows per second of the last micro-batch",
    "weft_batch_seconds": "seconds that the last micro-batch took",
    "weft_lag_seconds": "seconds from the greatest time seen to now",
    "weft_state_bytes": "bytes of pieces in the state",
    "weft_slices": "slices in the state",
    "weft_state_read_bytes": "bytes of pieces that the last micro-batch read",
    "weft_state_written_bytes": "bytes of pieces that the last micro-batch wrote",
    "weft_ahead_rows_total": "rows set aside because their time was far ahead of the clock",
    "weft_damaged_requests": "requests that could not be read and were set aside",
    "weft_queries": "queries that run",
    "weft_changes": "number of the catalogue entry that runs",
    "weft_query_late_rows_total": "rows that arrived when all their windows were closed",
    "weft_query_answers_total": "answers given by this process",
    "weft_query_failed": "1 if the query has failed and is not answered",
    "weft_query_share": "the query's share of the operator's recent time",
    "weft_query_state_bytes": "the query's share of the bytes of state",
    "weft_query_groups": "groups in the query's fullest window of the last micro-batch",
    "weft_query_answers": "answers of the last micro-batch",
    "weft_query_paused": "1 if the query is paused",
    "weft_query_limit": "the query's limit, by the name of the limit",
    "weft_query_owner": "1, with the query and its owner: to join metrics of queries by owner",
    "weft_query_seconds_total": "seconds of the operator that the query has cost",
    "weft_query_state_byte_seconds_total": "bytes of state times seconds that the query has cost",
    "weft_owner_queries": "queries of the owner that run",
    "weft_owner_seconds_total": "seconds of the operator that the owner's queries have cost",
    "weft_owner_state_bytes": "the share of the bytes of state of the owner's queries",
    "weft_owner_state_byte_seconds_total": "bytes of state times seconds that they have cost",
    "weft_owner_answers_total": "answers of the owner's queries",
    "weft_store_slices": "slices of a store",
    "weft_store_state_bytes": "bytes of a store's pieces",
}


def prometheus(status: Status, costs: Sequence[Cost] = ()) -> str:
    """The status, and the costs of each query and owner, in Prometheus' text format."""
    samples: list[tuple[str, dict[str, str], float]] = [
        ("weft_active", {}, float(status.active)),
        ("weft_batch", {}, status.batch),
        ("weft_rows", {}, status.rows),
        ("weft_rows_per_second", {}, status.rows_per_second),
        ("weft_batch_seconds", {}, status.batch_seconds),
        ("weft_state_bytes", {}, status.state_bytes),
        ("weft_slices", {}, status.slices),
        ("weft_state_read_bytes", {}, status.read_bytes),
        ("weft_state_written_bytes", {}, status.written_bytes),
        ("weft_ahead_rows_total", {}, status.ahead_rows),
        ("weft_damaged_requests", {}, len(status.damaged_requests)),
        ("weft_queries", {}, len(status.queries)),
        ("weft_changes", {}, status.changes),
    ]
    if status.lag is not None:
        samples.append(("weft_lag_seconds", {}, status.lag))
    for query in status.queries:
        label = {"query": query.name}
        samples += [
            ("weft_query_late_rows_total", label, query.late_rows),
            ("weft_query_answers_total", label, query.answers),
            ("weft_query_share", label, query.share),
            ("weft_query_failed", label, int(query.failed is not None)),
            ("weft_query_paused", label, int(query.paused)),
            ("weft_query_state_bytes", label, query.state_bytes),
            ("weft_query_groups", label, query.groups),
            ("weft_query_answers", label, query.batch_answers),
            ("weft_query_owner", {**label, "owner": query.owner or UNOWNED}, 1),
        ]
        samples += [
            ("weft_query_limit", {**label, "limit": name}, most)
            for name, most in (query.limits or {}).items()
            if name != "over"
        ]
    named = {query.name for query in status.queries}
    for cost in costs:
        if cost.query in named:  # the others are only in the sums by owner
            label = {"query": cost.query, "owner": cost.owner}
            samples += [
                ("weft_query_seconds_total", label, cost.seconds),
                ("weft_query_state_byte_seconds_total", label, cost.state_byte_seconds),
            ]
    for cost in by_owner(costs):
        label = {"owner": cost.owner}
        samples += [
            ("weft_owner_queries", label, cost.queries),
            ("weft_owner_seconds_total", label, cost.seconds),
            ("weft_owner_state_bytes", label, cost.state_bytes),
            ("weft_owner_state_byte_seconds_total", label, cost.state_byte_seconds),
            ("weft_owner_answers_total", label, cost.answers),
        ]
    for store in status.stores:
        label = {"store": str(store.number)}
        samples += [
            ("weft_store_slices", label, store.slices),
            ("weft_store_state_bytes", label, store.state_bytes),
        ]
    return text(samples)


def text(samples: Iterable[tuple[str, dict[str, str], float]]) -> str:
    """Samples as text, grouped by metric.

    >>> print(text([("weft_rows", {}, 5), ("weft_query_share", {"query": 'a"b'}, 0.5)]), end="")
    # HELP weft_rows rows of the last micro-batch
    # TYPE weft_rows gauge
    weft_rows 5
    # HELP weft_query_share the query's share of the operator's recent time
    # TYPE weft_query_share gauge
    weft_query_share{query="a\\"b"} 0.5
    """
    by_name: dict[str, list[str]] = {}
    for name, labels, value in samples:
        listed = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
        by_name.setdefault(name, []).append(
            f"{name}{{{listed}}} {_shown(value)}" if listed else f"{name} {_shown(value)}"
        )
    lines = []
    for name, some in by_name.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} {kind}", *some]
    return "\n".join(lines) + "\n"


def _shown(value: float) -> str:
    """A number with all its digits: a rounded counter would stand still and then jump.

    >>> [_shown(value) for value in (12_345_678, 0.1, 3.0, 1e300)]
    ['12345678', '0.1', '3', '1e+300']
    """
    whole = float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class MetricsServer:
    """Serves `GET /metrics` on 127.0.0.1; port 0 uses any free port."""

    def __init__(self, metrics: Callable[[], str], port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = self.path.split("?")[0] == "/metrics"
                body = metrics().encode() if found else b"see /metrics\n"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
