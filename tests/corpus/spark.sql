-- Spark SQL 4.3 over trades, symbols, flights, carriers and clicks (tables.py).

-- name: tumble_minutes
-- form: tumbling window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT symbol, window.start, window.end, count(*) AS n, avg(price) AS mean_price
FROM trades
GROUP BY symbol, window(ts, '10 minutes')
ORDER BY symbol, start;

-- name: tumble_seconds
-- form: tumbling window
-- seen: PySpark, pyspark.sql.functions.window, Description
SELECT window, sum(volume) AS volume
FROM trades
GROUP BY window(ts, '900 second');

-- name: tumble_compound
-- form: tumbling window
-- seen: PySpark, pyspark.sql.functions.window, Description
SELECT window.end AS until, venue, max(price) AS high, min(price) AS low
FROM trades
GROUP BY window(ts, '2 hours 30 minutes'), venue;

-- name: tumble_string_interval_keyword
-- form: tumbling window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window.start AS since, count(symbol) AS named
FROM trades
GROUP BY window(ts, 'interval 1 day 6 hours');

-- name: tumble_microseconds
-- form: tumbling window
-- seen: Spark, its refusal of other durations: "an integer, long or string literal"
SELECT window.start, count(*) AS n FROM trades GROUP BY window(ts, 1200000000L);

-- name: tumble_of_timestamp_ntz
-- form: tumbling window
-- seen: Spark, Data Types, TimestampNTZType
SELECT window.start, count(*) AS n FROM (SELECT ts::timestamp_ntz AS t FROM trades) GROUP BY window(t, '2 hours');

-- name: tumble_of_date
-- form: tumbling window
-- seen: Spark, ANSI Compliance, Type Promotion and Precedence
SELECT window.start, carrier, count(*) AS n
FROM (SELECT to_date(dep) AS day, carrier FROM flights)
GROUP BY window(day, '28 days'), carrier;

-- name: tumble_weeks
-- form: tumbling window
-- seen: PySpark, pyspark.sql.functions.window, Parameters
SELECT carrier, window.start AS week, sum(distance) AS km
FROM flights
GROUP BY carrier, window(dep, '1 week');

-- name: tumble_window_first_and_expressions
-- form: tumbling window
-- seen: Spark, Structured Streaming Programming Guide, Window Operations on Event Time
SELECT date_format(window.start, 'HH:mm') AS clock,
       unix_timestamp(window.end) - unix_timestamp(window.start) AS seconds,
       upper(side) AS side,
       sum(price * volume) AS turnover
FROM trades
WHERE volume > 0
GROUP BY window(ts, '30 minutes'), upper(side);

-- name: tumble_cast_time
-- form: tumbling window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT w.start, count(*) AS listings
FROM (SELECT window(CAST(listed AS TIMESTAMP), '30 days') AS w FROM symbols)
GROUP BY w;

-- name: tumble_shifted_time
-- form: tumbling window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window.start, carrier, avg(delay) AS mean_delay
FROM flights
GROUP BY window(dep + INTERVAL 45 MINUTES, '1 day'), carrier;

-- name: slide_minutes
-- form: sliding window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT symbol, window.start, window.end, count(*) AS n
FROM trades
GROUP BY symbol, window(ts, '1 hour', '15 minutes')
ORDER BY symbol, start;

-- name: slide_compound
-- form: sliding window
-- seen: PySpark, pyspark.sql.functions.window, Description
SELECT window.start AS since, stddev(price) AS wobble
FROM trades
WHERE NOT isnan(price)
GROUP BY window(ts, '6 hours', '1 hour 30 minutes');

-- name: slide_not_dividing
-- form: sliding window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window, venue, sum(fee) AS fees
FROM trades
GROUP BY window(ts, '25 minutes', '10 minutes'), venue;

-- name: slide_equal_to_size
-- form: sliding window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window.start, count(*) AS n
FROM clicks
GROUP BY window(at, '5 minutes', '5 minutes');

-- name: offset_tumbling
-- form: window offset
-- seen: PySpark, pyspark.sql.functions.window, Parameters: startTime
SELECT window.start, window.end, sum(volume) AS volume
FROM trades
GROUP BY window(ts, '1 hour', '1 hour', '20 minutes');

-- name: offset_sliding
-- form: window offset
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window.start, symbol, max(price) AS high
FROM trades
GROUP BY window(ts, '4 hours', '1 hour', '7 minutes'), symbol;

-- name: offset_negative
-- form: window offset
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window.start AS business_day, count(*) AS flights
FROM flights
GROUP BY window(dep, '1 day', '1 day', '-3 hours');

-- name: window_alias_in_select
-- form: window alias
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window(ts, '1 hour') AS w, venue, count(*) AS n
FROM trades
GROUP BY w, venue;

-- name: window_alias_fields
-- form: window alias
-- seen: Databricks, window grouping expression, Examples
SELECT w.start AS w_start, w.end AS w_end, symbol, sum(volume) AS volume
FROM (SELECT window(ts, '2 hours') AS w, symbol, volume FROM trades)
GROUP BY w, symbol;

-- name: window_repeated_in_select
-- form: window alias
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window(ts, '3 hours').start AS since, window(ts, '3 hours').end AS until, count(*) AS n
FROM trades
GROUP BY window(ts, '3 hours');

-- name: window_struct_only
-- form: window alias
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window, count(*) FROM clicks GROUP BY window(at, '1 hour');

-- name: window_alias_and_its_field
-- form: window alias
-- seen: Databricks, Name resolution, Lateral column alias
SELECT window(ts, '1 hour') AS w, w.start AS since, max(volume) AS peak FROM trades GROUP BY w;

-- name: window_start_as_key
-- form: window alias
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT window(ts, '1 hour', '30 minutes').start AS since, count(*) AS n
FROM trades
GROUP BY window(ts, '1 hour', '30 minutes').start;

-- name: window_start_alias_as_key
-- form: window alias
-- seen: Spark, GROUP BY Clause, Parameters: group_expression
SELECT window(ts, '45 minutes').start AS since, symbol, sum(fee) AS fees FROM trades GROUP BY since, symbol;

-- name: window_start_by_all
-- form: window alias
-- seen: Databricks, GROUP BY clause, Parameters: ALL
SELECT window(at, '10 minutes').end AS until, country, count(*) AS n FROM clicks GROUP BY ALL;

-- name: window_in_where
-- form: window as column
-- seen: Spark, WHERE Clause, Parameters
SELECT symbol, count(*) AS n
FROM trades
WHERE window(ts, '1 hour').start >= TIMESTAMP '2026-03-29 00:00:00'
GROUP BY symbol;

-- name: window_in_aggregate
-- form: window as column
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT symbol, max(window(ts, '1 hour').end) AS last_window FROM trades GROUP BY symbol;

-- name: watermark_clause
-- form: watermark
-- seen: Databricks, WATERMARK clause, Syntax
SELECT window.start, count(*) AS n
FROM trades WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS t
GROUP BY window(t.ts, '1 hour');

-- name: window_per_row
-- form: window as column
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT symbol, ts, window(ts, '1 hour', '30 minutes') AS w
FROM trades
WHERE symbol = 'ABX';

-- name: window_time_beside
-- form: window_time
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window_time
SELECT symbol, window.start AS since, window_time(window) AS stamp, n
FROM (SELECT symbol, window, count(*) AS n FROM trades GROUP BY symbol, window(ts, '20 minutes'));

-- name: window_time_as_key
-- form: window_time
-- seen: Spark, Structured Streaming Programming Guide, Representation of the time for time window
SELECT window_time(window) AS stamp, window.end AS until, sum(fee) AS fees
FROM trades
GROUP BY window(ts, '1 hour'), window_time(window);

-- name: window_time_alone_as_key
-- form: window_time
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window_time
SELECT window_time(window(ts, '1 hour')) AS stamp, count(*) AS n
FROM trades
GROUP BY window_time(window(ts, '1 hour'));

-- name: session_per_user
-- form: session window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: session_window
SELECT user_id, session_window.start, session_window.end, count(*) AS views
FROM clicks
GROUP BY user_id, session_window(at, '10 minutes')
ORDER BY user_id, start;

-- name: session_alias
-- form: session window
-- seen: Databricks, session_window grouping expression, Examples
SELECT user_id, visit.start AS began, timestampdiff(SECOND, visit.start, visit.end) AS seconds, pages
FROM (
  SELECT user_id, session_window(at, '30 minutes') AS visit, count(DISTINCT page) AS pages
  FROM clicks
  GROUP BY user_id, session_window(at, '30 minutes')
);

-- name: session_without_keys
-- form: session window
-- seen: Spark, Structured Streaming Programming Guide, Types of time windows
SELECT session_window, sum(ms) AS ms
FROM clicks
GROUP BY session_window(at, '45 seconds');

-- name: session_having_long
-- form: session window
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: session_window
SELECT country, session_window.start AS began, max(ms) AS slowest
FROM clicks
WHERE page <> '/health'
GROUP BY session_window(at, '5 minutes'), country
HAVING count(*) >= 3;

-- name: session_gap_by_case
-- form: dynamic session
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: session_window
SELECT user_id, session_window.start, count(*) AS views
FROM clicks
GROUP BY user_id,
         session_window(at, CASE WHEN page LIKE '/shop%' THEN '20 minutes'
                                 WHEN page = '/' THEN '2 minutes'
                                 ELSE '8 minutes' END);

-- name: session_gap_by_column
-- form: dynamic session
-- seen: Spark, Structured Streaming Programming Guide, Types of time windows
SELECT symbol, session_window.start AS began, session_window.end AS ended, sum(volume) AS volume
FROM trades
WHERE volume > 0
GROUP BY symbol, session_window(ts, if(venue = 'XETRA', '15 minutes', '1 hour'));

