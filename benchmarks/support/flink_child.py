"""PyFlink's part of the peers, in an environment of its own: FOLDER RANGE/SLIDE;RANGE/SLIDE..."""

from __future__ import annotations

import sys
from importlib.metadata import version
from time import perf_counter


def main(folder: str, windows: str) -> None:
    """Read rows.csv, answer every HOP window into out0, out1, ..., print version and seconds."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    table = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    table.get_config().set("table.local-time-zone", "UTC")
    table.execute_sql(
        "CREATE TABLE trades (ts TIMESTAMP(6), k INT, v BIGINT, WATERMARK FOR ts AS ts) WITH "
        f"('connector' = 'filesystem', 'path' = 'file://{folder}/rows.csv', 'format' = 'csv')"
    )
    began = perf_counter()
    statements = table.create_statement_set()
    for number, text in enumerate(windows.split(";")):
        size, slide = text.split("/")
        table.execute_sql(
            f"CREATE TABLE out{number} (s BIGINT, k INT, hi BIGINT, n BIGINT) WITH ('connector' = "
            f"'filesystem', 'path' = 'file://{folder}/out{number}', 'format' = 'csv')"
        )
        statements.add_insert_sql(
            f"INSERT INTO out{number} SELECT "
            "UNIX_TIMESTAMP(CAST(window_start AS STRING)) * 1000000, k, MAX(v), COUNT(*) "
            "FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), "
            f"INTERVAL '{slide}' SECOND(4), INTERVAL '{size}' SECOND(4))) "
            "GROUP BY window_start, window_end, k"
        )
    statements.execute().wait()
    print(version("apache-flink"), perf_counter() - began)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
