"""Random statements around windows: shared ones give the rows of plain Spark."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.corpus.tables import make_tables
from weft.query.sql.reading import read_statements
from weft.spark.verify.statements import verify_whole
from weft.spark.whole import WholeBatch

WINDOWS = (
    "window(ts, '6 hours')",
    "window(ts, '1 day', '8 hours')",
    "window(ts, '12 hours', '12 hours', '90 minutes')",
)
KEYS = ("symbol", "venue", "upper(side) AS s", "volume % 3 AS m", "coalesce(venue, '-') AS v")
OUTPUTS = (
    "count(*) AS n",
    "sum(volume) AS volume",
    "max(price) - min(price) AS spread",
    "count(DISTINCT symbol) AS symbols",
    "sum(fee) / count(fee) AS fee",
    "max_by(symbol, ts) AS last",
    "count_if(side = 'B') AS buys",
)
SHOWN = ("window.start AS since", "window AS w", "date_format(window.end, 'HH') AS h", "7 AS seven")
SOURCES = (
    "trades",
    "trades AS t",
    "(SELECT * FROM trades WHERE price > 10) AS t",
    "trades t LEFT JOIN symbols y ON t.symbol = y.symbol AND y.sector <> 'energy'",
)


def statement(chance: random.Random) -> str:
    """A statement that Spark accepts; if it has a LIMIT, its order has no ties."""
    source = chance.choice(SOURCES)
    owner = "t." if "JOIN" in source else ""
    keys = chance.sample(KEYS, chance.randrange(0, 3))
    outputs = chance.sample(OUTPUTS, chance.randrange(1, 4))
    shown = chance.sample(SHOWN, chance.randrange(0, 3))
    items = [*shown, *keys, *outputs]
    chance.shuffle(items)
    window = chance.choice(WINDOWS).replace("ts,", f"{owner}ts,")
    group = [window, *(key.split(" AS ")[0] for key in keys)]
    texts = [", ".join(items), ", ".join(group)]
    if owner:
        texts = [
            text.replace("symbol", "t.symbol").replace("t.symbols", "symbols") for text in texts
        ]
    where = chance.choice(("", "", "WHERE volume > 100", "WHERE side = 'B' OR side IS NULL"))
    having = chance.choice(("", "HAVING count(*) > 2", "HAVING max(price) > 50 AND count(*) < 90"))
    core = f"SELECT {texts[0]} FROM {source} {where} GROUP BY {texts[1]} {having}"
    places = ", ".join(map(str, range(1, len(items) + 1)))
    names = ", ".join(item.split(" AS ")[-1] for item in items)
    simple = "last" not in core and " AS w" not in core  # it cannot be ordered by, or has ties
    return chance.choice(
        (
            core,
            f"{core} ORDER BY {places}",
            f"{core} ORDER BY {places} LIMIT 7" if simple else core,
            f"SELECT DISTINCT {core[7:]}",
            f"SELECT * FROM ({core}) WHERE 1 = 1",
            f"WITH c AS ({core}) SELECT count(*) AS rows FROM c",
            f"{core} UNION ALL {core}",
            f"{core} QUALIFY count(*) OVER (PARTITION BY window) > 1",
            f"SELECT *, row_number() OVER (ORDER BY {names}) AS r FROM ({core})"
            if simple
            else core,
        )
    )


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> dict[str, DataFrame]:
    return {name: frame.cache() for name, frame in make_tables(spark).items()}


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_random_statements(spark: SparkSession, tables: dict[str, DataFrame], seed: int) -> None:
    chance = random.Random(seed)
    text = ";\n".join(statement(chance) for _ in range(9))
    statements = read_statements(text)
    with WholeBatch(spark, tables, (), statements) as whole:
        unshared = {a.name: a.why or a.error for a in whole.asked if not a.is_shared}
        assert unshared == {}, text
        report = verify_whole(whole)
    assert report.ok, f"{report}\n{text}"
    assert report.rows > 50