-- name: sessions_of_sessions
-- form: cascade
-- seen: Spark, Structured Streaming Programming Guide, Representation of the time for time window
SELECT window.start AS day, count(*) AS visits, avg(views) AS views_per_visit
FROM (
  SELECT user_id, session_window, count(*) AS views
  FROM clicks
  GROUP BY user_id, session_window(at, '15 minutes')
)
GROUP BY window(window_time(session_window), '1 day');

-- name: alias_of_expression
-- form: group by alias
-- seen: Spark, GROUP BY Clause, Parameters: group_expression
SELECT date_trunc('hour', ts) AS hour, upper(venue) AS where_to, count(*) AS n
FROM trades
GROUP BY hour, where_to;

-- name: alias_of_case
-- form: group by alias
-- seen: Spark, GROUP BY Clause, Parameters: group_expression
SELECT CASE WHEN price >= 100 THEN 'dear' WHEN price >= 10 THEN 'fair' ELSE 'cheap' END AS class,
       count(*) AS n
FROM trades
GROUP BY class;

-- name: ordinals
-- form: group by ordinal
-- seen: Spark, GROUP BY Clause, Examples
SELECT date_trunc('day', ts) AS day, symbol, sum(volume) AS volume
FROM trades
GROUP BY 1, 2
ORDER BY 1, 2;

-- name: ordinal_window
-- form: group by ordinal
-- seen: Spark, GROUP BY Clause, Parameters: group_expression
SELECT window(ts, '1 hour'), count(*) AS n FROM trades GROUP BY 1;

-- name: group_all
-- form: group by all
-- seen: Databricks, GROUP BY clause, Parameters: ALL
SELECT venue, side, avg(price) AS mean_price, count(*) AS n
FROM trades
GROUP BY ALL;

-- name: group_all_window
-- form: group by all
-- seen: Databricks, GROUP BY clause, Parameters: ALL
SELECT window(ts, '1 hour') AS w, symbol, sum(volume) + count(*) AS odd_sum
FROM trades
GROUP BY ALL
ORDER BY ALL;

-- name: trunc_microsecond
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('MICROSECOND', ts) AS t, count(*) AS n FROM trades GROUP BY date_trunc('MICROSECOND', ts);

-- name: trunc_millisecond
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('MILLISECOND', at) AS t, count(*) AS n FROM clicks GROUP BY date_trunc('MILLISECOND', at);

-- name: trunc_second
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('SECOND', at) AS t, sum(ms) AS ms FROM clicks GROUP BY date_trunc('SECOND', at);

-- name: trunc_minute
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('minute', ts) AS t, symbol, last(price) AS any_price_of_it
FROM (SELECT DISTINCT ts, symbol, 1 AS price FROM trades)
GROUP BY date_trunc('minute', ts), symbol;

-- name: trunc_hour
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('HOUR', ts) AS hour, count(*) AS n, sum(price * volume) / sum(volume) AS vwap
FROM trades
WHERE volume > 0 AND NOT isnan(price)
GROUP BY date_trunc('HOUR', ts);

-- name: trunc_day
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('DD', dep) AS day, carrier, avg(delay) AS mean_delay
FROM flights
GROUP BY date_trunc('DD', dep), carrier;

-- name: trunc_week
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('WEEK', dep) AS week, count_if(cancelled) AS cancelled
FROM flights
GROUP BY date_trunc('WEEK', dep);

-- name: trunc_month
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('MONTH', dep) AS month, origin, sum(distance) AS km
FROM flights
GROUP BY date_trunc('MONTH', dep), origin;

-- name: trunc_month_short_names
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('MON', dep) AS a, date_trunc('MM', dep) AS b, count(*) AS n
FROM flights
GROUP BY date_trunc('MON', dep), date_trunc('MM', dep);

-- name: trunc_quarter
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('QUARTER', dep) AS quarter, max(delay) AS worst
FROM flights
GROUP BY date_trunc('QUARTER', dep);

-- name: trunc_year
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_trunc
SELECT date_trunc('YYYY', dep) AS year, carrier, count(*) AS n
FROM flights
GROUP BY date_trunc('YYYY', dep), carrier;

-- name: day_by_to_date
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: to_date
SELECT to_date(ts) AS day, symbol, min(price) AS low
FROM trades
GROUP BY to_date(ts), symbol;

-- name: day_by_cast
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Conversion Functions: date
SELECT CAST(dep AS DATE) AS day, date(dep) = CAST(dep AS DATE) AS same, count(*) AS n
FROM flights
GROUP BY CAST(dep AS DATE), date(dep);

-- name: day_by_date_format
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_format
SELECT date_format(ts, 'yyyy-MM-dd') AS day, count(DISTINCT symbol) AS symbols
FROM trades
GROUP BY date_format(ts, 'yyyy-MM-dd');

-- name: minute_by_date_format
-- form: calendar truncation
-- seen: Spark, Datetime Patterns for Formatting and Parsing
SELECT date_format(at, "yyyy-MM-dd HH:mm") AS minute, count(*) AS n
FROM clicks
GROUP BY date_format(at, "yyyy-MM-dd HH:mm");

-- name: month_by_trunc
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: trunc
SELECT trunc(dep, 'MM') AS month, count(*) AS n, avg(distance) AS mean_km
FROM flights
GROUP BY trunc(dep, 'MM');

-- name: quarter_by_trunc
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: trunc
SELECT trunc(to_date(dep), 'quarter') AS quarter, carrier, sum(delay) AS delay
FROM flights
GROUP BY trunc(to_date(dep), 'quarter'), carrier
HAVING sum(delay) IS NOT NULL;

-- name: month_end_by_last_day
-- form: calendar truncation
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: last_day
SELECT last_day(dep) AS month_end, count(*) AS n FROM flights GROUP BY last_day(dep);

-- name: parts_year_month_day
-- form: date parts
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: year, month, day
SELECT year(dep) AS y, month(dep) AS m, day(dep) AS d, count(*) AS n
FROM flights
GROUP BY year(dep), month(dep), day(dep);

-- name: parts_hour_of_day
-- form: date parts
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: hour
SELECT hour(ts) AS hour_of_day, avg(price) AS mean_price
FROM trades
GROUP BY hour(ts)
ORDER BY hour_of_day;

-- name: parts_extract
-- form: date parts
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: extract
SELECT extract(YEAR FROM dep) AS y, extract(WEEK FROM dep) AS w, max(delay) AS worst
FROM flights
GROUP BY extract(YEAR FROM dep), extract(WEEK FROM dep);

-- name: parts_date_part
-- form: date parts
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: date_part
SELECT date_part('QUARTER', dep) AS q, dayofweek(dep) AS weekday, count(*) AS n
FROM flights
GROUP BY date_part('QUARTER', dep), dayofweek(dep);

-- name: parts_day_and_hour
-- form: date parts
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: hour, minute
SELECT to_date(ts) AS day, hour(ts) AS hh, minute(ts) DIV 15 AS quarter_hour, sum(volume) AS volume
FROM trades
GROUP BY to_date(ts), hour(ts), minute(ts) DIV 15;

-- name: epoch_floor
-- form: epoch arithmetic
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: unix_timestamp
SELECT floor(unix_timestamp(ts) / 300) * 300 AS bucket, count(*) AS n
FROM trades
GROUP BY floor(unix_timestamp(ts) / 300) * 300;

-- name: epoch_from_unixtime
-- form: epoch arithmetic
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: from_unixtime
SELECT from_unixtime(floor(unix_timestamp(ts) / 3600) * 3600) AS hour, venue, sum(fee) AS fees
FROM trades
GROUP BY from_unixtime(floor(unix_timestamp(ts) / 3600) * 3600), venue;

-- name: epoch_timestamp_seconds
-- form: epoch arithmetic
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: timestamp_seconds
SELECT timestamp_seconds(unix_seconds(at) DIV 60 * 60) AS minute, user_id, count(*) AS n
FROM clicks
GROUP BY timestamp_seconds(unix_seconds(at) DIV 60 * 60), user_id;

-- name: epoch_millis
-- form: epoch arithmetic
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: timestamp_millis, unix_millis
SELECT timestamp_millis(unix_millis(at) - unix_millis(at) % 500) AS half_second, sum(ms) AS ms
FROM clicks
GROUP BY timestamp_millis(unix_millis(at) - unix_millis(at) % 500);

-- name: epoch_cast_long
-- form: epoch arithmetic
-- seen: Spark, ANSI Compliance, Cast
SELECT CAST(CAST(ts AS BIGINT) DIV 900 * 900 AS TIMESTAMP) AS quarter_hour, max(price) AS high
FROM trades
GROUP BY CAST(CAST(ts AS BIGINT) DIV 900 * 900 AS TIMESTAMP);

-- name: epoch_interval_added
-- form: epoch arithmetic
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: make_interval
SELECT date_trunc('HOUR', ts) + make_interval(0, 0, 0, 0, 0, minute(ts) DIV 20 * 20, 0) AS bucket,
       count(*) AS n
FROM trades
GROUP BY date_trunc('HOUR', ts) + make_interval(0, 0, 0, 0, 0, minute(ts) DIV 20 * 20, 0);

-- name: epoch_timestampadd
-- form: epoch arithmetic
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: timestampadd, timestampdiff
SELECT timestampadd(MINUTE, timestampdiff(MINUTE, TIMESTAMP '2026-01-01 00:00:00', ts) DIV 45 * 45,
                    TIMESTAMP '2026-01-01 00:00:00') AS bucket,
       sum(volume) AS volume
FROM trades
GROUP BY 1;

-- name: bucket_minutes
-- form: time bucket
-- seen: Databricks, time_bucket function, Examples
SELECT time_bucket(INTERVAL '15' MINUTE, ts) AS bucket, symbol, count(*) AS n
FROM trades
GROUP BY time_bucket(INTERVAL '15' MINUTE, ts), symbol;

