"""The corpus is read with the recorded outcomes, and enough of it can be shared."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from tests.corpus.judge import (
    FILES,
    HERE,
    MARK,
    ON_STREAMS,
    PAGE,
    VERDICTS,
    is_of_the_tables,
    kind,
    statements,
    table,
)

KNOWN = json.loads(VERDICTS.read_text(encoding="utf-8"))
STARTED = json.loads(ON_STREAMS.read_text(encoding="utf-8"))
OTHERS = ("flink", "nexmark", "azure", "ksqldb", "risingwave")


def test_there_are_hundreds_of_statements_each_with_its_form_and_where_it_was_seen() -> None:
    texts = [(HERE / f"{name}.sql").read_text(encoding="utf-8") for name in FILES]
    names = [name for text in texts for name in re.findall(r"-- name: (\w+)", text)]
    assert len(names) == len(set(names)) > 500
    for text in texts:
        found = re.findall(r"-- name: \w+\n-- form: \S.*\n-- seen: \S", text)
        assert len(found) == text.count("-- name: ")


@pytest.mark.parametrize("name", FILES)
def test_statements_are_read_as_they_were_judged(name: str) -> None:
    for statement in statements(name):
        asked = [query.name for query in statement.queries] or [statement.name]
        if statement.finish is not None or not statement.queries:
            asked = [statement.name]
        for one in asked:
            verdict = KNOWN[name][one]
            read = kind(statement)
            if verdict in ("shared", "shared, then SQL"):
                assert read == verdict, one
            elif verdict == "as it is":
                assert read in ("Spark SQL", "shared, then SQL", "shared"), one
            else:
                assert verdict.startswith(("refused: ", "failed: ")), one


def test_none_was_answered_wrong() -> None:
    wrong = [v for found in KNOWN.values() for v in found.values() if v.startswith("WRONG")]
    assert wrong == []


def test_as_much_as_we_want_is_run_and_read() -> None:
    for name in ("spark", "databricks"):
        count = Counter(verdict.partition(":")[0] for verdict in KNOWN[name].values())
        assert count["refused"] + count["failed"] < 0.05 * len(KNOWN[name])
    others = [verdict for name in OTHERS for verdict in KNOWN[name].values()]
    unread = [v for v in others if v.startswith("refused") and not is_of_the_tables(v)]
    assert len(unread) < 0.2 * len(others)


def test_the_table_on_the_page_is_that_of_the_verdicts() -> None:
    assert PAGE.read_text(encoding="utf-8").split(MARK)[1] == table(KNOWN, STARTED)


def test_every_refusal_has_a_reason() -> None:
    for found in KNOWN.values():
        for statement, verdict in found.items():
            if verdict.startswith("refused"):
                assert len(verdict) > 20, statement


def test_no_statement_is_left_out_of_a_stream_without_a_reason_of_its_own() -> None:
    for found in STARTED.values():
        for statement, verdict in found.items():
            assert verdict == "streams" or len(verdict) > 20, statement
