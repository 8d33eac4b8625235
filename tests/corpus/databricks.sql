-- Spark SQL as Databricks' documentation shows it, over the tables of tables.py.
-- A fourth comment `-- spark: no` marks what only Databricks has.

-- name: dbx_window_tumbling
-- form: tumbling window
-- seen: Databricks, window grouping expression, Examples
SELECT window, min(price) AS low, max(price) AS high
FROM trades
GROUP BY window(ts, '2 minutes 30 seconds');

-- name: dbx_window_three_arguments
-- form: sliding window
-- seen: Databricks, window grouping expression, Syntax
SELECT date_format(window.start, 'EEE HH:mm') AS since, country, count(DISTINCT user_id) AS users
FROM clicks
GROUP BY window(at, '1 hour', '20 minutes'), country;

-- name: dbx_window_four_arguments
-- form: window offset
-- seen: Databricks, window grouping expression, Syntax
SELECT window.start, window.end, symbol, sum(volume) AS volume
FROM trades
GROUP BY window(ts, '2 hours', '1 hour', '10 minutes'), symbol;

-- name: dbx_session
-- form: session window
-- seen: Databricks, session_window grouping expression, Examples
SELECT user_id, session_window.start, session_window.end, count(*) AS cnt
FROM clicks
GROUP BY user_id, session_window(at, '12 minutes')
ORDER BY user_id, start;

-- name: dbx_session_case
-- form: dynamic session
-- seen: Databricks, session_window grouping expression, Examples
SELECT country, session_window.start, count(*) AS cnt
FROM clicks
GROUP BY country, session_window(at, CASE WHEN country = 'SE' THEN '3 minutes' ELSE '9 minutes' END)
ORDER BY country, start;

-- name: dbx_window_time
-- form: window_time
-- seen: Databricks, window_time function, Examples
SELECT venue, window.start AS start, window.end AS end, window_time(window), cnt
FROM (SELECT venue, window, count(*) AS cnt FROM trades GROUP BY venue, window(ts, '50 minutes'))
ORDER BY venue, start;

-- name: dbx_group_all
-- form: group by all
-- seen: Databricks, GROUP BY clause, Examples
SELECT carrier, origin, sum(distance) AS km FROM flights GROUP BY ALL;

-- name: dbx_group_all_expression
-- form: group by all
-- seen: Databricks, GROUP BY clause, Parameters: ALL
SELECT upper(venue) || '/' || side AS place, date_trunc('DAY', ts) AS day, count(*) + 1 AS n FROM trades GROUP BY ALL;

-- name: dbx_nested_grouping_sets
-- form: grouping sets
-- seen: Databricks, GROUP BY clause, Mixed/Nested Grouping Analytics
SELECT carrier, origin, dest, count(*) AS n
FROM flights
GROUP BY carrier, GROUPING SETS ((origin), ROLLUP (origin, dest));

-- name: dbx_filter
-- form: filter
-- seen: Databricks, GROUP BY clause, Examples
SELECT carrier, sum(distance) FILTER (WHERE origin IN ('ARN', 'CPH')) AS `sum(distance)`
FROM flights
GROUP BY carrier
ORDER BY carrier;

-- name: dbx_qualify_rank
-- form: qualify
-- seen: Databricks, QUALIFY clause, Examples
SELECT origin, carrier, rank() OVER (PARTITION BY origin ORDER BY delay DESC) AS rank
FROM flights
QUALIFY rank = 1;

-- name: dbx_qualify_group
-- form: qualify
-- seen: Databricks, QUALIFY clause, Syntax
SELECT date_trunc('MONTH', dep) AS month, carrier, count(*) AS n
FROM flights
GROUP BY ALL
QUALIFY row_number() OVER (PARTITION BY month ORDER BY n DESC, carrier) <= 2;

-- name: dbx_date_trunc
-- form: calendar truncation
-- seen: Databricks, date_trunc function, Arguments
SELECT date_trunc('WEEK', at) AS week, avg(ms) AS mean_ms FROM clicks GROUP BY date_trunc('WEEK', at);