-- name: bucket_months_with_origin
-- form: time bucket
-- seen: Databricks, time_bucket function, Arguments: origin
SELECT time_bucket(INTERVAL '2' MONTH, dep, TIMESTAMP '2025-02-01 00:00:00') AS bucket, avg(delay) AS mean_delay
FROM flights
GROUP BY bucket;

-- name: distinct_keys
-- form: distinct
-- seen: Spark, SELECT, Parameters: DISTINCT
SELECT DISTINCT venue, side FROM trades;

-- name: distinct_windows
-- form: distinct
-- seen: Spark, SELECT, Parameters: DISTINCT
SELECT DISTINCT window(at, '10 minutes').start AS active_from, country FROM clicks;

-- name: distinct_over_group
-- form: distinct
-- seen: Spark, SELECT, Parameters: DISTINCT
SELECT DISTINCT count(*) AS n FROM trades GROUP BY symbol, venue;

-- name: keys_without_aggregate
-- form: keys only
-- seen: Spark, GROUP BY Clause, Description
SELECT symbol, venue FROM trades GROUP BY symbol, venue;

-- name: window_without_aggregate
-- form: keys only
-- seen: Spark, GROUP BY Clause, Description
SELECT window.start AS since, symbol FROM trades GROUP BY window(ts, '2 hours'), symbol;

-- name: aggregate_without_key_in_select
-- form: keys only
-- seen: Spark, GROUP BY Clause, Description
SELECT sum(volume) AS volume FROM trades GROUP BY window(ts, '1 hour'), venue;

-- name: no_keys_at_all
-- form: no keys
-- seen: Spark, Built-in Functions, Aggregate Functions
SELECT count(*) AS n, min(ts) AS first_at, max(ts) AS last_at, sum(fee) AS fees FROM trades;

-- name: no_keys_with_filter_and_where
-- form: no keys
-- seen: Spark, GROUP BY Clause, Parameters: FILTER
SELECT count(*) FILTER (WHERE side = 'S') / count(*) AS share_sold
FROM trades
WHERE ts >= TIMESTAMP '2026-03-29 00:00:00';

-- name: no_keys_empty_group
-- form: no keys
-- seen: Spark, GROUP BY Clause, Parameters: grouping_set
SELECT max(price) AS high FROM trades GROUP BY GROUPING SETS (());

-- name: plain_group
-- form: no window
-- seen: Spark, GROUP BY Clause, Examples
SELECT symbol, sum(volume) AS sum, max(volume) AS max FROM trades GROUP BY symbol ORDER BY symbol;

-- name: plain_group_expression
-- form: no window
-- seen: Spark, GROUP BY Clause, Parameters: group_expression
SELECT delay DIV 15 AS quarter_hours_late, count(*) AS n
FROM flights
WHERE delay IS NOT NULL
GROUP BY delay DIV 15;

-- name: plain_group_two_tables_style
-- form: no window
-- seen: Spark, GROUP BY Clause, Examples
SELECT f.origin, f.dest, avg(f.delay) AS mean_delay, count(1) AS n
FROM flights AS f
WHERE f.cancelled = false
GROUP BY f.origin, f.dest;

-- name: having_key
-- form: having
-- seen: Spark, HAVING Clause, Examples
SELECT venue, sum(volume) AS volume FROM trades GROUP BY venue HAVING venue = 'NYSE';

-- name: having_alias
-- form: having
-- seen: Spark, HAVING Clause, Examples
SELECT symbol, window.start, sum(volume) AS volume
FROM trades
GROUP BY symbol, window(ts, '1 hour')
HAVING volume > 5000;

-- name: having_other_aggregate
-- form: having
-- seen: Spark, HAVING Clause, Examples
SELECT symbol, avg(price) AS mean_price FROM trades GROUP BY symbol HAVING max(volume) > 500 AND count(*) > 5;

-- name: having_constant
-- form: having
-- seen: Spark, HAVING Clause, Examples
SELECT venue, count(*) AS n FROM trades GROUP BY venue HAVING 2 > 1 ORDER BY venue;

-- name: having_without_group
-- form: having
-- seen: Spark, HAVING Clause, Examples
SELECT sum(volume) AS volume FROM trades HAVING sum(volume) > 10;

-- name: having_window_bounds
-- form: having
-- seen: Spark, HAVING Clause, Parameters
SELECT window.start, count(*) AS n
FROM trades
GROUP BY window(ts, '6 hours')
HAVING window.start >= TIMESTAMP '2026-03-29 00:00:00' AND window.end < TIMESTAMP '2026-03-31 00:00:00';

-- name: having_subquery
-- form: having
-- seen: Spark, HAVING Clause, Parameters
SELECT symbol, avg(price) AS mean_price
FROM trades
WHERE NOT isnan(price)
GROUP BY symbol
HAVING avg(price) > (SELECT avg(price) FROM trades WHERE NOT isnan(price));

-- name: filter_clause
-- form: filter
-- seen: Spark, GROUP BY Clause, Examples
SELECT symbol,
       sum(volume) FILTER (WHERE side IN ('B', 'S')) AS known,
       count(*) FILTER (WHERE side IS NULL) AS unknown
FROM trades
GROUP BY symbol;

-- name: filter_distinct_window
-- form: filter
-- seen: Spark, GROUP BY Clause, Parameters: FILTER
SELECT window.start, count(DISTINCT user_id) FILTER (WHERE ms > 200) AS slow_users
FROM clicks
GROUP BY window(at, '1 hour', '20 minutes');

-- name: case_in_sum
-- form: case in aggregate
-- seen: Spark, CASE Clause, Examples
SELECT date_trunc('HOUR', ts) AS hour,
       sum(CASE WHEN side = 'B' THEN volume WHEN side = 'S' THEN -volume ELSE 0 END) AS net
FROM trades
GROUP BY 1;

-- name: case_simple_in_count
-- form: case in aggregate
-- seen: Spark, CASE Clause, Examples
SELECT venue, count(CASE side WHEN 'B' THEN 1 END) AS buys, sum(if(price > 50, 1, 0)) AS above_50
FROM trades
GROUP BY venue;

-- name: expression_ratio
-- form: expression over aggregates
-- seen: Spark, Built-in Functions, Aggregate Functions
SELECT window.start,
       round(100.0 * count_if(cancelled) / count(*), 1) AS cancelled_percent,
       coalesce(sum(delay), 0) / nullif(count(delay), 0) AS mean_delay
FROM flights
GROUP BY window(dep, '7 days');

-- name: expression_spread_and_text
-- form: expression over aggregates
-- seen: Spark, Built-in Functions, String Functions: concat
SELECT concat(symbol, ': ', CAST(count(*) AS STRING)) AS label,
       max(price) - min(price) AS spread,
       CASE WHEN count(*) > 50 THEN 'busy' ELSE 'calm' END AS mood
FROM trades
GROUP BY symbol;

-- name: expression_lateral_alias
-- form: expression over aggregates
-- seen: Databricks, Name resolution, Lateral column alias
SELECT symbol, sum(price * volume) AS turnover, sum(volume) AS shares, turnover / nullif(shares, 0) AS vwap
FROM trades
GROUP BY symbol;

-- name: count_distinct_one
-- form: count distinct
-- seen: Spark, GROUP BY Clause, Examples
SELECT symbol, count(DISTINCT venue) AS venues, sum(DISTINCT volume) AS volumes FROM trades GROUP BY symbol;

-- name: count_distinct_pair
-- form: count distinct
-- seen: Spark, Built-in Functions, Aggregate Functions: count
SELECT window.start, count(DISTINCT symbol, venue) AS pairs, count(price, volume) AS complete
FROM trades
GROUP BY window(ts, '4 hours');

-- name: approx_distinct
-- form: approximate aggregate
-- seen: Spark, Built-in Functions, Aggregate Functions: approx_count_distinct
SELECT window.start, approx_count_distinct(user_id) AS users, approx_count_distinct(page, 0.01) AS pages
FROM clicks
GROUP BY window(at, '30 minutes');

-- name: approx_percentiles
-- form: approximate aggregate
-- seen: Spark, Built-in Functions, Aggregate Functions: approx_percentile
SELECT page, approx_percentile(ms, 0.95, 1000) AS p95, percentile_approx(ms, array(0.5, 0.9)) AS quantiles
FROM clicks
GROUP BY page;

-- name: approx_top
-- form: approximate aggregate
-- seen: Spark, Built-in Functions, Aggregate Functions: approx_top_k
SELECT country, approx_top_k(page, 2) AS pages FROM clicks WHERE country IS NOT NULL GROUP BY country;

-- name: percentile_exact
-- form: percentile
-- seen: Spark, Built-in Functions, Aggregate Functions: percentile
SELECT carrier, percentile(delay, 0.9) AS p90, percentile(delay, array(0.25, 0.75)) AS quartiles
FROM flights
GROUP BY carrier;

-- name: median_and_mode
-- form: percentile
-- seen: Spark, Built-in Functions, Aggregate Functions: median, mode
SELECT window.start, median(volume) AS typical, mode(venue, true) AS usual_venue
FROM trades
GROUP BY window(ts, '3 hours');

-- name: percentile_cont_within
-- form: within group
-- seen: Spark, Built-in Functions, Aggregate Functions: percentile_cont
SELECT origin,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY delay) AS median_delay,
       percentile_disc(0.9) WITHIN GROUP (ORDER BY delay DESC) AS slow_end
FROM flights
GROUP BY origin;

-- name: mode_within_filter
-- form: within group
-- seen: Spark, Built-in Functions, Aggregate Functions: mode
SELECT symbol,
       mode() WITHIN GROUP (ORDER BY venue) AS usual_venue,
       percentile_cont(array(0.1, 0.9)) WITHIN GROUP (ORDER BY price) FILTER (WHERE NOT isnan(price)) AS tails
