"""What a whole statement must not do, judged by Spark's own plan before anything runs."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from weft.errors import EngineError, ExpressionError
from weft.spark.parsed_statement import check_statement

TABLES = ("t", "u")
REFUSED = {
    "SELECT reflect('java.lang.System', 'getenv') FROM t": "reflect runs code",
    "SELECT `reflect`('a', 'b') FROM t": "reflect runs code",
    "SELECT system.builtin.java_method('a', 'b') FROM t": "is not allowed",
    "SELECT * FROM t LATERAL VIEW reflect('a', 'b') e AS v": "reflect runs code",
    "SELECT * FROM VALUES (try_reflect('a', 'b')) AS v(x)": "try_reflect runs code",
    "SELECT sum(x) OVER w FROM t WINDOW w AS (PARTITION BY reflect('a', 'b'))": "reflect runs",
    "WITH c AS (SELECT 1 FROM t WINDOW w AS (ORDER BY reflect('a', 'b'))) TABLE c": "reflect",
    "SELECT * FROM t WHERE x IN (SELECT 1 FROM u WINDOW w AS (ORDER BY x))": "write OVER",
    "SELECT * FROM t WHERE x = (SELECT max(reflect('a', 'b')) FROM u)": "reflect runs code",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE reflect('a', 'b') = x)": "reflect runs",
    "SELECT * FROM t JOIN u ON reflect('a', 'b') = 1": "reflect runs code",
    "SELECT * FROM t PIVOT (max(reflect('a', 'b')) FOR k IN ('a'))": "reflect runs code",
    "SELECT transform(a, x -> reflect('a', 'b')) FROM t": "reflect runs code",
    "SELECT count(*) FILTER (WHERE reflect('a', 'b') = x) FROM t": "reflect runs code",
    "FROM t |> EXTEND reflect('a', 'b') AS z": "reflect runs code",
    "SELECT * FROM parquet.`/etc/passwd`": "no table of its source",
    "SELECT * FROM text.`file:///etc/hostname`": "no table of its source",
    "SELECT * FROM v": "it reads 'v', which is no table of its source",
    "SELECT * FROM spark_catalog.default.t": "no table of its source",
    "SELECT * FROM global_temp.t": "no table of its source",
    "SELECT * FROM range(999999999999)": "reads the rows of range()",
    "SELECT * FROM sql_keywords()": "reads the rows of sql_keywords()",
    "SELECT TRANSFORM(x) USING 'cat' FROM t": "ScriptTransformation",
    "INSERT INTO t SELECT 1": "InsertIntoStatement",
    "CREATE TEMPORARY VIEW z AS SELECT 1": "CreateViewCommand",
    "DROP TABLE t": "DropTable",
    "SET spark.sql.ansi.enabled=false": "SetCommand",
    "ADD JAR '/tmp/x.jar'": "AddJars",
    "CACHE TABLE t": "CacheTable",
    "EXPLAIN SELECT 1": "ExplainCommand",
    "SELECT :p FROM t": "NamedParameter",
    "SELECT ? FROM t": "PosParameter",
    "SELECT current_user FROM t": "depends on who runs",
    "SELECT current_user() FROM t": "depends on who runs",
    "SELECT user FROM t": "depends on who runs",
    "SELECT input_file_name() FROM t": "depends on how the rows are read",
    "SELECT raise_error('x') FROM t": "fails on purpose",
    "SELECT from_xml(s, 'a INT') FROM t": "is not allowed",
    "SELECT my_udf(x) FROM t": "it calls 'my_udf', which is not allowed",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r": "no end",
    "SELECT repeat(s, 1000000000) FROM t": "repeat makes a value of up to",
    "SELECT s RLIKE '(a+)+b' FROM t": "may take forever",
    "SELECT s RLIKE k FROM t": "a constant only",
    "SELECT regexp_replace((SELECT max(s) FROM u), 'a', 'b') FROM t": "plain arguments only",
    "SELECT '${env:HOME}' FROM t": "is not accepted",
    "SELECT 1 /* /*+ */ , length(repeat(s, 1500000000)) FROM t -- */": "repeat makes a value",
    "SELECT 1 --\r, length(repeat(s, 1500000000)) \n FROM t": "repeat makes a value",
    "SELECT s RLIKE 'a' '(a+)+b' FROM t": "a pattern is accepted as one constant",
    "SELECT stack(1000000000, 1) FROM t": "stack would keep too much",
    "SELECT approx_count_distinct(s, 0.0000001D) FROM t": "would keep too much",
    "SELECT count_min_sketch(s, 1e-9D, 0.99D, 1) FROM t": "would keep too much",
    "SELECT /*+ REPARTITION(20000000) */ s FROM t": "the hint REPARTITION is not accepted",
    "SELECT * FROM t VERSION AS OF 1": "RelationTimeTravel",
    "SELECT 1; SELECT 2": "Spark cannot read it",
    "SELECT (" + "(" * 3000 + "1" + ")" * 3000 + ") FROM t": "",
}
ACCEPTED = (
    "SELECT k, count(*) FROM t WHERE x IN (SELECT x FROM u) GROUP BY k HAVING count(*) > 1 LIMIT 3",
    "WITH c AS (SELECT * FROM t) SELECT rank() OVER (ORDER BY x) AS r FROM c QUALIFY r < 3",
    "SELECT sum(x) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY x)",
    "SELECT * FROM t LATERAL VIEW explode(array(1, 2)) e AS v",
    "SELECT * FROM t PIVOT (sum(x) FOR k IN ('a', 'b'))",
    "SELECT k, grouping_id() FROM t GROUP BY CUBE (k, x)",
    "FROM t |> WHERE x > 1 |> AGGREGATE count(*) AS n GROUP BY k |> ORDER BY n",
    "SELECT window.start, count(*) FROM t GROUP BY window(ts, '1 hour'), window_time(window)",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x), listagg(k, ',') FROM t",
    "SELECT current_timestamp(), current_date, x::bigint, k COLLATE UTF8_LCASE FROM t",
    "SELECT a.k FROM t AS a LEFT JOIN u AS b ON a.k = b.k AND NOT EXISTS (SELECT 1 FROM t)",
    "SELECT * EXCEPT (x) FROM t TABLESAMPLE (50 PERCENT) UNION ALL SELECT * EXCEPT (x) FROM u",
)


@pytest.mark.parametrize("sql", REFUSED)
def test_refused(spark: SparkSession, sql: str) -> None:
    with pytest.raises((ExpressionError, EngineError)) as caught:
        check_statement(spark, sql, TABLES)
    assert REFUSED[sql] in str(caught.value)


@pytest.mark.parametrize("sql", ACCEPTED)
def test_a_query_of_the_tables_is_accepted(spark: SparkSession, sql: str) -> None:
    check_statement(spark, sql, TABLES)
