"""Every engine gives Spark's answers for every aggregate over every type that Spark accepts."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance_accepted import ASK_AGAIN, accepted, named, to_names
from conformance_aggregates import ASKED, untested
from conformance_differences import DIFFERENCES, refusal, todo
from conformance_runs import INTERPRETED, Matrix, settings
from conformance_values import SPARK_FAILS, VALUES
from engines import ENGINES, Rows, answer_rows
from spark_situations import timed

DOCS = Path(__file__).parents[3] / "docs" / "aggregates.md"
PLACES = {
    "ansi": {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"},
    "lenient": {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.caseSensitive": "true",
        "spark.sql.session.timeZone": "America/New_York",
    },
    "kolkata": {"spark.sql.session.timeZone": "Asia/Kolkata"},
}
ALL = tuple(values.name for values in VALUES)
COLUMNS = {
    "lenient": ("whole", "long", "single", "money", "number_text", "moment", "day", "span"),
    "kolkata": ("day", "moment", "wall", "text"),
}
SOME = {
    "rewrite": ("tiny", "longest", "real", "money", "text", "moment", "span", "pair", "mapped"),
    "update": ("truth", "whole", "single", "wide", "bytes", "day", "listed", "span", "mapped"),
    "restart": ("tiny", "long", "huge", "money", "number_text", "wall", "pair"),
}
"""What runs on which engine: everything on the batch operator and a stream, the others in turn."""
OFTEN = [
    ("batch", "ansi", ALL[::2]),
    ("append", "ansi", ALL[1::2]),
]
LONGER = [
    ("batch", "lenient", COLUMNS["lenient"]),
    ("rewrite", "kolkata", COLUMNS["kolkata"]),
    ("batch", "ansi", ALL[1::2]),
    ("append", "ansi", ALL[::2]),
    *((engine, "ansi", SOME[engine]) for engine in ENGINES if engine in SOME),
    ("append", "lenient", COLUMNS["lenient"]),
    ("restart", "kolkata", COLUMNS["kolkata"]),
]
"""Run by `make test-nightly`: CI has no time for all."""
RUNS = [
    *(pytest.param(*run, id=f"{run[0]}-{run[1]}-often") for run in OFTEN),
    *(pytest.param(*run, id=f"{run[0]}-{run[1]}", marks=pytest.mark.nightly) for run in LONGER),
]


@pytest.fixture(scope="module")
def matrix(spark, tmp_path_factory):
    columns = ["CAST(id AS INT) AS n", "CAST(id DIV 3 % 2 AS INT) AS k"]
    with settings(spark, INTERPRETED):
        frames = timed(spark, *columns, *(values.sql for values in VALUES), rows=45)
        rows = Rows(tmp_path_factory.mktemp("values") / "in", *frames)
        found = {place: Matrix(rows) for place in PLACES}
        with settings(spark, PLACES["ansi"]):
            known = accepted(spark.version)
            asked = found["ansi"].asked if known is None else named(known)
        for one in found.values():
            one.__dict__["asked"] = asked
        yield found


def _run(spark, matrix, tmp_path, engine, place, queries):
    """For each column and aggregate, the first answer that differs from Spark's."""
    with settings(spark, PLACES[place]):
        found = answer_rows(engine, matrix[place].rows, queries, tmp_path)
        return matrix[place].differences(queries, found)


@pytest.mark.parametrize(("engine", "place", "columns"), RUNS)
def test_every_aggregate_of_every_type(spark, matrix, tmp_path, engine, place, columns):
    def without(column: str, name: str) -> bool:
        return (
            (column, name) in SPARK_FAILS
            or (column, name) in DIFFERENCES
            or refusal(engine, column, name) is not None
            or todo(engine, column, name) is not None
        )

    queries = matrix[place].queries(columns, without)
    told = _run(spark, matrix, tmp_path, engine, place, queries)
    assert not told, "\n".join(f"{place}: {text}" for place, text in told.items())


@pytest.mark.nightly
def test_what_spark_accepts_is_known(spark, matrix):
    with settings(spark, PLACES["ansi"] | INTERPRETED):
        assert to_names(Matrix(matrix["ansi"].rows).asked) == accepted(spark.version), ASK_AGAIN


def test_every_aggregate_that_may_be_called_is_asked_for():
    assert untested() == set()


def test_what_differs_or_is_refused_is_documented():
    refused = {refusal("append", values.name, one.name) for values in VALUES for one in ASKED}
    page = DOCS.read_text()
    assert [why for why in {*DIFFERENCES.values(), *refused} - {None} if why not in page] == []