FROM trades
GROUP BY symbol;

-- name: listagg_sorted
-- form: listagg
-- seen: Spark, Built-in Functions, Aggregate Functions: listagg
SELECT symbol, listagg(DISTINCT venue, ', ') WITHIN GROUP (ORDER BY venue) AS venues
FROM trades
GROUP BY symbol;

-- name: string_agg_window
-- form: listagg
-- seen: Spark, Built-in Functions, Aggregate Functions: string_agg
SELECT user_id, session_window.start, string_agg(page, ' > ') WITHIN GROUP (ORDER BY at, page) AS path
FROM clicks
GROUP BY user_id, session_window(at, '10 minutes');

-- name: collect_sorted
-- form: collect
-- seen: Spark, Built-in Functions, Aggregate Functions: collect_list, collect_set
SELECT venue, sort_array(collect_set(symbol)) AS symbols, array_sort(collect_list(volume)) AS volumes
FROM trades
GROUP BY venue;

-- name: array_agg_of_structs
-- form: collect
-- seen: Spark, Built-in Functions, Aggregate Functions: array_agg
SELECT window.start, sort_array(array_agg(struct(symbol, volume))) AS lots
FROM trades
GROUP BY window(ts, '12 hours');

-- name: collect_union_of_arrays
-- form: collect
-- seen: Spark, Built-in Functions, Aggregate Functions: collect_union
SELECT symbol, array_sort(collect_union(tags)) AS tags FROM trades GROUP BY symbol;

-- name: map_from_lists
-- form: collect
-- seen: Spark, Built-in Functions, Map Functions: map_from_entries
SELECT carrier, map_from_entries(array_sort(array_agg(struct(origin, n)))) AS by_origin
FROM (SELECT carrier, origin, count(*) AS n FROM flights WHERE origin IS NOT NULL GROUP BY carrier, origin)
GROUP BY carrier;

-- name: max_by_one
-- form: max_by
-- seen: Spark, Built-in Functions, Aggregate Functions: max_by, min_by
SELECT window.start, max_by(symbol, struct(volume, symbol)) AS biggest, min_by(symbol, struct(volume, symbol)) AS smallest
FROM trades
GROUP BY window(ts, '1 hour');

-- name: max_by_several
-- form: max_by
-- seen: Spark, Built-in Functions, Aggregate Functions: max_by
SELECT venue, max_by(symbol, struct(volume, symbol, ts), 3) AS top_three, min_by(volume, ts, 2) AS earliest
FROM trades
GROUP BY venue;

-- name: first_and_last
-- form: first and last
-- seen: Spark, GROUP BY Clause, Examples
SELECT symbol, first(note IGNORE NULLS) AS a_note, last(venue) AS a_venue, any_value(side) AS a_side
FROM trades
GROUP BY symbol;

-- name: first_value_of_one
-- form: first and last
-- seen: Spark, Built-in Functions, Aggregate Functions: first_value, last_value
SELECT window.start, first_value(country, true) AS c, any_value(country) IGNORE NULLS AS d
FROM (SELECT at, 'SE' AS country FROM clicks)
GROUP BY window(at, '1 hour');

-- name: open_high_low_close
-- form: first and last
-- seen: Spark, Built-in Functions, Aggregate Functions: max_by, min_by
SELECT symbol, window.start,
       min_by(price, struct(ts, price)) AS open, max(price) AS high,
       min(price) AS low, max_by(price, struct(ts, price)) AS close
FROM trades
GROUP BY symbol, window(ts, '1 hour');

-- name: booleans
-- form: boolean aggregate
-- seen: Spark, Built-in Functions, Aggregate Functions: bool_and, bool_or, every, some
SELECT carrier, bool_and(cancelled) AS none_flew, bool_or(delay > 60) AS any_late,
       every(distance > 0) AS sane, some(cancelled) AS some_cancelled, any(delay < 0) AS any_early
FROM flights
GROUP BY carrier;

-- name: bits
-- form: bit aggregate
-- seen: Spark, Built-in Functions, Aggregate Functions: bit_and, bit_or, bit_xor
SELECT window.start, bit_and(ms) AS a, bit_or(ms) AS o, bit_xor(ms) AS x
FROM clicks
GROUP BY window(at, '20 minutes');

-- name: bitmaps
-- form: bit aggregate
-- seen: Spark, Built-in Functions, Aggregate Functions: bitmap_construct_agg
SELECT bitmap_bucket_number(user_id) AS bucket, bitmap_count(bitmap_construct_agg(bitmap_bit_position(user_id))) AS users
FROM clicks
WHERE user_id > 0
GROUP BY bitmap_bucket_number(user_id);

-- name: moments
-- form: statistics
-- seen: Spark, Built-in Functions, Aggregate Functions: stddev, variance, skewness, kurtosis
SELECT carrier, stddev_pop(delay) AS sp, stddev_samp(delay) AS ss, var_pop(delay) AS vp,
       variance(delay) AS vs, skewness(delay) AS skew, kurtosis(delay) AS kurt
FROM flights
GROUP BY carrier;

-- name: covariance
-- form: statistics
-- seen: Spark, Built-in Functions, Aggregate Functions: corr, covar_pop, covar_samp
SELECT date_trunc('QUARTER', dep) AS quarter, corr(delay, distance) AS r,
       covar_pop(delay, distance) AS cp, covar_samp(delay, distance) AS cs
FROM flights
GROUP BY date_trunc('QUARTER', dep);

-- name: regression
-- form: regression
-- seen: Spark, Built-in Functions, Aggregate Functions: regr_slope and others
SELECT carrier, regr_slope(delay, distance) AS slope, regr_intercept(delay, distance) AS at_zero,
       regr_r2(delay, distance) AS r2, regr_count(delay, distance) AS n
FROM flights
GROUP BY carrier;

-- name: regression_sums
-- form: regression
-- seen: Spark, Built-in Functions, Aggregate Functions: regr_sxx and others
SELECT regr_avgx(delay, distance) AS ax, regr_avgy(delay, distance) AS ay, regr_sxx(delay, distance) AS sxx,
       regr_sxy(delay, distance) AS sxy, regr_syy(delay, distance) AS syy
FROM flights;

-- name: safe_sums
-- form: statistics
-- seen: Spark, Built-in Functions, Aggregate Functions: try_sum, try_avg
SELECT symbol, try_sum(volume) AS volume, try_avg(fee) AS mean_fee, mean(fee) AS the_same FROM trades GROUP BY symbol;

-- name: histogram
-- form: histogram
-- seen: Spark, Built-in Functions, Aggregate Functions: histogram_numeric
SELECT carrier, histogram_numeric(delay, 5) AS bins FROM flights GROUP BY carrier;

-- name: hll_estimate
-- form: sketch
-- seen: Spark, Built-in Functions, Aggregate Functions: hll_sketch_agg
SELECT window.start, hll_sketch_estimate(hll_sketch_agg(user_id, 12)) AS users
FROM clicks
GROUP BY window(at, '1 hour');

-- name: hll_merged
-- form: sketch
-- seen: Spark, Built-in Functions, Aggregate Functions: hll_union_agg
SELECT hll_sketch_estimate(hll_union_agg(s, true)) AS users
FROM (SELECT country, hll_sketch_agg(user_id) AS s FROM clicks GROUP BY country);

-- name: count_min
-- form: sketch
-- seen: Spark, Built-in Functions, Aggregate Functions: count_min_sketch
SELECT window.start, hex(count_min_sketch(user_id, 0.5d, 0.5d, 1)) AS sketch
FROM clicks
GROUP BY window(at, '1 day');

-- name: theta_and_kll
-- form: sketch
-- seen: Spark, Built-in Functions, Aggregate Functions: theta_sketch_agg, kll_sketch_agg_bigint
SELECT page, theta_sketch_estimate(theta_sketch_agg(user_id)) AS users,
       kll_sketch_get_quantile_bigint(kll_sketch_agg_bigint(ms), 0.5) AS median_ms
FROM clicks
GROUP BY page;

-- name: rollup_function
-- form: rollup
-- seen: Spark, GROUP BY Clause, Parameters: ROLLUP
SELECT venue, symbol, sum(volume) AS volume FROM trades GROUP BY ROLLUP (venue, symbol);

-- name: rollup_with
-- form: rollup
-- seen: Spark, GROUP BY Clause, Examples
SELECT venue, side, count(*) AS n FROM trades GROUP BY venue, side WITH ROLLUP ORDER BY venue, side;

-- name: rollup_composite
-- form: rollup
-- seen: Spark, GROUP BY Clause, Parameters: ROLLUP
SELECT origin, dest, carrier, count(*) AS n FROM flights GROUP BY ROLLUP ((origin, dest), carrier);

-- name: rollup_calendar
-- form: rollup
-- seen: Spark, GROUP BY Clause, Parameters: ROLLUP
SELECT year(dep) AS y, month(dep) AS m, sum(distance) AS km FROM flights GROUP BY ROLLUP (year(dep), month(dep));

-- name: rollup_inside_window
-- form: rollup
-- seen: Spark, GROUP BY Clause, Parameters: Mixed Grouping Analytics
SELECT window.start, venue, symbol, sum(volume) AS volume
FROM trades
GROUP BY window(ts, '6 hours'), ROLLUP (venue, symbol);

-- name: rollup_of_window
-- form: rollup
-- seen: Spark, GROUP BY Clause, Parameters: ROLLUP
SELECT window.start, symbol, count(*) AS n FROM trades GROUP BY ROLLUP (window(ts, '6 hours'), symbol);

-- name: cube_function
-- form: cube
-- seen: Spark, GROUP BY Clause, Parameters: CUBE
SELECT venue, side, avg(price) AS mean_price FROM trades GROUP BY CUBE (venue, side);

