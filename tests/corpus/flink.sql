-- Flink SQL over trades, symbols, flights, carriers and clicks; ts, dep and at are event times.

-- name: flink_tumble
-- form: tumbling window
-- seen: Flink, Window Aggregation, Windowing TVFs
SELECT window_start, window_end, SUM(volume) AS volume
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '15' MINUTES))
GROUP BY window_start, window_end;

-- name: flink_tumble_keys
-- form: tumbling window
-- seen: Flink, Window Aggregation, Windowing TVFs
SELECT window_start, window_end, symbol, venue, AVG(price) AS mean_price, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
WHERE volume > 100
GROUP BY window_start, window_end, symbol, venue;

-- name: flink_tumble_named_arguments
-- form: tumbling window
-- seen: Flink, Windowing TVF, TUMBLE
SELECT window_start, carrier, MAX(delay) AS worst
FROM TABLE(
  TUMBLE(
    DATA => TABLE flights,
    TIMECOL => DESCRIPTOR(dep),
    SIZE => INTERVAL '1' DAY))
GROUP BY window_start, window_end, carrier;

-- name: flink_tumble_without_table_keyword
-- form: tumbling window
-- seen: Apache Calcite, SQL language, Table functions
SELECT window_start, window_end, COUNT(*) AS n
FROM TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '30' SECOND)
GROUP BY window_start, window_end;

-- name: flink_tumble_having
-- form: having
-- seen: Flink, Group Aggregation, HAVING
SELECT window_start, window_end, symbol, SUM(volume) AS volume
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
GROUP BY symbol, window_start, window_end
HAVING SUM(volume) > 1000 AND COUNT(*) >= 2;

-- name: flink_tumble_filter
-- form: filter
-- seen: Flink, SQL Hints and Performance Tuning, Use FILTER Modifier on Distinct Aggregates
SELECT window_start, window_end,
       COUNT(DISTINCT user_id) AS users,
       COUNT(DISTINCT user_id) FILTER (WHERE country IN ('SE', 'NO')) AS nordic_users
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;

-- name: flink_tumble_case
-- form: case in aggregate
-- seen: Flink, Performance Tuning, Use FILTER Modifier on Distinct Aggregates
SELECT window_start, window_end,
       COUNT(DISTINCT CASE WHEN ms > 500 THEN user_id ELSE NULL END) AS slow_users,
       SUM(CASE WHEN page = '/' THEN 1 ELSE 0 END) AS home
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

-- name: flink_tumble_days_hours
-- form: tumbling window
-- seen: Flink, Windowing TVF, TUMBLE
SELECT window_start, window_end, MIN(price) AS low
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1 06' DAY TO HOUR))
GROUP BY window_start, window_end;

-- name: flink_hop
-- form: sliding window
-- seen: Flink, Window Aggregation, Windowing TVFs
SELECT window_start, window_end, symbol, MAX(price) AS high
FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, symbol;

-- name: flink_hop_named_arguments
-- form: sliding window
-- seen: Flink, Windowing TVF, HOP
SELECT window_start, window_end, SUM(fee) AS fees
FROM TABLE(
  HOP(
    DATA => TABLE trades,
    TIMECOL => DESCRIPTOR(ts),
    SLIDE => INTERVAL '5' MINUTES,
    SIZE => INTERVAL '20' MINUTES))
GROUP BY window_start, window_end;

-- name: flink_hop_window_time
-- form: sliding window
-- seen: Flink, Windowing TVF, Window Functions
SELECT window_time, country, COUNT(*) AS n
FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))
GROUP BY window_start, window_end, window_time, country;

-- name: flink_tumble_offset
-- form: window offset
-- seen: Flink, Windowing TVF, Window Offset
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '15' MINUTES))
GROUP BY window_start, window_end;

-- name: flink_tumble_offset_named
-- form: window offset
-- seen: Flink, Windowing TVF, Window Offset
SELECT window_start, window_end, carrier, SUM(distance) AS km
FROM TABLE(
  TUMBLE(
    DATA => TABLE flights,
    TIMECOL => DESCRIPTOR(dep),
    SIZE => INTERVAL '1' DAY,
    `OFFSET` => INTERVAL '6' HOURS))
