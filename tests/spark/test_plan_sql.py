"""The script that `to_sql` prints gives the plain queries' answers when it is run unchanged."""

from __future__ import annotations

import pytest
from agree import INTERPRETED, loom_of, settings
from pyspark.sql import SparkSession
from rows import queries, rows

import weft
from weft.errors import PlanError
from weft.spark.verify.compare import Pair, compare
from weft.spark.verify.verify import scaled


@pytest.mark.parametrize(
    ("strategy", "keys"), [("share_all", "union"), ("weave", "separate"), ("factor", "separate")]
)
def test_the_script_gives_the_answers(spark: SparkSession, strategy: str, keys: str) -> None:
    asked = [query for query in queries(900, 8) if "big" not in repr(query)][:5]
    loom = loom_of(rows(spark, 900, 100), asked)
    plan = loom.plan(strategy=strategy, keys=keys, rate=5.0, engine="rewrite")
    loom.df.createOrReplaceTempView("events")
    with settings(spark, INTERPRETED):
        script = plan.to_sql(table="events", types=loom.types())
        for statement in script.split(";\n"):
            spark.sql(statement.removesuffix(";"))
        pairs = []
        for query in asked:
            expected, scales = scaled(loom.df, loom.axis, query)
            names = ["window", *(key.name for key in query.keys)]
            pairs.append(Pair(query.name, names, expected, spark.table(query.name), scales))
        wrong = [str(difference) for difference in compare(pairs) if not difference.ok]
    assert not wrong, "\n".join(wrong)


def test_bare_windows_have_no_sql() -> None:
    plan = weft.optimize([weft.Window(range=5)])
    with pytest.raises(PlanError, match="bare windows"):
        plan.to_sql()