-- name: cube_with
-- form: cube
-- seen: Spark, GROUP BY Clause, Examples
SELECT carrier, cancelled, count(*) AS n FROM flights GROUP BY carrier, cancelled WITH CUBE ORDER BY 1, 2;

-- name: cube_and_rollup_mixed
-- form: cube
-- seen: Spark, GROUP BY Clause, Parameters: Mixed Grouping Analytics
SELECT carrier, origin, dest, max(delay) AS worst FROM flights GROUP BY carrier, CUBE (origin), ROLLUP (dest);

-- name: grouping_sets_lists
-- form: grouping sets
-- seen: Spark, GROUP BY Clause, Examples
SELECT venue, symbol, sum(volume) AS volume
FROM trades
GROUP BY GROUPING SETS ((venue, symbol), (venue), (symbol), ())
ORDER BY venue, symbol;

-- name: grouping_sets_bare
-- form: grouping sets
-- seen: Spark, GROUP BY Clause, Parameters: grouping_set
SELECT origin, carrier, count(*) AS n FROM flights GROUP BY GROUPING SETS (origin, carrier);

-- name: grouping_sets_hive
-- form: grouping sets
-- seen: Spark, GROUP BY Clause, Parameters: GROUPING SETS
SELECT origin, dest, carrier, count(*) AS n
FROM flights
GROUP BY origin, dest, carrier GROUPING SETS ((origin, dest), carrier);

-- name: grouping_sets_product
-- form: grouping sets
-- seen: Spark, GROUP BY Clause, Parameters: Mixed Grouping Analytics
SELECT venue, symbol, side, count(*) AS n
FROM trades
GROUP BY GROUPING SETS ((venue), ()), GROUPING SETS ((symbol, side), (symbol));

-- name: grouping_sets_nested
-- form: grouping sets
-- seen: Databricks, GROUP BY clause, Mixed/Nested Grouping Analytics
SELECT venue, symbol, sum(volume) AS volume
FROM trades
GROUP BY GROUPING SETS (ROLLUP (venue), CUBE (venue, symbol), GROUPING SETS ((symbol)));

-- name: grouping_sets_of_windows
-- form: grouping sets
-- seen: Spark, GROUP BY Clause, Parameters: GROUPING SETS
SELECT date_trunc('DAY', ts) AS day, symbol, sum(fee) AS fees
FROM trades
GROUP BY GROUPING SETS ((date_trunc('DAY', ts), symbol), (date_trunc('DAY', ts)));

-- name: grouping_sets_with_window
-- form: grouping sets
-- seen: Spark, GROUP BY Clause, Parameters: GROUPING SETS
SELECT window, venue, sum(volume) AS volume
FROM trades
GROUP BY GROUPING SETS ((window(ts, '12 hours'), venue), (venue), (window(ts, '12 hours')));

-- name: grouping_flags
-- form: grouping id
-- seen: Spark, Built-in Functions, Aggregate Functions: grouping, grouping_id
SELECT venue, symbol, grouping(venue) AS all_venues, grouping_id() AS level, grouping_id(venue, symbol) AS same, count(*) AS n
FROM trades
GROUP BY CUBE (venue, symbol);

-- name: grouping_in_having
-- form: grouping id
-- seen: Spark, Built-in Functions, Aggregate Functions: grouping
SELECT carrier, grouping(carrier) AS is_total, sum(distance) AS km
FROM flights
GROUP BY ROLLUP (carrier)
HAVING grouping(carrier) = 1 OR sum(distance) > 50000
ORDER BY grouping(carrier), carrier;

-- name: cte_filter
-- form: cte source
-- seen: Spark, Common Table Expression (CTE), Examples
WITH big AS (SELECT ts, symbol, price, volume FROM trades WHERE volume > 300)
SELECT symbol, window.start, count(*) AS n, max(price) AS high
FROM big
GROUP BY symbol, window(ts, '1 hour');

-- name: cte_column_names
-- form: cte source
-- seen: Spark, Common Table Expression (CTE), Examples
WITH moves (at_time, code, amount) AS (SELECT ts, symbol, price * volume FROM trades)
SELECT date_trunc('HOUR', at_time) AS hour, code, sum(amount) AS turnover
FROM moves
GROUP BY 1, 2;

-- name: cte_in_cte
-- form: cte source
-- seen: Spark, Common Table Expression (CTE), Examples
WITH late AS (
  WITH flown AS (SELECT * FROM flights WHERE NOT cancelled)
  SELECT * FROM flown WHERE delay > 15
)
SELECT carrier, count(*) AS n FROM late GROUP BY carrier;

-- name: cte_in_subquery
-- form: cte source
-- seen: Spark, Common Table Expression (CTE), Examples
SELECT max(n) AS most FROM (WITH t AS (SELECT symbol FROM trades) SELECT symbol, count(*) AS n FROM t GROUP BY symbol);

-- name: ctes_chained
-- form: chained ctes
-- seen: Spark, Common Table Expression (CTE), Syntax
WITH priced AS (SELECT *, price * volume AS amount FROM trades WHERE NOT isnan(price)),
     hourly AS (SELECT window, symbol, sum(amount) AS turnover FROM priced GROUP BY window(ts, '1 hour'), symbol),
     ranked AS (SELECT *, rank() OVER (PARTITION BY window ORDER BY turnover DESC) AS r FROM hourly)
SELECT window.start AS hour, symbol, turnover FROM ranked WHERE r = 1;

-- name: cte_used_twice
-- form: chained ctes
-- seen: Spark, Common Table Expression (CTE), Description
WITH daily AS (SELECT to_date(dep) AS day, count(*) AS n FROM flights GROUP BY to_date(dep))
SELECT a.day, a.n, b.n AS day_before
FROM daily AS a LEFT JOIN daily AS b ON b.day = date_sub(a.day, 1);

-- name: subquery_projection
-- form: subquery source
-- seen: Spark, SELECT, Parameters: from_item
SELECT kind, window.start, sum(amount) AS amount
FROM (SELECT ts, concat_ws('-', venue, side) AS kind, price * volume AS amount FROM trades WHERE price > 0) AS t
GROUP BY kind, window(ts, '2 hours');

-- name: subquery_union_source
-- form: subquery source
-- seen: Spark, Set Operators, UNION
SELECT place, count(*) AS movements
FROM (SELECT origin AS place FROM flights UNION ALL SELECT dest AS place FROM flights)
GROUP BY place;

-- name: join_inner
-- form: join source
-- seen: Spark, JOIN, Examples
SELECT s.sector, window.start, sum(t.volume) AS volume
FROM trades AS t INNER JOIN symbols AS s ON t.symbol = s.symbol
GROUP BY s.sector, window(t.ts, '1 hour');

-- name: join_left
-- form: join source
-- seen: Spark, JOIN, Examples
SELECT coalesce(c.country, 'unknown') AS country, date_trunc('MONTH', f.dep) AS month, avg(f.delay) AS mean_delay
FROM flights f LEFT JOIN carriers c ON f.carrier = c.carrier
GROUP BY coalesce(c.country, 'unknown'), date_trunc('MONTH', f.dep);

-- name: join_using
-- form: join source
-- seen: Spark, JOIN, Parameters: join_criteria
SELECT symbol, sector, count(*) AS n FROM trades JOIN symbols USING (symbol) GROUP BY symbol, sector;

-- name: join_comma
-- form: join source
-- seen: Spark, SELECT, Parameters: from_item
SELECT c.name, sum(f.distance) AS km
FROM flights f, carriers c
WHERE f.carrier = c.carrier AND f.cancelled = false
GROUP BY c.name;

-- name: join_natural
-- form: join source
-- seen: Spark, JOIN, Syntax
SELECT country, window.start, count(*) AS n
FROM flights NATURAL JOIN carriers
GROUP BY country, window(dep, '30 days');

-- name: join_semi
-- form: join source
-- seen: Spark, JOIN, Examples
SELECT window.start, sum(volume) AS volume
FROM trades LEFT SEMI JOIN symbols ON trades.symbol = symbols.symbol
GROUP BY window(ts, '3 hours');

-- name: join_anti
-- form: join source
-- seen: Spark, JOIN, Examples
SELECT symbol, count(*) AS n FROM trades ANTI JOIN symbols USING (symbol) GROUP BY symbol;

-- name: join_hint
-- form: join source
-- seen: Spark, Hints, Join Hints
SELECT /*+ BROADCAST(s) */ s.sector, avg(t.price) AS mean_price
FROM trades t JOIN symbols s ON t.symbol = s.symbol AND t.ts >= s.listed
GROUP BY s.sector;

-- name: join_two_dimensions
-- form: join source
-- seen: Spark, JOIN, Syntax
SELECT c.name, q.country AS reader_country, count(*) AS n
FROM flights f
JOIN carriers c ON c.carrier = f.carrier
LEFT JOIN (SELECT DISTINCT country FROM clicks) q ON q.country = c.country
GROUP BY c.name, q.country;

-- name: where_in_subquery
-- form: subquery in where
-- seen: Spark, NULL Semantics, IN/NOT IN Subquery
SELECT symbol, window.start, count(*) AS n
FROM trades
WHERE symbol IN (SELECT symbol FROM symbols WHERE sector = 'energy')
GROUP BY symbol, window(ts, '1 hour');

-- name: where_exists
-- form: subquery in where
-- seen: Spark, NULL Semantics, EXISTS/NOT EXISTS Subquery
SELECT carrier, avg(delay) AS mean_delay
FROM flights f
WHERE EXISTS (SELECT 1 FROM carriers c WHERE c.carrier = f.carrier AND c.country = 'SE')
GROUP BY carrier;

-- name: where_not_exists
-- form: subquery in where
-- seen: Spark, NULL Semantics, EXISTS/NOT EXISTS Subquery
SELECT carrier, count(*) AS n
FROM flights
WHERE NOT EXISTS (SELECT * FROM carriers WHERE carriers.carrier = flights.carrier)
GROUP BY carrier;