-- name: dbx_time_bucket
-- form: time bucket
-- seen: Databricks, time_bucket function, Examples
SELECT time_bucket(INTERVAL '1' HOUR, ts, TIMESTAMP '1970-01-01 00:25:00') AS bucket, sum(volume) AS volume
FROM trades
GROUP BY bucket
ORDER BY bucket;

-- name: dbx_dateadd_timestampdiff
-- form: epoch arithmetic
-- seen: Databricks, timestampdiff function, Examples
SELECT dateadd(HOUR, timestampdiff(HOUR, TIMESTAMP '2025-01-01 00:00:00', dep) DIV 8 * 8, TIMESTAMP '2025-01-01 00:00:00') AS shift,
       count(*) AS n
FROM flights
GROUP BY shift;

-- name: dbx_lateral_alias
-- form: expression over aggregates
-- seen: Databricks, Name resolution, Lateral column alias
SELECT carrier, count(*) AS flown, count_if(delay > 15) AS late, late / flown AS share FROM flights GROUP BY carrier;

-- name: dbx_percentile_cont
-- form: within group
-- seen: Databricks, percentile_cont aggregate function, Examples
SELECT page, percentile_cont(array(0.5, 0.4, 0.1)) WITHIN GROUP (ORDER BY ms) AS quantiles FROM clicks GROUP BY page;

-- name: dbx_listagg
-- form: listagg
-- seen: Databricks, listagg aggregate function, Examples
SELECT carrier, listagg(DISTINCT origin, ' ') WITHIN GROUP (ORDER BY origin) AS airports FROM flights GROUP BY carrier;

-- name: dbx_max_by
-- form: max_by
-- seen: Databricks, max_by aggregate function, Examples
SELECT to_date(ts) AS day, max_by(symbol, struct(volume, symbol)) AS biggest FROM trades GROUP BY to_date(ts);

-- name: dbx_approx_top_k
-- form: approximate aggregate
-- seen: Databricks, approx_top_k aggregate function, Examples
SELECT approx_top_k(country, 2, 100) AS countries FROM clicks;

-- name: dbx_hll
-- form: sketch
-- seen: Databricks, hll_sketch_agg aggregate function, Examples
SELECT date_trunc('HOUR', at) AS hour, hll_sketch_estimate(hll_sketch_agg(user_id)) AS users FROM clicks GROUP BY hour;

-- name: dbx_colon_cast
-- form: cast
-- seen: Databricks, :: (colon colon sign) operator, Examples
SELECT dep::date AS day, avg(delay)::decimal(8, 1) AS mean_delay FROM flights GROUP BY dep::date;

-- name: dbx_question_cast
-- form: cast
-- seen: Databricks, ?:: (question double colon sign) operator, Examples
-- spark: no
SELECT note?::int AS code, count(*) AS n FROM trades GROUP BY note?::int;

-- name: dbx_collate
-- form: collation
-- seen: Databricks, Collation, Examples
SELECT symbol COLLATE UTF8_LCASE_RTRIM AS symbol, count(*) AS n FROM trades GROUP BY symbol COLLATE UTF8_LCASE_RTRIM;

-- name: dbx_pivot
-- form: pivot
-- seen: Databricks, PIVOT clause, Examples
SELECT day, b AS bought, s AS sold
FROM (SELECT to_date(ts) AS day, side, volume FROM trades)
PIVOT (sum(volume) AS total FOR side IN ('B' AS b, 'S' AS s));

-- name: dbx_pipe
-- form: pipe syntax
-- seen: Databricks, SQL Pipeline Syntax, AGGREGATE
FROM flights
|> WHERE NOT cancelled
|> AGGREGATE avg(delay) AS mean_delay, count(*) AS n GROUP BY carrier, date_trunc('MONTH', dep) AS month
|> WHERE n > 2
|> ORDER BY month, carrier;

-- name: dbx_cte
-- form: cte source
-- seen: Databricks, Common table expression (CTE), Examples
WITH local (day, km) AS (SELECT to_date(from_utc_timestamp(dep, 'Europe/Oslo')), distance FROM flights)
SELECT day, sum(km) AS km FROM local GROUP BY day HAVING km > 100;

