"""Views in a text: statements after them may read them."""

from __future__ import annotations

import pytest

from weft.query.sql import read_statements

FIVE = (
    "CREATE VIEW five AS SELECT window, k, count(*) AS n FROM t GROUP BY window(ts, '5 minutes'), k"
)
HOURS = (
    "SELECT window(window, '1 hour') AS w, max(n) AS m FROM five GROUP BY window(window, '1 hour')"
)


def test_a_statement_has_what_it_reads_in_itself() -> None:
    five, hours = read_statements(f"{FIVE}; {HOURS}")
    assert (five.name, five.refusal, five.is_read, hours.is_read) == ("five", None, True, False)
    (query,) = hours.queries
    assert query.window == five.queries[0].window
    assert hours.finish == (
        "WITH `five` AS (SELECT window AS `window`, `k` AS `k`, `n` AS `n` FROM weft_answers_0) "
        "SELECT window(window, '1 hour') AS w, max(n) AS m FROM five "
        "GROUP BY window(window, '1 hour')"
    )


def test_views_read_views_each_once_and_in_order() -> None:
    text = f"""{FIVE};
    CREATE TEMPORARY VIEW hours AS {HOURS};
    WITH RECURSIVE own AS (SELECT 1 AS one)
    SELECT a.m FROM hours a JOIN five b ON a.w.end = b.window.end, own"""
    last = read_statements(text)[-1]
    begins = [last.sql.index(part) for part in ("RECURSIVE `five` AS (", "`hours` AS (", "own AS")]
    assert begins == sorted(begins)
    assert last.sql.count("`five` AS (") == 1


@pytest.mark.parametrize(
    "reader",
    [
        "SELECT five.n FROM t AS five",  # an alias
        "SELECT five FROM t",  # a column
        "SELECT n FROM shop.five",  # of another schema
        "SELECT x FROM five(3)",  # a function
        "WITH five AS (SELECT 1 AS n) SELECT n FROM five",  # its own
        "SELECT 'FROM five' AS n FROM t",
    ],
)
def test_what_is_called_like_a_view_is_left_alone(reader: str) -> None:
    assert read_statements(f"{FIVE}; {reader}")[1].sql == reader


def test_a_view_that_comes_later_is_not_known_and_the_last_one_before_counts() -> None:
    other = "CREATE OR REPLACE VIEW five AS SELECT 1 AS n"
    before, _, between, _, after = read_statements(
        f"SELECT n FROM FIVE; {FIVE}; SELECT n FROM five; {other}; SELECT n FROM `five`"
    )
    assert "WITH" not in before.sql
    assert "5 minutes" in between.sql
    assert after.sql == "WITH `five` AS (SELECT 1 AS n) SELECT n FROM `five`"


@pytest.mark.parametrize(
    "wrapper",
    [
        "INSERT INTO five SELECT 1 AS n",
        "CREATE SINK five AS SELECT 1 AS n",
        "CREATE VIEW five (m) AS SELECT 1 AS n",
    ],
)
def test_what_is_no_view_or_has_other_columns_is_not_read(wrapper: str) -> None:
    assert read_statements(f"{wrapper}; SELECT n FROM five")[1].sql == "SELECT n FROM five"


def test_flinks_view_on_a_view_is_a_cascade() -> None:
    text = """
    CREATE VIEW fives AS SELECT window_start, window_end, window_time AS rowtime, SUM(price) AS p
    FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '5' MINUTES))
    GROUP BY window_start, window_end, window_time;
    SELECT window_start, window_end, SUM(p) AS p
    FROM TABLE(TUMBLE(TABLE fives, DESCRIPTOR(rowtime), INTERVAL '10' MINUTES))
    GROUP BY window_start, window_end"""
    _, tens = read_statements(text)
    assert [query.window.range for query in tens.queries] == [300_000_000]
    assert tens.finish.endswith("GROUP BY window(rowtime, '10 minutes')")


@pytest.mark.parametrize(
    "reader",
    [
        "SELECT window, sum(five) AS v FROM t GROUP BY window(ts, '1 hour')",
        "SELECT k, five FROM t",
        "SELECT extract(HOUR FROM five) AS h FROM t",
        "SELECT k FROM t WHERE k IS DISTINCT FROM five",
        "SELECT k FROM t GROUP BY k, five",
    ],
)
def test_a_column_that_is_called_like_a_view_is_none(reader: str) -> None:
    view, read = read_statements(f"{FIVE}; {reader}")
    assert read.sql == reader
    assert not view.is_read


@pytest.mark.parametrize("tables", ["five, t2", "t2, five", "t2 JOIN five ON a = b, u", "u, five"])
def test_tables_of_a_list_may_be_views(tables: str) -> None:
    assert read_statements(f"{FIVE}; SELECT 1 AS n FROM {tables}")[1].sql.startswith("WITH `five`")


def test_a_view_reads_no_view_that_is_defined_after_it() -> None:
    text = f"{FIVE}; CREATE VIEW t AS SELECT * FROM t WHERE v > 3; SELECT 1 AS n FROM t, five"
    sql = read_statements(text)[2].sql
    assert sql.index("`five` AS (") < sql.index("`t` AS (")


def test_a_view_and_the_one_that_replaced_it_are_not_read_together() -> None:
    other = FIVE.replace("5 minutes", "6 minutes")
    text = f"{FIVE}; CREATE VIEW hours AS {HOURS}; {other}; SELECT 1 AS n FROM hours, five"
    last = read_statements(text)[-1]
    assert "two views that are called 'five'" in str(last.refusal)


def test_long_chains_of_views_are_refused_in_time() -> None:
    views = [f"CREATE VIEW v{n} AS SELECT * FROM v{n - 1}" for n in range(1, 500)]
    read = read_statements(";".join(["CREATE VIEW v0 AS SELECT 1 AS n", *views]))
    assert "it reads 499 views of the text, and 20 are the most" in str(read[-1].refusal)