-- name: where_scalar_subquery
-- form: subquery in where
-- seen: Databricks, SQL expression, Scalar subquery
SELECT window.start, count(*) AS dear
FROM trades
WHERE price > (SELECT percentile(price, 0.5) FROM trades WHERE NOT isnan(price))
GROUP BY window(ts, '1 hour');

-- name: union_of_aggregates
-- form: union
-- seen: Spark, Set Operators, UNION
SELECT 'hour' AS unit, date_trunc('HOUR', ts) AS t, count(*) AS n FROM trades GROUP BY date_trunc('HOUR', ts)
UNION ALL
SELECT 'day', date_trunc('DAY', ts), count(*) FROM trades GROUP BY date_trunc('DAY', ts);

-- name: union_distinct_of_aggregates
-- form: union
-- seen: Spark, Set Operators, UNION
(SELECT symbol, sum(volume) AS v FROM trades GROUP BY symbol)
UNION
(SELECT venue, sum(volume) FROM trades GROUP BY venue)
ORDER BY v DESC, symbol
LIMIT 5;

-- name: except_of_groups
-- form: except
-- seen: Spark, Set Operators, EXCEPT
SELECT symbol FROM trades GROUP BY symbol HAVING count(*) > 3
EXCEPT
SELECT symbol FROM symbols;

-- name: intersect_of_groups
-- form: except
-- seen: Spark, Set Operators, INTERSECT
SELECT DISTINCT origin AS airport FROM flights
INTERSECT
SELECT DISTINCT dest FROM flights;

-- name: order_by_column
-- form: order and limit
-- seen: Spark, ORDER BY Clause, Examples
SELECT venue, sum(volume) AS volume FROM trades GROUP BY venue ORDER BY venue ASC, volume DESC;

-- name: order_by_alias_limit
-- form: order and limit
-- seen: Spark, LIMIT Clause, Examples
SELECT symbol, sum(volume) AS volume FROM trades GROUP BY symbol ORDER BY volume DESC, symbol LIMIT 3;

-- name: order_by_position
-- form: order and limit
-- seen: Spark, GROUP BY Clause, Examples
SELECT window.start, symbol, count(*) AS n FROM trades GROUP BY window(ts, '1 hour'), symbol ORDER BY 3 DESC, 1, 2 LIMIT 10;

-- name: order_by_hidden_aggregate
-- form: order and limit
-- seen: Spark, ORDER BY Clause, Description
SELECT carrier, count(*) AS n FROM flights GROUP BY carrier ORDER BY avg(delay) DESC NULLS LAST, carrier;

-- name: order_nulls_first
-- form: order and limit
-- seen: Spark, ORDER BY Clause, Examples
SELECT side, max(price) AS high FROM trades GROUP BY side ORDER BY side DESC NULLS FIRST;

-- name: limit_offset
-- form: order and limit
-- seen: Spark, OFFSET Clause, Examples
SELECT window.start AS hour, count(*) AS n
FROM trades
GROUP BY window(ts, '1 hour')
ORDER BY hour
LIMIT 4 OFFSET 2;

-- name: limit_expression_and_all
-- form: order and limit
-- seen: Spark, LIMIT Clause, Examples
SELECT page, avg(ms) AS mean_ms FROM clicks GROUP BY page ORDER BY page LIMIT length('abcd');

-- name: sort_by_partitions
-- form: order and limit
-- seen: Spark, SORT BY Clause, Examples
SELECT venue, symbol, count(*) AS n FROM trades GROUP BY venue, symbol DISTRIBUTE BY venue SORT BY venue, n DESC, symbol;

-- name: top_row_number
-- form: top-n per window
-- seen: Spark, Window Functions, Parameters: Ranking Functions
SELECT start, symbol, volume
FROM (
  SELECT window.start AS start, symbol, sum(volume) AS volume,
         row_number() OVER (PARTITION BY window ORDER BY sum(volume) DESC, symbol) AS place
  FROM trades
  GROUP BY window(ts, '1 hour'), symbol
)
WHERE place <= 3;

-- name: top_row_number_nested
-- form: top-n per window
-- seen: Spark, Window Functions, Examples
SELECT hour, symbol, n
FROM (
  SELECT *, row_number() OVER (PARTITION BY hour ORDER BY n DESC, symbol) AS place
  FROM (SELECT date_trunc('HOUR', ts) AS hour, symbol, count(*) AS n FROM trades GROUP BY 1, 2)
)
WHERE place <= 2;

-- name: top_rank
-- form: top-n per window
-- seen: Spark, Window Functions, Examples
SELECT * FROM (
  SELECT window, venue, sum(fee) AS fees, rank() OVER (PARTITION BY window ORDER BY sum(fee) DESC) AS r
  FROM trades
  GROUP BY window(ts, '6 hours'), venue
) WHERE r <= 2 ORDER BY window, r, venue;

-- name: top_dense_rank_month
-- form: top-n per window
-- seen: Spark, Window Functions, Examples
SELECT month, carrier, km
FROM (
  SELECT trunc(dep, 'MM') AS month, carrier, sum(distance) AS km,
         dense_rank() OVER (PARTITION BY trunc(dep, 'MM') ORDER BY sum(distance) DESC) AS r
  FROM flights
  GROUP BY trunc(dep, 'MM'), carrier
)
WHERE r = 1;

-- name: top_rows_not_groups
-- form: top-n per window
-- seen: Spark, Window Functions, Examples
SELECT symbol, ts, volume
FROM (SELECT symbol, ts, volume, row_number() OVER (PARTITION BY symbol ORDER BY volume DESC, ts, venue) AS place FROM trades)
WHERE place <= 2;

-- name: qualify_alias
-- form: qualify
-- seen: Spark, QUALIFY Clause, Examples
SELECT window.start AS hour, symbol, sum(volume) AS volume,
       row_number() OVER (PARTITION BY window.start ORDER BY sum(volume) DESC, symbol) AS place
FROM trades
GROUP BY window(ts, '1 hour'), symbol
QUALIFY place <= 2;

-- name: qualify_inline
-- form: qualify
-- seen: Spark, QUALIFY Clause, Examples
SELECT user_id, page, at
FROM clicks
QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY at DESC, page) = 1;

-- name: over_range_interval
-- form: over range
-- seen: Spark, Window Functions, Parameters: window_frame
SELECT symbol, ts, sum(volume) OVER (PARTITION BY symbol ORDER BY ts
       RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) AS last_hour
FROM trades;

-- name: over_range_both_sides
-- form: over range
-- seen: Spark, Window Functions, Parameters: window_frame
SELECT carrier, dep, count(*) OVER (PARTITION BY carrier ORDER BY dep
       RANGE BETWEEN INTERVAL '48' HOUR PRECEDING AND INTERVAL '12' HOUR FOLLOWING) AS near
FROM flights;