GROUP BY window_start, window_end, carrier;

-- name: flink_tumble_offset_negative
-- form: window offset
-- seen: Flink, Windowing TVF, Window Offset
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(dep), INTERVAL '1' DAY, INTERVAL '-2' HOUR))
GROUP BY window_start, window_end;

-- name: flink_hop_offset
-- form: window offset
-- seen: Flink, Windowing TVF, HOP
SELECT window_start, window_end, AVG(delay) AS mean_delay
FROM TABLE(HOP(TABLE flights, DESCRIPTOR(dep), INTERVAL '6' HOURS, INTERVAL '1' DAY, INTERVAL '1' HOUR))
GROUP BY window_start, window_end;

-- name: flink_cumulate
-- form: cumulating window
-- seen: Flink, Window Aggregation, Windowing TVFs
SELECT window_start, window_end, SUM(volume) AS volume_so_far
FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end;

-- name: flink_cumulate_named_arguments
-- form: cumulating window
-- seen: Flink, Windowing TVF, CUMULATE
SELECT window_start, window_end, country, COUNT(DISTINCT user_id) AS visitors
FROM TABLE(
  CUMULATE(
    DATA => TABLE clicks,
    TIMECOL => DESCRIPTOR(`at`),
    STEP => INTERVAL '10' MINUTES,
    SIZE => INTERVAL '1' HOUR))
GROUP BY window_start, window_end, country;

-- name: flink_cumulate_offset
-- form: cumulating window
-- seen: Flink, Windowing TVF, CUMULATE
SELECT window_start, window_end, symbol, COUNT(*) AS n
FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), INTERVAL '30' MINUTES, INTERVAL '6' HOURS, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, symbol;

-- name: flink_session_partitioned
-- form: session window
-- seen: Flink, Windowing TVF, SESSION
SELECT window_start, window_end, user_id, COUNT(*) AS views
FROM TABLE(SESSION(TABLE clicks PARTITION BY user_id, DESCRIPTOR(`at`), INTERVAL '10' MINUTES))
GROUP BY user_id, window_start, window_end;

-- name: flink_session_two_keys
-- form: session window
-- seen: Flink, Windowing TVF, SESSION
SELECT window_start, window_end, symbol, venue, SUM(volume) AS volume
FROM TABLE(SESSION(TABLE trades PARTITION BY (symbol, venue), DESCRIPTOR(ts), INTERVAL '20' MINUTES))
GROUP BY window_start, window_end, symbol, venue;

-- name: flink_session_unpartitioned
-- form: session window
-- seen: Flink, Windowing TVF, SESSION
SELECT window_start, window_end, SUM(ms) AS ms
FROM TABLE(SESSION(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '2' MINUTES))
GROUP BY window_start, window_end;

-- name: flink_session_named_arguments
-- form: session window
-- seen: Flink, Windowing TVF, SESSION
SELECT window_start, window_end, user_id, MAX(ms) AS slowest
FROM TABLE(
  SESSION(
    DATA => TABLE clicks PARTITION BY user_id,
    TIMECOL => DESCRIPTOR(`at`),
    GAP => INTERVAL '5' MINUTES))
GROUP BY user_id, window_start, window_end;

-- name: flink_grouping_sets
-- form: grouping sets
-- seen: Flink, Window Aggregation, GROUPING SETS
SELECT window_start, window_end, venue, SUM(volume) AS volume
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, GROUPING SETS ((venue), ());

-- name: flink_rollup
-- form: rollup
-- seen: Flink, Window Aggregation, ROLLUP
SELECT window_start, window_end, venue, symbol, COUNT(*) AS n
FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '3' HOURS))
GROUP BY window_start, window_end, ROLLUP (venue, symbol);

