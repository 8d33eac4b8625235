"""The outcome of every statement of the corpus: `python -m tests.corpus.judge` runs them on Spark.

Each statement is read, run in a batch, and compared with plain Spark (its own text, or the Spark
SQL that another dialect is translated to). The outcome is stored in `verdicts.json`, and summarised
in a table in docs/sql.md; tests compare both with how weft reads the statements now.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.corpus.on_streams import STREAMS, stream_verdict
from tests.corpus.tables import make_tables
from weft.query.sql.reading import Statement, read_statements
from weft.spark.results.selected import selected
from weft.spark.results.sound import Failed
from weft.spark.whole import Asked, WholeBatch

HERE = Path(__file__).parent
FILES = ("spark", "databricks", "flink", "nexmark", "azure", "ksqldb", "risingwave")
VERDICTS = HERE / "verdicts.json"
ON_STREAMS = HERE / "on_streams.json"
PAGE = HERE.parents[1] / "docs" / "sql.md"
MARK = "<!-- corpus -->\n"
TIMES = {
    "trades": "ts", "flights": "dep", "clicks": "at", "bids": "bid_time", "auctions": "opens",
    "persons": "joined",
}  # fmt: skip
ANY_ORDER = frozenset(("first_and_last", "histogram", "flink_first_last", "ksql_limit"))
"""Answers that depend on the order of rows in Spark too; a LIMIT without ORDER BY is one."""
OF_THE_TABLES = (
    *("cannot run on this DataFrame", "UNRESOLVED_COLUMN", "DATATYPE_MISMATCH", "no table"),
    *("is not a column of", "failed"),
)
"""The outcome of a statement that was read, but does not fit the tables of the corpus."""


def statements(name: str) -> list[Statement]:
    """The statements of a file, except those that only another version of Spark has."""
    text = (HERE / f"{name}.sql").read_text(encoding="utf-8")
    others = set(re.findall(r"-- name: (\w+)\n(?:--[^\n]*\n)*?-- spark: no", text))
    return [one for one in read_statements(text) if one.name not in others]


def kind(statement: Statement) -> str:
    """The outcome of a statement as far as parsing it shows."""
    if statement.queries:
        return "shared" if statement.finish is None else "shared, then SQL"
    return "Spark SQL" if statement.is_spark else "refused"


def judge(spark: SparkSession, name: str, every: int = 1) -> dict[str, str]:
    """The outcome of each statement; of every n-th statement of a file."""
    found: dict[str, str] = {}
    tables = make_tables(spark)
    with WholeBatch(spark, tables, (), statements(name)[::every], times=TIMES) as whole:
        for asked in whole.asked:
            found[asked.name] = _verdict(whole, asked)
    return found


def judge_streams(spark: SparkSession, name: str, every: int = 1) -> dict[str, str]:
    """Whether a stream could start with each statement; for every n-th statement of a file."""
    tables = make_tables(spark)
    listed = statements(name)[::every]
    return {one.name: stream_verdict(spark, tables, TIMES, one) for one in listed}


def _verdict(whole: WholeBatch, asked: Asked) -> str:
    if asked.error is not None:
        return f"refused: {asked.error.splitlines()[-1 if 'and as it is' in asked.error else 0]}"
    query = asked.query

    def read(frame: DataFrame, again: bool) -> tuple[list[str], Counter[str]]:
        shown = frame if query is None else selected(frame, query)
        return shown.columns, Counter(_text(row) for row in shown.collect())

    try:
        names, rows = whole.use(asked, read)
    except Failed as error:
        return f"failed: {str(error).partition(']')[0]}]"  # which row it reports is random
    plain = whole.plain(asked)
    if plain is None or asked.name in ANY_ORDER:
        return asked.how
    if rows != Counter(_text(row) for row in plain.collect()):
        return "WRONG: other rows than plain Spark"
    same = [name.lower() for name in names] == [name.lower() for name in plain.columns]
    return asked.how if same else f"WRONG: columns {names}, not {plain.columns}"


def _text(value: Any) -> str:
    """A value as text to compare; floats to nine digits, because sums are added in any order."""
    if isinstance(value, float):
        return f"{value:.9e}" if value else "0"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{_text(k)}:{_text(v)}' for k, v in value.items()))}}}"
    return repr(value)


def table(verdicts: dict[str, dict[str, str]], streams: dict[str, dict[str, str]]) -> str:
    """The table of docs/sql.md."""
    lines = [
        "| file | statements | shared | shared, then SQL | as it is | refused | run | read "
        "| on streams |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in verdicts.items():
        count = Counter(verdict.partition(":")[0] for verdict in found.values())
        ran = len(found) - count["refused"] - count["failed"]
        columns = (count["shared"], count["shared, then SQL"], count["as it is"])
        lost = count["refused"] + count["failed"]
        listed = " | ".join(map(str, (len(found), *columns, lost)))
        read = ran + sum(is_of_the_tables(verdict) for verdict in found.values())
        share = f"{ran / len(found):.0%} | {read / len(found):.0%}"
        started = sum(verdict == STREAMS for verdict in streams[name].values())
        lines.append(f"| {name} | {listed} | {share} | {started} |")
    return "\n".join(lines) + "\n"


def is_of_the_tables(verdict: str) -> bool:
    """Whether a statement was read, and failed only because the corpus lacks its tables."""
    lost = verdict.startswith(("refused", "failed"))
    return lost and any(reason in verdict for reason in OF_THE_TABLES)


def main(names: Sequence[str] = FILES) -> None:
    """Judge every statement of some files, and write the outcomes."""
    from weft.spark.session import local_session

    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }
    spark = local_session(settings=settings)
    verdicts = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
    verdicts |= {name: judge(spark, name) for name in names}
    streams = json.loads(ON_STREAMS.read_text(encoding="utf-8")) if ON_STREAMS.exists() else {}
    streams |= {name: judge_streams(spark, name) for name in names}
    spark.stop()
    VERDICTS.write_text(json.dumps(verdicts, indent=1) + "\n", encoding="utf-8")
    ON_STREAMS.write_text(json.dumps(streams, indent=1) + "\n", encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    after = rest.partition(MARK)[2]
    PAGE.write_text(f"{before}{MARK}{table(verdicts, streams)}{MARK}{after}", encoding="utf-8")
    print(table(verdicts, streams))
    for name, found in verdicts.items():
        for statement, verdict in found.items():
            if verdict.startswith(("WRONG", "failed")):
                print(f"{name} {statement}: {verdict}")


if __name__ == "__main__":
    main(sys.argv[1:] or FILES)
