"""What the studies on Spark claim about their rows, and when a target counts as missed."""

from __future__ import annotations

import pytest

from benchmarks.studies import long_windows, overheads, share, stream
from benchmarks.support.harness import Row, Rows


def share_rows(most: int, times: float) -> Rows:
    rows: Rows = [{"workload": "one", "queries": 1, "weft_s": 1.0, "each_s": 1.0, "times": 1.0}]
    for kind in share.WORKLOADS:
        for count in (16, most):
            found = {"weft_s": 1.0, "times": times, "times_filters": times if kind == "B" else None}
            rows.append({"workload": kind, "queries": count, **found})
    keys = {"workload": "keys", "keys": 100, "queries": 50, "weft_s": 1.0, "each_s": times}
    keys |= {"plain_queries": 6, "answers": 7, "times": times, "peak_gib": 1.0}
    return [*rows, keys | {"rows": 1_000}, keys | {"rows": 10_000, "weft_s": 9.0}]


def test_sharing_has_targets_for_the_workloads_at_256_queries_only() -> None:
    quick, full = share.claim(share_rows(64, 20.0)), share.claim(share_rows(256, 20.0))
    assert quick.holds
    assert not full.holds
    assert "A (windows differ), 64 queries: 20x" in quick.also
    assert "A (windows differ), 256 queries: 20x (target 30x)" in full.also
    assert share.claim(share_rows(256, 40.0)).holds


def stream_rows(x_native: float) -> Rows:
    def weft(queries: int, seconds: float) -> Row:
        return {"what": "weft", "queries": queries, "seconds_per_batch": seconds,
                "x_native": seconds, "empty_batch_seconds": 0.5}  # fmt: skip

    long = {"what": long_windows.BUCKET, "keys": 500, "hour": 29, "read_bytes_per_batch": 10,
            "written_bytes_per_batch": 5, "state_bytes": 1_000}  # fmt: skip
    native = {"what": "one native tumbling", "queries": 1, "seconds_per_batch": 1.0}
    sliding = {"what": "16 native sliding", "queries": 16, "seconds_per_batch": 17.0}
    return [native, weft(16, 1.0), weft(256, x_native), sliding, long]


@pytest.mark.parametrize(("x_native", "holds"), [(1.5, True), (2.5, False)])
def test_a_stream_of_256_queries_may_cost_two_native_ones(x_native: float, holds: bool) -> None:
    claim = stream.claim(stream_rows(x_native))
    assert claim.holds == holds
    assert claim.also[0].startswith(f"256 shared queries cost {x_native:.2f}x of one native")
    assert "17.0x of the same 16 shared" in claim.also[2]
    assert "reads 10 bytes, 1.0% of the 1,000 held" in claim.also[3]


def overhead_rows(small: float, many: float) -> Rows:
    def row(point: str, way: str, first: float, batch: float | None) -> Row:
        return {"point": point, "way": way, "round": 0, "first_s": first, "batch_s": batch}

    return [
        row("small", "weft", 4.0, small),
        row("small", "weft", 9.0, small + 1.0),
        row("small", "plain", 2.0, 0.2),
        row("batch", "weft", 2.5, None),
        row("batch", "plain", 1.5, None),
        row("many", "weft", 5.0, many),
        row("many", "plain", 5.0, 1.0),
    ]


@pytest.mark.parametrize(
    ("small", "many", "holds"), [(0.3, 1.4, True), (0.5, 1.4, False), (0.3, 1.6, False)]
)
def test_overheads_are_the_best_of_the_rounds(small: float, many: float, holds: bool) -> None:
    claim = overheads.claim(overhead_rows(small, many))
    assert claim.holds == holds
    assert claim.also[0].startswith("first micro-batch, 16 queries 4.00 s")
    assert f"{many:.2f}x (target 1.5x)" in claim.also[-1]