-- name: flink_cube
-- form: cube
-- seen: Flink, Window Aggregation, CUBE
SELECT window_start, window_end, origin, carrier, AVG(delay) AS mean_delay
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(dep), INTERVAL '7' DAYS))
GROUP BY window_start, window_end, CUBE (origin, carrier);

-- name: flink_grouping_sets_spelled_out
-- form: grouping sets
-- seen: Flink, Window Aggregation, CUBE
SELECT window_start, window_end, side, venue, SUM(fee) AS fees
FROM TABLE(CUMULATE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '12' HOURS))
GROUP BY window_start, window_end, GROUPING SETS (
    (side, venue),
    (side       ),
    (      venue),
    (           )
);

-- name: flink_cascade_view
-- form: cascade
-- seen: Flink, Window Aggregation, Cascading Window Aggregation
CREATE VIEW five_minutes AS
SELECT window_start AS part_start, window_end AS part_end, window_time AS part_time, symbol, SUM(volume) AS part
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '5' MINUTES))
GROUP BY symbol, window_start, window_end, window_time;

-- name: flink_cascade_second
-- form: cascade
-- seen: Flink, Window Aggregation, Cascading Window Aggregation
SELECT window_start, window_end, SUM(part) AS volume
FROM TABLE(TUMBLE(TABLE five_minutes, DESCRIPTOR(part_time), INTERVAL '30' MINUTES))
GROUP BY window_start, window_end;

-- name: flink_cascade_in_one
-- form: cascade
-- seen: Flink, Window Aggregation, Cascading Window Aggregation
WITH per_minute AS (
  SELECT window_time AS minute_time, page, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '1' MINUTE))
  GROUP BY page, window_start, window_end, window_time
)
SELECT window_start, window_end, page, MAX(n) AS busiest_minute
FROM TABLE(TUMBLE(TABLE per_minute, DESCRIPTOR(minute_time), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, page;

-- name: flink_aggregate_of_windows
-- form: cascade
-- seen: Flink, Window Aggregation, Cascading Window Aggregation
SELECT window_start, window_end, MAX(n) AS most
FROM (
  SELECT window_start, window_end, symbol, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
  GROUP BY window_start, window_end, symbol
)
GROUP BY window_start, window_end;

-- name: flink_topn_after_aggregation
-- form: top-n per window
-- seen: Flink, Window Top-N, Window Top-N follows after Window Aggregation
SELECT *
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY turnover DESC) AS place
  FROM (
    SELECT window_start, window_end, symbol, SUM(price * volume) AS turnover, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '30' MINUTES))
    GROUP BY window_start, window_end, symbol
  )
) WHERE place <= 5;

-- name: flink_topn_after_tvf
-- form: top-n per window
-- seen: Flink, Window Top-N, Window Top-N follows after Windowing TVF
SELECT *
FROM (
  SELECT ts, price, symbol, venue, window_start, window_end,
         ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS place
  FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
) WHERE place <= 3;

-- name: flink_topn_keyed
-- form: top-n per window
-- seen: Flink, Window Top-N, Syntax
SELECT window_start, country, page, n
FROM (
  SELECT window_start, window_end, country, page, n,
         ROW_NUMBER() OVER (PARTITION BY window_start, window_end, country ORDER BY n DESC, page) AS place
  FROM (
    SELECT window_start, window_end, country, page, COUNT(*) AS n
    FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '10' MINUTES, INTERVAL '30' MINUTES))
    GROUP BY window_start, window_end, country, page
  )
)
WHERE place <= 2;

-- name: flink_dedup_last
-- form: window deduplication
-- seen: Flink, Window Deduplication, Example
SELECT *
FROM (
  SELECT ts, price, symbol, window_start, window_end,
         ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ts DESC) AS place
  FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
) WHERE place <= 1;

-- name: flink_dedup_first_per_key
-- form: window deduplication
-- seen: Flink, Window Deduplication, Syntax
SELECT user_id, page, `at`, window_start
FROM (
  SELECT user_id, page, `at`, window_start, window_end,
         ROW_NUMBER() OVER (PARTITION BY window_start, window_end, user_id ORDER BY `at` ASC) AS place
  FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '1' HOUR))
) WHERE place = 1;

