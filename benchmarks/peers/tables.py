"""The tables of docs/peers.md, written from the CSVs and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.peers import peers_latency, sweep
from benchmarks.support.harness import ROOT, Bench, Row, Rows, pick

PAGE = ROOT / "docs" / "peers.md"
TITLES = {
    "peers_batch": "Batch: seconds for all queries",
    "peers_stream": "Streams: seconds from the first row to the last answer",
    "peers_latency": "Latency: p50 and p99, from when a window could be closed to its delivery",
}


def _batch(row: Row) -> str:
    return sweep.cell(row) + (", cold" if row["seconds"] and not row["warm"] else "")


CELLS: dict[str, Callable[[Row], str]] = {
    "peers_batch": _batch,
    "peers_stream": sweep.cell,
    "peers_latency": peers_latency.cell,
}


def tables() -> str:
    """The text between the markers."""
    lines = [""]
    for name, title in TITLES.items():
        bench = Bench(name)
        if not bench.file.exists():
            lines += [f"`{name}` was not run yet.", ""]
            continue
        rows = bench.rows()
        said = CELLS[name]
        lines += [f"### {title}", "", _about(rows), "", *_table(rows, said), ""]
        lines += ["Peak memory of the engine's processes, MiB:", "", *_table(rows, _memory), ""]
        if name != "peers_latency":
            lines += ["Seconds to start the engine and load its rows, not counted above:", ""]
            lines += [*_table(rows, _start), ""]
        reasons = {row["engine"]: row["cannot"] for row in rows if row.get("cannot")}
        lines += [f"{sweep.LABELS[engine]}: {why}\n" for engine, why in reasons.items()]
    return "\n".join([*lines, ""])


def _about(rows: Rows) -> str:
    row = rows[0]
    what = f"{row['rows']:,} rows, {row['form']} form, commit {row['commit']}, {row['machine']}."
    versions = {sweep.LABELS[row["engine"]]: row["version"] for row in rows if row.get("version")}
    return f"{what} Versions: " + "; ".join(f"{name} {v}" for name, v in versions.items()) + "."


def _table(rows: Rows, said: Callable[[Row], str]) -> Iterable[str]:
    counts = sorted({row["queries"] for row in rows})
    yield "| | " + " | ".join(f"{count:,} queries" for count in counts) + " |"
    yield "|---" * (len(counts) + 1) + "|"
    for engine in dict.fromkeys(row["engine"] for row in rows):
        cells = []
        for count in counts:
            found = pick(rows, engine=engine, queries=count)
            cells.append(said(found[0]) if found else "")
        yield f"| {sweep.LABELS[engine]} | " + " | ".join(cells) + " |"


def _memory(row: Row) -> str:
    """The peak memory of a trial, or of its time until it was stopped."""
    made = row.get("peak_mib") is not None and row.get("tried")
    return f"{row['peak_mib']:,}" if made else ""


def _start(row: Row) -> str:
    return f"{row['start_seconds']:.1f}" if row.get("start_seconds") and row["tried"] else ""