-- name: over_rows
-- form: over rows
-- seen: Spark, Window Functions, Parameters: window_frame
SELECT user_id, at, avg(ms) OVER (PARTITION BY user_id ORDER BY at, page, ms ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS smooth_ms
FROM clicks;

-- name: over_rows_running
-- form: over rows
-- seen: Spark, Window Functions, Examples
SELECT day, n, sum(n) OVER (ORDER BY day ROWS UNBOUNDED PRECEDING) AS running
FROM (SELECT to_date(dep) AS day, count(*) AS n FROM flights GROUP BY to_date(dep));

-- name: over_named_window
-- form: over rows
-- seen: Spark, Window Functions, Examples
SELECT symbol, ts, lag(price) OVER w AS before, lead(price, 1, 0.0) OVER w AS after,
       last_value(note) IGNORE NULLS OVER w AS note_so_far, ntile(4) OVER w AS quarter
FROM trades
WINDOW w AS (PARTITION BY symbol ORDER BY ts, venue, volume, price);

-- name: over_aggregates_of_windows
-- form: over rows
-- seen: Spark, Window Functions, Examples
SELECT window.start AS hour, symbol, sum(volume) AS volume,
       sum(volume) - lag(sum(volume)) OVER (PARTITION BY symbol ORDER BY window.start) AS change,
       sum(sum(volume)) OVER (PARTITION BY window.start) AS of_hour
FROM trades
GROUP BY window(ts, '1 hour'), symbol;

-- name: cascade_max_of_counts
-- form: cascade
-- seen: Spark, Structured Streaming Programming Guide, Window Operations on Event Time
SELECT start, max(n) AS busiest
FROM (SELECT window.start AS start, symbol, count(*) AS n FROM trades GROUP BY window(ts, '1 hour', '30 minutes'), symbol)
GROUP BY start;

-- name: cascade_window_time
-- form: cascade
-- seen: Spark, Structured Streaming Programming Guide, Representation of the time for time window
SELECT window(window_time(window), '1 hour').start AS hour, avg(n) AS per_five_minutes
FROM (SELECT window, count(*) AS n FROM trades GROUP BY window(ts, '5 minutes'))
GROUP BY window(window_time(window), '1 hour');

-- name: cascade_window_of_window
-- form: cascade
-- seen: Spark, Structured Streaming Programming Guide, Representation of the time for time window
SELECT w.start, symbol, max(volume) AS peak
FROM (
  SELECT window(window, '1 day') AS w, symbol, volume
  FROM (SELECT window, symbol, sum(volume) AS volume FROM trades GROUP BY window(ts, '1 hour'), symbol)
)
GROUP BY w, symbol;

-- name: cascade_months_of_days
-- form: cascade
-- seen: Spark, Common Table Expression (CTE), Description
WITH daily AS (SELECT date_trunc('DAY', dep) AS day, carrier, count(*) AS n, sum(delay) AS delay
               FROM flights GROUP BY date_trunc('DAY', dep), carrier)
SELECT date_trunc('MONTH', day) AS month, carrier, max(n) AS busiest_day, sum(delay) / sum(n) AS mean_delay
FROM daily
GROUP BY date_trunc('MONTH', day), carrier;

-- name: join_of_two_aggregates
-- form: join of aggregates
-- seen: Spark, JOIN, Examples
SELECT b.start, b.symbol, b.n AS buys, s.n AS sells
FROM (SELECT window.start AS start, symbol, count(*) AS n FROM trades WHERE side = 'B' GROUP BY window(ts, '1 hour'), symbol) AS b
JOIN (SELECT window.start AS start, symbol, count(*) AS n FROM trades WHERE side = 'S' GROUP BY window(ts, '1 hour'), symbol) AS s
ON b.start = s.start AND b.symbol = s.symbol;

-- name: join_aggregate_with_rows
-- form: join of aggregates
-- seen: Spark, JOIN, Examples
SELECT t.symbol, t.ts, t.price, h.high
FROM trades t
JOIN (SELECT symbol, to_date(ts) AS day, max(volume) AS high FROM trades GROUP BY symbol, to_date(ts)) h
  ON t.symbol = h.symbol AND to_date(t.ts) = h.day AND t.volume = h.high;

-- name: join_of_hours_and_days
-- form: join of aggregates
-- seen: Spark, JOIN, Examples
SELECT h.hour, h.n / d.n AS share_of_day
FROM (SELECT date_trunc('HOUR', ts) AS hour, count(*) AS n FROM trades GROUP BY 1) h
LEFT JOIN (SELECT date_trunc('DAY', ts) AS day, count(*) AS n FROM trades GROUP BY 1) d
  ON date_trunc('DAY', h.hour) = d.day;

-- name: pivot_sides
-- form: pivot
-- seen: Spark, PIVOT Clause, Examples
SELECT * FROM (SELECT date_trunc('HOUR', ts) AS hour, side, volume FROM trades)
PIVOT (sum(volume) FOR side IN ('B' AS bought, 'S' AS sold));

-- name: pivot_two_aggregates
-- form: pivot
-- seen: Spark, PIVOT Clause, Examples
SELECT * FROM (SELECT carrier, origin, delay FROM flights)
PIVOT (avg(delay) AS mean, count(*) AS n FOR origin IN ('ARN' AS arn, 'CPH' AS cph));

-- name: pivot_column_pairs
-- form: pivot
-- seen: Spark, PIVOT Clause, Examples
SELECT * FROM (SELECT symbol, venue, side, volume FROM trades)
PIVOT (max(volume) FOR (venue, side) IN (('NYSE', 'B') AS nyse_b, ('XETRA', 'S') AS xetra_s));

-- name: unpivot_aggregates
-- form: pivot
-- seen: Spark, UNPIVOT Clause, Examples
SELECT * FROM (SELECT symbol, min(volume) AS low, max(volume) AS high FROM trades GROUP BY symbol)
UNPIVOT (value FOR which IN (low, high));

-- name: lateral_view_tags
-- form: lateral view
-- seen: Spark, LATERAL VIEW Clause, Examples
SELECT tag, window.start, count(*) AS n
FROM trades LATERAL VIEW explode(tags) x AS tag
GROUP BY tag, window(ts, '3 hours');

-- name: lateral_view_outer_map
-- form: lateral view
-- seen: Spark, LATERAL VIEW Clause, Examples
SELECT k, count(DISTINCT v) AS spellings
FROM trades LATERAL VIEW OUTER explode(attrs) a AS k, v
GROUP BY k;

-- name: lateral_table_function
-- form: lateral view
-- seen: Spark, Table-valued Functions (TVF), Examples
SELECT p.tag, sum(volume) AS volume FROM trades, LATERAL explode(tags) AS p(tag) GROUP BY p.tag;

-- name: lateral_subquery
-- form: lateral view
-- seen: Spark, LATERAL SUBQUERY, Examples
SELECT symbol, sum(x.amount) AS amount
FROM trades, LATERAL (SELECT price * volume AS amount) AS x
GROUP BY symbol;

-- name: explode_in_select
-- form: lateral view
-- seen: Spark, Built-in Functions, Generator Functions: explode
SELECT tag, count(*) AS n FROM (SELECT explode(tags) AS tag FROM trades) GROUP BY tag;

-- name: cast_with_colons
-- form: cast
-- seen: Spark, Built-in Functions, Conversion Functions: cast
SELECT ts::date AS day, symbol, sum(fee)::double AS fees, avg(price)::decimal(10, 2) AS mean_price
FROM trades
WHERE abs(price) < 100000
GROUP BY ts::date, symbol;

-- name: cast_try
-- form: cast
-- seen: Spark, Built-in Functions, Conversion Functions: try_cast
SELECT try_cast(note AS INT) AS code, count(*) AS n FROM trades GROUP BY try_cast(note AS INT);

-- name: collate_key
-- form: collation
-- seen: Spark, Built-in Functions, String Functions: collate
SELECT venue COLLATE UTF8_LCASE AS venue, count(*) AS n FROM trades GROUP BY venue COLLATE UTF8_LCASE;

-- name: collate_where
-- form: collation
-- seen: Spark, Built-in Functions, String Functions: collate
SELECT window.start, count(*) AS n
FROM clicks
WHERE collate(country, 'UTF8_LCASE') = 'se'
GROUP BY window(at, '1 hour');

-- name: zone_from_utc
-- form: time zone
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: from_utc_timestamp
SELECT date_trunc('DAY', from_utc_timestamp(ts, 'Europe/Stockholm')) AS local_day, count(*) AS n
FROM trades
GROUP BY date_trunc('DAY', from_utc_timestamp(ts, 'Europe/Stockholm'));

-- name: zone_convert
-- form: time zone
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: convert_timezone
SELECT to_date(convert_timezone('UTC', 'America/New_York', CAST(ts AS TIMESTAMP_NTZ))) AS local_day, sum(volume) AS volume
FROM trades
GROUP BY to_date(convert_timezone('UTC', 'America/New_York', CAST(ts AS TIMESTAMP_NTZ)));

-- name: zone_to_utc
-- form: time zone
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: to_utc_timestamp
SELECT hour(to_utc_timestamp(dep, 'Asia/Tokyo')) AS h, count(*) AS n FROM flights GROUP BY hour(to_utc_timestamp(dep, 'Asia/Tokyo'));

-- name: zone_local_hours_over_dst
-- form: time zone
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: from_utc_timestamp
SELECT date_format(from_utc_timestamp(ts, 'Europe/Berlin'), 'yyyy-MM-dd HH') AS local_hour, count(*) AS n
FROM trades
WHERE ts BETWEEN TIMESTAMP '2026-03-28 22:00:00' AND TIMESTAMP '2026-03-29 06:00:00'
GROUP BY 1
ORDER BY 1;

-- name: insert_into
-- form: wrapper
-- seen: Spark, INSERT TABLE, Insert Using a SELECT Statement
INSERT INTO hourly_volume
SELECT window.start AS hour, symbol, sum(volume) AS volume
FROM trades
GROUP BY window(ts, '1 hour'), symbol;

-- name: insert_into_columns
-- form: wrapper
-- seen: Spark, INSERT TABLE, Insert with a column list
INSERT INTO TABLE daily_delays (day, mean_delay)
SELECT to_date(dep), avg(delay) FROM flights GROUP BY to_date(dep);

-- name: insert_overwrite
-- form: wrapper
-- seen: Spark, INSERT TABLE, Insert Overwrite
INSERT OVERWRITE TABLE venue_totals
SELECT venue, sum(volume) AS volume FROM trades GROUP BY venue;

-- name: insert_overwrite_partition
-- form: wrapper
-- seen: Spark, INSERT TABLE, Insert Overwrite
INSERT OVERWRITE visits PARTITION (day = DATE '2026-03-29')
SELECT user_id, count(*) AS views FROM clicks WHERE to_date(at) = DATE '2026-03-29' GROUP BY user_id;

-- name: insert_directory
-- form: wrapper
-- seen: Spark, INSERT OVERWRITE DIRECTORY, Examples
INSERT OVERWRITE DIRECTORY '/tmp/weft-corpus/fees' USING parquet
SELECT date_trunc('HOUR', ts) AS hour, sum(fee) AS fees FROM trades GROUP BY 1;

-- name: create_view
-- form: wrapper
-- seen: Spark, CREATE VIEW, Examples
CREATE OR REPLACE VIEW busy_hours (hour COMMENT 'start of the hour', n) AS
SELECT window.start, count(*) FROM trades GROUP BY window(ts, '1 hour') HAVING count(*) > 4;

-- name: create_temporary_view
-- form: wrapper
-- seen: Spark, CREATE VIEW, Examples
CREATE OR REPLACE TEMPORARY VIEW carrier_months AS
SELECT carrier, trunc(dep, 'MM') AS month, count(*) AS n FROM flights GROUP BY carrier, trunc(dep, 'MM');

-- name: create_materialized_view
-- form: wrapper
-- seen: Spark, Spark Declarative Pipelines Programming Guide, Querying Tables Defined in Your Pipeline
CREATE MATERIALIZED VIEW sector_days AS
SELECT s.sector, to_date(t.ts) AS day, count(*) AS n
FROM trades t INNER JOIN symbols s ON t.symbol = s.symbol
GROUP BY s.sector, to_date(t.ts);

-- name: create_table_as
-- form: wrapper
-- seen: Spark, CREATE DATASOURCE TABLE, Examples
CREATE TABLE page_hours USING parquet AS
SELECT page, date_trunc('HOUR', at) AS hour, avg(ms) AS mean_ms FROM clicks GROUP BY page, date_trunc('HOUR', at);

-- name: cache_table
-- form: wrapper
-- seen: Spark, CACHE TABLE, Syntax
CACHE LAZY TABLE cached_hours OPTIONS ('storageLevel' 'MEMORY_ONLY') AS
SELECT date_trunc('HOUR', ts) AS hour, count(*) AS n FROM trades GROUP BY date_trunc('HOUR', ts);

-- name: explain_statement
-- form: wrapper
-- seen: Spark, EXPLAIN, Examples
EXPLAIN FORMATTED SELECT symbol, sum(volume) AS volume FROM trades GROUP BY symbol;

-- name: from_first
-- form: wrapper
-- seen: Spark, INSERT TABLE, Insert Using a FROM Statement
FROM trades SELECT venue, count(*) AS n WHERE volume > 0 GROUP BY venue;

-- name: struct_fields
-- form: nested columns
-- seen: Spark, Built-in Functions, Struct Functions
SELECT symbol, window.start, avg(quote.ask - quote.bid) AS mean_spread, max(quote.bid) AS best_bid
FROM trades
GROUP BY symbol, window(ts, '1 hour');

-- name: map_and_array_items
-- form: nested columns
-- seen: Spark, Built-in Functions, Map Functions: element_at
SELECT attrs['desk'] AS desk, element_at(attrs, 'algo') AS algo, sum(size(tags)) AS tags
FROM trades
GROUP BY attrs['desk'], element_at(attrs, 'algo');

-- name: array_functions
-- form: nested columns
-- seen: Spark, Built-in Functions, Array Functions: array_contains
SELECT array_contains(tags, 'block') AS block, count(*) AS n, sum(aggregate(transform(tags, t -> length(t)), 0, (a, b) -> a + b)) AS letters
FROM trades
GROUP BY array_contains(tags, 'block');

-- name: struct_key_and_named_struct
-- form: nested columns
-- seen: Spark, Built-in Functions, Struct Functions: named_struct
SELECT named_struct('from', origin, 'to', dest) AS leg, count(*) AS n FROM flights GROUP BY named_struct('from', origin, 'to', dest);

-- name: array_key
-- form: nested columns
-- seen: Spark, GROUP BY Clause, Parameters: group_expression
SELECT tags, count(*) AS n FROM trades GROUP BY tags;

-- name: values_source
-- form: values source
-- seen: Spark, Inline Table, Examples
SELECT k, window.start, sum(v) AS v
FROM VALUES ('a', TIMESTAMP '2026-03-28 10:01:00', 3), ('b', TIMESTAMP '2026-03-28 10:04:00', 5),
            ('a', TIMESTAMP '2026-03-28 10:11:00', 7) AS data(k, t, v)
GROUP BY k, window(t, '10 minutes');

-- name: values_joined
-- form: values source
-- seen: Spark, Inline Table, Examples
SELECT r.region, count(*) AS n
FROM clicks JOIN (VALUES ('SE', 'north'), ('DE', 'middle')) AS r(country, region) ON clicks.country = r.country
GROUP BY r.region;

-- name: values_string_times
-- form: values source
-- seen: Spark, Built-in Functions, Date and Timestamp Functions: window
SELECT who, window.start, window.end, count(*) AS n
FROM VALUES ('p', '2026-03-29 00:30:00'), ('p', '2026-03-29 01:10:00'), ('q', '2026-03-29 02:10:00') AS tab(who, t)
GROUP BY who, window(t, '40 minutes')
ORDER BY who, start;

-- name: range_source
-- form: values source
-- seen: Spark, Table-valued Functions (TVF), Examples
SELECT id % 3 AS k, window(timestamp_seconds(id * 100), '5 minutes').start AS since, count(*) AS n
FROM range(20)
GROUP BY id % 3, window(timestamp_seconds(id * 100), '5 minutes');

-- name: pipe_aggregate
-- form: pipe syntax
-- seen: Spark, SQL Pipe Syntax, AGGREGATE
FROM trades
|> WHERE volume > 0
|> AGGREGATE count(*) AS n, sum(volume) AS volume GROUP BY symbol
|> ORDER BY symbol;

-- name: pipe_window
-- form: pipe syntax
-- seen: Spark, SQL Pipe Syntax, AGGREGATE
FROM trades
|> EXTEND price * volume AS amount
|> AGGREGATE sum(amount) AS turnover GROUP BY date_trunc('HOUR', ts) AS hour, venue
|> WHERE turnover > 100
|> SELECT hour, venue, round(turnover, 2) AS turnover;

-- name: pipe_window_alias
-- form: pipe syntax
-- seen: Spark, SQL Pipe Syntax, AGGREGATE
FROM trades
|> AGGREGATE count(*) AS n, max(volume) AS peak GROUP BY window(ts, '1 hour') AS w, symbol
|> SELECT w.start AS since, symbol, n, peak;

-- name: pipe_twice
-- form: pipe syntax
-- seen: Spark, SQL Pipe Syntax, Example
TABLE flights
|> LEFT OUTER JOIN carriers USING (carrier)
|> AGGREGATE count(dep) AS n GROUP BY country, to_date(dep) AS day
|> AGGREGATE max(n) AS busiest GROUP BY country
|> ORDER BY busiest DESC, country
|> LIMIT 3;

-- name: pipe_no_keys
-- form: pipe syntax
-- seen: Spark, SQL Pipe Syntax, AGGREGATE
FROM clicks |> SET ms = ms + 1 |> DROP page |> AS c |> AGGREGATE avg(c.ms) AS mean_ms, count(*) AS n;

-- name: pipe_pivot_union
-- form: pipe syntax
-- seen: Spark, SQL Pipe Syntax, PIVOT
FROM trades
|> SELECT venue, side, volume
|> PIVOT (sum(volume) FOR side IN ('B', 'S'))
|> UNION ALL (SELECT 'none', 0, 0);

-- name: named_arguments
-- form: named arguments
-- seen: Spark, Function Invocation, Named parameter invocation
SELECT hex(count_min_sketch(column => user_id, epsilon => 0.5d, confidence => 0.6d, seed => 2)) AS sketch FROM clicks;

-- name: named_arguments_mask
-- form: named arguments
-- seen: Spark, Function Invocation, Named parameter invocation
SELECT mask(venue, lowerChar => 'q', upperChar => 'Q') AS masked, count(*) AS n
FROM trades
GROUP BY mask(venue, lowerChar => 'q', upperChar => 'Q');

-- name: backquoted_names
-- form: quoting and comments
-- seen: Spark, Identifiers, Delimited Identifier
SELECT `symbol` AS `the symbol`, `window`.`start` AS `from`, count(*) AS `n;2`, max(`price`) AS `max(price)`
FROM `trades`
GROUP BY `symbol`, window(`ts`, '1 hour');

-- name: mixed_case
-- form: quoting and comments
-- seen: Spark, Identifiers, Description
Select SYMBOL, Window.Start As Since, Sum(Volume) From Trades t Where T.Side = 'B' Group By Symbol, WINDOW(TS, '1 Hour');

-- name: comments_inside
-- form: quoting and comments
-- seen: Spark, SELECT, Description
SELECT /* what; and not yet the end */ venue, -- where
       count(*) AS n -- how many; roughly
FROM trades /* /* nested */ too */
WHERE note IS NULL OR note <> '; -- no comment'
GROUP BY venue;

-- name: strings_and_escapes
-- form: quoting and comments
-- seen: Spark, Literals, String Literal
SELECT CASE WHEN note LIKE '%o\'clock%' THEN 'time' WHEN note = "it's" THEN 'its' ELSE r'\d' END AS kind, count(*) AS n
FROM trades
GROUP BY 1;

-- name: operators
-- form: quoting and comments
-- seen: Spark, Operators, Operator Precedence
SELECT symbol <=> 'ABX' AS is_abx, volume & 1 AS odd, NOT side = 'B' AND price BETWEEN 1 AND 50 OR venue RLIKE '^X' AS odd_one, count(*) AS n
FROM trades
GROUP BY ALL;

-- name: date_arithmetic_where
-- form: tumbling window
-- seen: Spark, WHERE Clause, Examples
SELECT window.start, count(*) AS n
FROM trades
WHERE ts >= DATE '2026-03-29' AND ts < DATE '2026-03-29' + INTERVAL 1 DAY AND side IN ('B', 'S') AND symbol NOT LIKE 'Z%'
GROUP BY window(ts, '1 hour');

-- name: constants_in_select
-- form: tumbling window
-- seen: Spark, SELECT, Parameters: named_expression
SELECT 'v2' AS version, window.start AS since, 60 AS minutes, count(*) AS n, current_database() IS NOT NULL AS ok
FROM trades
GROUP BY window(ts, '1 hour');

-- name: tablesample_all
-- form: no window
-- seen: Spark, Sampling Queries, Examples
SELECT venue, count(*) AS n FROM trades TABLESAMPLE (100 PERCENT) GROUP BY venue;

-- name: star_except
-- form: subquery source
-- seen: Databricks, star (*) clause, Examples
SELECT window.start, count(*) AS n
FROM (SELECT * EXCEPT (note, tags, attrs) FROM trades)
GROUP BY window(ts, '90 minutes');

-- name: date_parts_without_names
-- form: date parts
-- seen: Spark, questions and answers: grouping by year and month without aliases
SELECT year(ts), month(ts), symbol, count(*), sum(volume) FROM trades GROUP BY year(ts), month(ts), symbol;

-- name: constant_key
-- form: no keys
-- seen: Spark, GROUP BY clause: a constant
SELECT 'all' AS k, window.start, count(*) AS n FROM trades GROUP BY 'all', window(ts, '12 hours');

-- name: substring_from_for
-- form: quoting and comments
-- seen: Spark, Built-in Functions, String Functions: substring, position
SELECT window.start, substring(symbol FROM 1 FOR 1) AS letter, count(*) AS n, max(position('a' IN venue)) AS place
FROM trades
GROUP BY window(ts, '6 hours'), substring(symbol FROM 1 FOR 1);