-- name: flink_dedup_rows
-- form: deduplication
-- seen: Flink, Deduplication, Syntax
SELECT user_id, page, ms
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY `at` DESC) AS place FROM clicks)
WHERE place = 1;

-- name: flink_topn_rows
-- form: top-n
-- seen: Flink, Top-N, Syntax
SELECT symbol, venue, price
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY venue ORDER BY price DESC) AS place FROM trades)
WHERE place <= 5;

-- name: flink_topn_group
-- form: top-n
-- seen: Flink, Top-N, Syntax
SELECT carrier, km
FROM (
  SELECT carrier, km, ROW_NUMBER() OVER (ORDER BY km DESC) AS place
  FROM (SELECT carrier, SUM(distance) AS km FROM flights GROUP BY carrier)
)
WHERE place <= 3;

-- name: flink_window_join_full
-- form: window join
-- seen: Flink, Window JOIN, INNER/LEFT/RIGHT/FULL OUTER
SELECT t.symbol, t.price, c.page, COALESCE(t.window_start, c.window_start) AS window_start
FROM (SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) t
FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '5' MINUTES))) c
ON t.note = c.page AND t.window_start = c.window_start AND t.window_end = c.window_end;

-- name: flink_window_join_semi
-- form: window join
-- seen: Flink, Window JOIN, SEMI
SELECT *
FROM (SELECT * FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '5' MINUTES))) t
WHERE t.note IN (
  SELECT page
  FROM (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '5' MINUTES))) c
  WHERE t.window_start = c.window_start AND t.window_end = c.window_end);

-- name: flink_window_join_anti
-- form: window join
-- seen: Flink, Window JOIN, ANTI
SELECT *
FROM (SELECT * FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(dep), INTERVAL '1' HOUR))) f
WHERE NOT EXISTS (
  SELECT *
  FROM (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '1' HOUR))) c
  WHERE f.carrier = c.country AND f.window_start = c.window_start AND f.window_end = c.window_end);

-- name: flink_window_join_of_aggregates
-- form: join of aggregates
-- seen: Flink, Window JOIN, INNER/LEFT/RIGHT/FULL OUTER
SELECT b.window_start, b.symbol, b.n AS buys, s.n AS sells
FROM (
  SELECT window_start, window_end, symbol, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  WHERE side = 'B' GROUP BY window_start, window_end, symbol
) b
JOIN (
  SELECT window_start, window_end, symbol, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  WHERE side = 'S' GROUP BY window_start, window_end, symbol
) s
ON b.symbol = s.symbol AND b.window_start = s.window_start AND b.window_end = s.window_end;

-- name: flink_over_range
-- form: over range
-- seen: Flink, Over Aggregation, RANGE intervals
SELECT symbol, ts, volume,
       SUM(volume) OVER (
         PARTITION BY symbol
         ORDER BY ts
         RANGE BETWEEN INTERVAL '30' MINUTE PRECEDING AND CURRENT ROW
       ) AS half_hour_volume
FROM trades;

