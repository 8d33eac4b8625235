"""Every statement in docs/sql.md is accepted, and every window form of its table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft.query.sql import parse_queries

DOCS = (Path(__file__).parents[3] / "docs" / "sql.md").read_text(encoding="utf-8")
STATEMENTS = re.findall(r"```sql\n(.*?)```", DOCS, re.DOTALL)
FORMS = [
    form
    for line in re.findall(r"^\| (?:Spark|CQL|Azure|Flink) \|.*$", DOCS, re.MULTILINE)
    for form in re.findall(r"`([^`]*)`", " | ".join(line.split(" | ")[1:3]))
]


def test_the_documents_are_found() -> None:
    assert len(STATEMENTS) == 9
    assert len(FORMS) == 8


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_documented_statement_is_accepted(sql: str) -> None:
    assert parse_queries(sql, whole=True)


@pytest.mark.parametrize("form", FORMS)
def test_a_documented_window_is_accepted(form: str) -> None:
    form = form.replace("slide, size", "INTERVAL '5' MINUTES, INTERVAL '10' MINUTES")
    if form.startswith("["):
        form = f"FROM t {form}"
    elif form.startswith("HOP"):
        form = f"FROM TABLE({form})"
    if "TABLE" in form:
        form += " GROUP BY window_start, window_end"
    elif not form.startswith("FROM"):
        form = f"FROM t GROUP BY {form.removeprefix('GROUP BY ')}"
    assert parse_queries(f"SELECT count(*) AS n {form}")
