"""The texts of `texts/*.yaml`, and a query in one line to compare with what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from weft.query.duration import format_duration
from weft.query.query import Query
from weft.query.window import Session

TEXTS = Path(__file__).parent / "texts"
DIALECTS = ("spark", "cql", "asa", "flink")


def entries(kind: str, dialect: str) -> list[dict[str, Any]]:
    return yaml.safe_load((TEXTS / f"{kind}_{dialect}.yaml").read_text(encoding="utf-8"))


def summary(query: Query) -> str:
    """A query in one line: `q1 | t.ts | 1 hour / 10 minutes + 0 | where | by | aggs | having`."""
    window, source = query.window, query.source
    show = format_duration if window.axis == "time" else str
    lengths = f"{show(window.range)} / {show(window.slide)}"
    if isinstance(window, Session):
        lengths = f"sessions of {show(window.gap)}"
        lengths += f" up to {show(window.maximum)}" if window.maximum else ""
    lengths += f" + {show(window.phase)}" if window.phase else ""
    terms = [query.name, f"{source.table}.{source.time}" if source else "-", lengths]
    terms += [f"where {query.where}"] if query.where else []
    terms += [f"by {', '.join(query.by)}"] if query.by else []
    terms += [", ".join(f"{name} = {sql}" for name, sql in query.aggs.items())]
    terms += [f"having {query.having}"] if query.having else []
    return " | ".join(terms)