-- name: flink_over_rows
-- form: over rows
-- seen: Flink, Over Aggregation, ROW intervals
SELECT user_id, `at`, AVG(ms) OVER (PARTITION BY user_id ORDER BY `at` ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS smooth_ms
FROM clicks;

-- name: flink_over_named_window
-- form: over range
-- seen: Flink, Over Aggregation, WINDOW
SELECT carrier, dep, SUM(distance) OVER w AS km, COUNT(*) OVER w AS n
FROM flights
WINDOW w AS (PARTITION BY carrier ORDER BY dep RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW);

-- name: flink_old_tumble
-- form: group window function
-- seen: Flink, Window Aggregation, Group Window Aggregation
SELECT symbol, TUMBLE_START(ts, INTERVAL '1' DAY) AS day_start, SUM(volume)
FROM trades
GROUP BY TUMBLE(ts, INTERVAL '1' DAY), symbol;

-- name: flink_old_hop
-- form: group window function
-- seen: Flink, Window Aggregation, Group Window Functions
SELECT venue, HOP_START(ts, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE) AS since,
       HOP_END(ts, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE) AS until, COUNT(*) AS n
FROM trades
GROUP BY HOP(ts, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE), venue;

-- name: flink_old_session
-- form: group window function
-- seen: Flink, Window Aggregation, Group Window Functions
SELECT user_id, SESSION_START(`at`, INTERVAL '30' MINUTE) AS since, SESSION_ROWTIME(`at`, INTERVAL '30' MINUTE) AS rowtime, COUNT(*) AS n
FROM clicks
GROUP BY SESSION(`at`, INTERVAL '30' MINUTE), user_id;

-- name: flink_old_rowtime
-- form: group window function
-- seen: Flink, Window Aggregation, Selecting Group Window Start and End Timestamps
SELECT TUMBLE_ROWTIME(dep, INTERVAL '1' HOUR) AS rowtime, TUMBLE_END(dep, INTERVAL '1' HOUR) AS until, MAX(delay) AS worst
FROM flights
GROUP BY TUMBLE(dep, INTERVAL '1' HOUR);

-- name: flink_old_cascade
-- form: cascade
-- seen: Flink, Window Aggregation, Selecting Group Window Start and End Timestamps
SELECT TUMBLE_END(rowtime, INTERVAL '1' HOUR) AS until, MAX(n) AS most
FROM (
  SELECT TUMBLE_ROWTIME(ts, INTERVAL '5' MINUTE) AS rowtime, symbol, COUNT(*) AS n
  FROM trades GROUP BY TUMBLE(ts, INTERVAL '5' MINUTE), symbol
)
GROUP BY TUMBLE(rowtime, INTERVAL '1' HOUR);

-- name: flink_group_count
-- form: no window
-- seen: Flink, Group Aggregation, Group Aggregation
SELECT COUNT(*) FROM trades;

-- name: flink_group_keys
-- form: no window
-- seen: Flink, Group Aggregation, Group Aggregation
SELECT venue, side, SUM(volume) AS volume FROM trades GROUP BY venue, side;

-- name: flink_group_distinct_aggregate
-- form: count distinct
-- seen: Flink, Group Aggregation, DISTINCT Aggregation
SELECT country, COUNT(DISTINCT user_id) AS users, SUM(DISTINCT ms) AS ms FROM clicks GROUP BY country;

-- name: flink_group_having
-- form: having
-- seen: Flink, Group Aggregation, HAVING
SELECT SUM(distance) FROM flights GROUP BY carrier HAVING SUM(distance) > 5000;

-- name: flink_group_grouping_sets_values
-- form: grouping sets
-- seen: Flink, Group Aggregation, GROUPING SETS
SELECT region, grade, COUNT(*) AS total
FROM (VALUES ('north', 'p', 1), ('north', 'q', 2), ('south', 'r', 2)) AS goods(region, article, grade)
GROUP BY GROUPING SETS ((region, grade), (region), ());

-- name: flink_group_rollup
-- form: rollup
-- seen: Flink, Group Aggregation, ROLLUP
SELECT origin, dest, COUNT(*) FROM flights GROUP BY ROLLUP (origin, dest);

-- name: flink_group_cube
-- form: cube
-- seen: Flink, Group Aggregation, CUBE
SELECT venue, side, symbol, COUNT(*) FROM trades GROUP BY CUBE (venue, side, symbol);

-- name: flink_day_by_date_format
-- form: calendar truncation
-- seen: Flink, System (Built-in) Functions, Temporal Functions: DATE_FORMAT
SELECT DATE_FORMAT(ts, 'yyyy-MM-dd') AS `day`, symbol, SUM(volume) AS volume
FROM trades
GROUP BY DATE_FORMAT(ts, 'yyyy-MM-dd'), symbol;

-- name: flink_hour_by_floor
-- form: calendar truncation
-- seen: Flink, System (Built-in) Functions, Temporal Functions: FLOOR
SELECT FLOOR(dep TO HOUR) AS hour_start, COUNT(*) AS n FROM flights GROUP BY FLOOR(dep TO HOUR);

-- name: flink_month_by_extract
-- form: date parts
-- seen: Flink, System (Built-in) Functions, Temporal Functions: EXTRACT
SELECT EXTRACT(YEAR FROM dep) AS y, EXTRACT(MONTH FROM dep) AS m, AVG(delay) AS mean_delay
FROM flights
GROUP BY EXTRACT(YEAR FROM dep), EXTRACT(MONTH FROM dep);

-- name: flink_cast_date
-- form: calendar truncation
-- seen: Flink, System (Built-in) Functions, Type Conversion Functions: CAST
SELECT CAST(`at` AS DATE) AS d, COUNT(*) AS n FROM clicks GROUP BY CAST(`at` AS DATE);

-- name: flink_select_distinct
-- form: distinct
-- seen: Flink, SELECT DISTINCT
SELECT DISTINCT venue, symbol FROM trades;

-- name: flink_with
-- form: cte source
-- seen: Flink, WITH clause
WITH amounts AS (SELECT symbol, price * volume AS amount FROM trades)
SELECT symbol, SUM(amount) AS turnover FROM amounts GROUP BY symbol;

-- name: flink_tumble_over_subquery_view
-- form: subquery source
-- seen: Flink, Windowing TVF, TUMBLE: data
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE((SELECT ts, symbol FROM trades WHERE side = 'B'), DESCRIPTOR(ts), INTERVAL '10' MINUTES))
GROUP BY window_start, window_end;

