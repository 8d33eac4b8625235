"""Which aggregates Spark accepts for which columns, in a file, because asking takes a minute.

`python tests/spark/conformance/conformance_accepted.py` asks Spark and writes `accepted.json` anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance_aggregates import ASKED, Asked
from conformance_values import VALUES, Values

FILE = Path(__file__).with_name("accepted.json")
ASK_AGAIN = "python tests/spark/conformance/conformance_accepted.py writes what Spark accepts now"


def accepted(version: str) -> dict[str, list[str]] | None:
    """For each column, the aggregates that a version of Spark accepts, if that is known."""
    known: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return known.get(version.rpartition(".")[0])


def named(known: Mapping[str, Sequence[str]]) -> dict[Values, list[Asked]]:
    """The aggregates with these names."""
    return {
        values: [asked for asked in ASKED if asked.name in known.get(values.name, ())]
        for values in VALUES
    }


def to_names(asked: Mapping[Values, Sequence[Asked]]) -> dict[str, list[str]]:
    """The names of some aggregates."""
    return {values.name: [one.name for one in some] for values, some in asked.items()}


if __name__ == "__main__":
    import sys
    import tempfile

    sys.path += [str(FILE.parents[1]), str(FILE.parents[2])]
    from conformance_runs import INTERPRETED, Matrix, settings
    from engines import Rows
    from spark_situations import timed
    from test_every_aggregate_and_type import PLACES

    from weft.spark.session import local_session

    spark = local_session()
    with settings(spark, PLACES["ansi"] | INTERPRETED), tempfile.TemporaryDirectory() as folder:
        columns = ["CAST(id AS INT) AS n", "CAST(id DIV 3 % 2 AS INT) AS k"]
        frames = timed(spark, *columns, *(values.sql for values in VALUES), rows=45)
        asked = to_names(Matrix(Rows(Path(folder) / "in", *frames)).asked)
    text = json.dumps({spark.version.rpartition(".")[0]: asked}, indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")