-- name: dbx_over_range
-- form: over range
-- seen: Databricks, Window frame clause, Examples
SELECT user_id, at, count(*) OVER (PARTITION BY user_id ORDER BY at RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW) AS lately
FROM clicks;

-- name: dbx_create_view
-- form: wrapper
-- seen: Databricks, CREATE VIEW, Examples
CREATE OR REPLACE VIEW venue_days (day, venue, volume COMMENT 'shares') COMMENT 'by day'
AS SELECT to_date(ts), venue, sum(volume) FROM trades GROUP BY ALL;

-- name: dbx_materialized_view
-- form: wrapper
-- seen: Databricks, CREATE MATERIALIZED VIEW, Examples
-- spark: no
CREATE OR REPLACE MATERIALIZED VIEW symbol_hours
SCHEDULE EVERY 1 HOUR
AS SELECT symbol, date_trunc('HOUR', ts) AS hour, max(price) AS high FROM trades GROUP BY symbol, hour;

-- name: dbx_watermark_select
-- form: watermark
-- seen: Databricks, WATERMARK clause, Syntax
SELECT window(stamp, '10 minutes') AS w, count(*) AS n
FROM clicks WATERMARK date_trunc('SECOND', at) AS stamp DELAY OF INTERVAL 30 SECONDS
GROUP BY window(stamp, '10 minutes');

-- name: dbx_watermark
-- form: watermark
-- seen: Databricks, WATERMARK clause, Examples
-- spark: no
CREATE OR REFRESH STREAMING TABLE trade_minutes
AS SELECT window(ts, '1 minute') AS w, count(*) AS n
FROM STREAM trades WATERMARK ts DELAY OF INTERVAL 20 SECONDS AS t
GROUP BY window(ts, '1 minute');

-- name: dbx_watermark_derived
-- form: watermark
-- seen: Databricks, WATERMARK clause, Examples
-- spark: no
CREATE OR REFRESH STREAMING TABLE click_sessions
AS SELECT user_id, session_window(stamp, '10 minutes') AS visit, count(*) AS views
FROM STREAM clicks WATERMARK timestamp_seconds(unix_seconds(at)) AS stamp DELAY OF INTERVAL 1 MINUTE
GROUP BY user_id, session_window(stamp, '10 minutes');

-- name: dbx_stream_read
-- form: watermark
-- seen: Databricks, STREAM function, Examples
-- spark: no
CREATE OR REFRESH STREAMING TABLE sector_minutes
AS SELECT s.sector, window.start, sum(t.volume) AS volume
FROM STREAM(trades) WATERMARK ts DELAY OF INTERVAL 5 MINUTES AS t JOIN symbols AS s ON t.symbol = s.symbol
GROUP BY s.sector, window(ts, '5 minutes');

-- name: dbx_insert_replace_where
-- form: wrapper
-- seen: Databricks, INSERT, Examples: REPLACE WHERE
INSERT INTO TABLE day_totals REPLACE WHERE day = DATE '2026-03-29'
SELECT to_date(ts) AS day, sum(volume) AS volume FROM trades WHERE to_date(ts) = DATE '2026-03-29' GROUP BY day;

-- name: dbx_lateral_alias_window
-- form: expression over aggregates
-- seen: Databricks, Name resolution, Lateral column alias; in questions and answers over windows
SELECT carrier, window.end AS until, count(*) AS flown, count_if(delay > 15) AS late, late / flown AS share,
       CASE WHEN share > 0.5 THEN 'bad' ELSE 'good' END AS state
FROM flights
GROUP BY carrier, window(dep, '6 hours')
ORDER BY carrier, until;

-- name: dbx_key_under_its_alias
-- form: window alias
-- seen: Databricks, Name resolution: a column before an alias in GROUP BY
SELECT lower(venue) AS venue, count(*) AS n FROM trades GROUP BY window(ts, '1 day'), venue;