-- name: flink_join_dimension
-- form: join source
-- seen: Flink, Joins, INNER Equi-JOIN
SELECT s.sector, COUNT(*) AS n, SUM(t.volume) AS volume
FROM trades AS t INNER JOIN symbols AS s ON t.symbol = s.symbol
GROUP BY s.sector;

-- name: flink_lookup_join
-- form: lookup join
-- seen: Flink, Joins, Lookup Join
SELECT c.country, COUNT(*) AS n
FROM flights AS f JOIN carriers FOR SYSTEM_TIME AS OF f.proc_time AS c ON f.carrier = c.carrier
GROUP BY c.country;

-- name: flink_window_after_join
-- form: join source
-- seen: Flink, Joins, OUTER Equi-JOIN
SELECT w.window_start, w.window_end, c.name, AVG(w.delay) AS mean_delay
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(dep), INTERVAL '1' DAY)) AS w
LEFT JOIN carriers AS c ON w.carrier = c.carrier
GROUP BY w.window_start, w.window_end, c.name;

-- name: flink_in_subquery
-- form: subquery in where
-- seen: Flink, Set Operations, IN
SELECT window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
WHERE symbol IN (SELECT symbol FROM symbols WHERE sector = 'metals')
GROUP BY window_start, window_end;

-- name: flink_union_all
-- form: union
-- seen: Flink, Set Operations, UNION
(SELECT venue, COUNT(*) AS n FROM trades GROUP BY venue)
UNION ALL
(SELECT origin, COUNT(*) FROM flights GROUP BY origin);

-- name: flink_unnest
-- form: lateral view
-- seen: Flink, Joins, Array Expansion
SELECT tag, COUNT(*) AS n FROM trades CROSS JOIN UNNEST(tags) AS t (tag) GROUP BY tag;

-- name: flink_order_limit
-- form: order and limit
-- seen: Flink, ORDER BY clause; LIMIT clause
SELECT symbol, SUM(volume) AS volume FROM trades GROUP BY symbol ORDER BY volume DESC LIMIT 3;

-- name: flink_fetch_first
-- form: order and limit
-- seen: Flink, Queries Overview, Syntax
SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier ORDER BY n DESC OFFSET 1 ROW FETCH FIRST 2 ROWS ONLY;

-- name: flink_insert_into
-- form: wrapper
-- seen: Flink, INSERT Statements, Insert from select queries
INSERT INTO hourly_totals
SELECT window_start, window_end, venue, SUM(fee) AS fees
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, venue;

-- name: flink_insert_partition
-- form: wrapper
-- seen: Flink, INSERT Statements, Examples
INSERT OVERWRITE day_totals PARTITION (`day` = '2026-03-29')
SELECT symbol, SUM(volume) FROM trades GROUP BY symbol;

-- name: flink_create_table_as
-- form: wrapper
-- seen: Flink, CREATE Statements, AS select_statement
CREATE TABLE symbol_counts WITH ('connector' = 'print') AS SELECT symbol, COUNT(*) AS n FROM trades GROUP BY symbol;

-- name: flink_hint_ttl
-- form: quoting and comments
-- seen: Flink, SQL Hints, State TTL Hints
SELECT /*+ STATE_TTL('t' = '1d') */ t.venue, COUNT(*) AS n FROM trades AS t GROUP BY t.venue;

-- name: flink_listagg
-- form: listagg
-- seen: Flink, System (Built-in) Functions, Aggregate Functions: LISTAGG
SELECT window_start, window_end, LISTAGG(symbol, '|') AS symbols, COLLECT(venue) AS venues
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR))
GROUP BY window_start, window_end;

-- name: flink_statistics
-- form: statistics
-- seen: Flink, System (Built-in) Functions, Aggregate Functions
SELECT window_start, window_end, STDDEV_POP(price) AS sp, STDDEV_SAMP(price) AS ss, VAR_POP(price) AS vp, VARIANCE(price) AS vs
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '6' HOURS))
GROUP BY window_start, window_end;

-- name: flink_first_last
-- form: first and last
-- seen: Flink, System (Built-in) Functions, Aggregate Functions: FIRST_VALUE, LAST_VALUE
SELECT window_start, window_end, symbol, FIRST_VALUE(price) AS `open`, LAST_VALUE(price) AS `close`
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, symbol;

-- name: flink_processing_time
-- form: tumbling window
-- seen: Flink, Time Attributes, Processing Time
SELECT window_start, window_end, COUNT(DISTINCT page) AS pages
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(proc_time), INTERVAL '10' SECONDS))
GROUP BY window_start, window_end;

-- name: flink_match_recognize
-- form: pattern
-- seen: Flink, Pattern Recognition, Example
SELECT *
FROM trades
MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY ts
  MEASURES FIRST(D.ts) AS fell_at, LAST(D.price) AS bottom
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (S D+ U)
  DEFINE D AS D.price < S.price, U AS U.price > LAST(D.price)
) AS m;

-- name: flink_hour_by_ceil
-- form: truncated time
-- seen: Flink, System (Built-in) Functions, Temporal Functions
SELECT CEIL(bid_time TO HOUR) AS until, channel, COUNT(*) AS n
FROM bids
GROUP BY CEIL(bid_time TO HOUR), channel;

-- name: flink_tumble_lookup_join
-- form: lookup join
-- seen: Flink, Joins, Lookup Join, after a windowing TVF
SELECT w.window_start, w.window_end, c.country, COUNT(*) AS n, SUM(w.delay) AS delay
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(dep), INTERVAL '12' HOURS)) AS w
LEFT JOIN carriers FOR SYSTEM_TIME AS OF w.dep AS c ON w.carrier = c.carrier
GROUP BY w.window_start, w.window_end, c.country;

-- name: flink_hop_unnest
-- form: lateral view
-- seen: Flink, Joins, Array Expansion, after a windowing TVF
SELECT window_start, window_end, tag, COUNT(*) AS n
FROM TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '6' HOURS, INTERVAL '12' HOURS))
CROSS JOIN UNNEST(tags) AS u (tag)
GROUP BY window_start, window_end, tag;

-- name: flink_whole_seconds
-- form: date parts
-- seen: Flink, System (Built-in) Functions, Temporal Functions: EXTRACT
SELECT window_start, window_end, MAX(EXTRACT(SECOND FROM ts)) AS last_second, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
