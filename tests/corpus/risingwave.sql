-- RisingWave over trades, symbols, flights, carriers and clicks.

-- name: rw_tumble
-- form: tumbling window
-- seen: RisingWave, Time windows, Tumble window aggregations
SELECT window_start, window_end, COUNT(symbol) AS n, SUM(volume) AS volume
FROM TUMBLE (trades, ts, INTERVAL '10 MINUTES')
GROUP BY window_start, window_end
ORDER BY window_start;

-- name: rw_tumble_standard_interval
-- form: tumbling window
-- seen: RisingWave, Time windows, tumble() time window function
SELECT window_start, carrier, AVG(delay) AS mean_delay
FROM tumble(flights, dep, INTERVAL '6' HOUR)
GROUP BY window_start, carrier;

-- name: rw_tumble_view
-- form: tumbling window
-- seen: RisingWave, Emit on window close
CREATE MATERIALIZED VIEW clicks_per_minute AS
SELECT window_start, window_end, country, COUNT(*) AS n
FROM TUMBLE(clicks, at, INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, country;

-- name: rw_tumble_end_only
-- form: tumbling window
-- seen: RisingWave, Time windows, Window aggregations
CREATE MATERIALIZED VIEW volume_by_end AS
SELECT window_end, symbol, SUM(price * volume) / NULLIF(SUM(volume), 0) AS vwap
FROM TUMBLE(trades, ts, INTERVAL '1 HOUR')
WHERE volume > 0
GROUP BY window_end, symbol;

-- name: rw_tumble_offset
-- form: window offset
-- seen: RisingWave, Time windows, tumble() time window function
SELECT window_start, COUNT(*) AS n
FROM TUMBLE(trades, ts, INTERVAL '1 HOUR', INTERVAL '20 MINUTES')
GROUP BY window_start;

-- name: rw_tumble_rows
-- form: window as column
-- seen: RisingWave, Time windows, tumble() time window function
SELECT symbol, ts, price, window_start, window_end
FROM TUMBLE (trades, ts, INTERVAL '2 MINUTES');

-- name: rw_hop
-- form: sliding window
-- seen: RisingWave, Time windows, Hop window aggregations
SELECT window_start, window_end, venue, SUM(fee) AS fees
FROM HOP (trades, ts, INTERVAL '15 MINUTES', INTERVAL '1 HOUR')
GROUP BY window_start, window_end, venue
ORDER BY window_start;

-- name: rw_hop_offset
-- form: window offset
-- seen: RisingWave, Time windows, hop() time window function
CREATE MATERIALIZED VIEW shifted AS
SELECT window_start, MAX(ms) AS slowest
FROM HOP(clicks, at, INTERVAL '5 MINUTES', INTERVAL '10 MINUTES', INTERVAL '2 MINUTES')
GROUP BY window_start;

-- name: rw_session_columns
-- form: session window
-- seen: RisingWave, Time windows, Session windows
SELECT user_id, page, at,
       first_value(at) OVER (PARTITION BY user_id ORDER BY at SESSION WITH GAP INTERVAL '10 MINUTES') AS window_start,
       last_value(at) OVER (PARTITION BY user_id ORDER BY at SESSION WITH GAP INTERVAL '10 MINUTES') AS window_end
FROM clicks;

-- name: rw_session_aggregation
-- form: session window
-- seen: RisingWave, Time windows, Session window aggregations
SELECT user_id, window_start, count(DISTINCT page) AS pages
FROM (
  SELECT *, first_value(at) OVER (PARTITION BY user_id ORDER BY at SESSION WITH GAP INTERVAL '20 MINUTES') AS window_start
  FROM clicks
)
GROUP BY user_id, window_start
ORDER BY user_id, window_start;

-- name: rw_session_emit
-- form: session window
-- seen: RisingWave, Value expressions, Window function calls
CREATE MATERIALIZED VIEW running_visits AS
SELECT user_id, at, sum(ms) OVER (PARTITION BY user_id ORDER BY at SESSION WITH GAP INTERVAL '5 MINUTES') AS ms
FROM clicks
EMIT ON WINDOW CLOSE;

-- name: rw_emit_on_close
-- form: emit final
-- seen: RisingWave, Emit on window close
CREATE MATERIALIZED VIEW closed_hours AS
SELECT window_start, window_end, COUNT(*) AS n
FROM TUMBLE(trades, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end
EMIT ON WINDOW CLOSE;

-- name: rw_emit_on_close_max
-- form: emit final
-- seen: RisingWave, Emit on window close, Windowed aggregation
CREATE MATERIALIZED VIEW closed_worst AS
SELECT window_start, carrier, MAX(delay) AS worst
FROM HOP(flights, dep, INTERVAL '1 hour', INTERVAL '1 day')
GROUP BY window_start, carrier
EMIT ON WINDOW CLOSE;

-- name: rw_emit_on_close_lead
-- form: over rows
-- seen: RisingWave, Emit on window close, SQL window functions
CREATE MATERIALIZED VIEW next_prices AS
SELECT ts, symbol, price,
       LEAD(price, 1) OVER (PARTITION BY symbol ORDER BY ts) AS next_price,
       LAG(price, 2) OVER (PARTITION BY symbol ORDER BY ts) AS price_before
FROM trades
EMIT ON WINDOW CLOSE;

-- name: rw_sink
-- form: wrapper
-- seen: RisingWave, CREATE SINK, Syntax
CREATE SINK venue_sink AS
SELECT window_start, venue, SUM(volume) AS volume
FROM TUMBLE(trades, ts, INTERVAL '5 minutes')
GROUP BY window_start, venue
EMIT ON WINDOW CLOSE
WITH (connector = 'kafka', properties.bootstrap.server = 'broker:9092', topic = 'venues')
FORMAT PLAIN ENCODE JSON;

-- name: rw_sink_into
-- form: wrapper
-- seen: RisingWave, CREATE SINK INTO, Syntax
CREATE SINK totals_sink INTO totals (symbol, volume) AS
SELECT symbol, SUM(volume) FROM trades GROUP BY symbol;

-- name: rw_create_view
-- form: wrapper
-- seen: RisingWave, CREATE VIEW, Syntax
CREATE VIEW IF NOT EXISTS busy (venue, n) AS SELECT venue, COUNT(*) FROM trades GROUP BY venue HAVING COUNT(*) > 10;

-- name: rw_topn_row_number
-- form: top-n
-- seen: RisingWave, Top-N by group, Syntax
SELECT symbol, ts, price
FROM (SELECT *, row_number() OVER (PARTITION BY symbol ORDER BY price DESC) AS place FROM trades) AS q
WHERE q.place <= 3;

-- name: rw_topn_rank_window
-- form: top-n per window
-- seen: RisingWave, Top-N by group, Syntax
CREATE MATERIALIZED VIEW hourly_leaders AS
SELECT window_start, symbol, volume
FROM (
  SELECT window_start, symbol, volume, rank() OVER (PARTITION BY window_start ORDER BY volume DESC) AS place
  FROM (
    SELECT window_start, symbol, SUM(volume) AS volume
    FROM TUMBLE(trades, ts, INTERVAL '1 hour')
    GROUP BY window_start, symbol
  ) AS totals
) AS ranked
WHERE place <= 5;

-- name: rw_topn_between
-- form: top-n
-- seen: RisingWave, Top-N by group, Syntax: rank_range
SELECT page, ms
FROM (SELECT page, ms, row_number() OVER (PARTITION BY page ORDER BY ms DESC) AS place FROM clicks) AS q
WHERE place BETWEEN 2 AND 4;

-- name: rw_temporal_filter
-- form: temporal filter
-- seen: RisingWave, Temporal filters, Delete and clean expired data
CREATE MATERIALIZED VIEW last_week AS
SELECT carrier, COUNT(*) AS n, AVG(delay) AS mean_delay
FROM flights
WHERE dep > NOW() - INTERVAL '7 days'
GROUP BY carrier;

-- name: rw_temporal_filter_window
-- form: temporal filter
-- seen: RisingWave, Temporal filters, Syntax
CREATE MATERIALIZED VIEW recent_minutes AS
SELECT window_start, symbol, SUM(volume) AS volume
FROM TUMBLE(trades, ts, INTERVAL '1 minute')
WHERE ts > DATE_TRUNC('hour', NOW()) - INTERVAL '2 hours' AND volume > 0
GROUP BY window_start, symbol;

-- name: rw_date_trunc
-- form: calendar truncation
-- seen: RisingWave, Date and time functions, date_trunc
SELECT date_trunc('day', dep) AS day, origin, COUNT(*) AS n FROM flights GROUP BY date_trunc('day', dep), origin;

-- name: rw_date_trunc_zone
-- form: time zone
-- seen: RisingWave, Date and time functions, date_trunc with a time zone
SELECT date_trunc('day', ts AT TIME ZONE 'Europe/Stockholm') AS local_day, SUM(volume) AS volume
FROM trades
GROUP BY 1;

-- name: rw_date_bin
-- form: time bucket
-- seen: RisingWave, Date and time functions, date_bin
SELECT date_bin(INTERVAL '15 minutes', ts, TIMESTAMP '2026-01-01 00:00:00') AS bucket, COUNT(*) AS n
FROM trades
GROUP BY bucket;

-- name: rw_extract
-- form: date parts
-- seen: RisingWave, Date and time functions, extract
SELECT extract(hour FROM at) AS h, COUNT(DISTINCT user_id) AS users FROM clicks GROUP BY extract(hour FROM at);

-- name: rw_group_plain
-- form: no window
-- seen: RisingWave, GROUP BY clause
SELECT venue, side, AVG(price) AS mean_price FROM trades GROUP BY venue, side;

-- name: rw_grouping_sets
-- form: grouping sets
-- seen: RisingWave, GROUP BY clause, GROUP BY GROUPING SETS()
SELECT venue, symbol, SUM(volume) AS volume FROM trades GROUP BY GROUPING SETS ((venue, symbol), ());

-- name: rw_rollup
-- form: rollup
-- seen: RisingWave, GROUP BY clause, GROUP BY ROLLUP()
SELECT country, page, COUNT(*) AS n FROM clicks GROUP BY ROLLUP (country, page);

-- name: rw_cube
-- form: cube
-- seen: RisingWave, GROUP BY clause, GROUP BY CUBE()
SELECT origin, dest, carrier, SUM(distance) AS km FROM flights GROUP BY CUBE (origin, dest, carrier);

-- name: rw_join_table
-- form: join source
-- seen: RisingWave, Time windows, Joins with tables
SELECT t.window_start, s.sector, SUM(t.volume) AS volume
FROM TUMBLE (trades, ts, INTERVAL '30 MINUTES') AS t
JOIN symbols AS s ON t.symbol = s.symbol
GROUP BY t.window_start, s.sector;

-- name: rw_temporal_join
-- form: lookup join
-- seen: RisingWave, Joins, Process-time temporal joins
CREATE MATERIALIZED VIEW country_days AS
SELECT c.country, date_trunc('day', f.dep) AS day, COUNT(*) AS n
FROM flights f LEFT JOIN carriers FOR SYSTEM_TIME AS OF PROCTIME() AS c ON f.carrier = c.carrier
GROUP BY c.country, date_trunc('day', f.dep);

-- name: rw_window_join
-- form: window join
-- seen: RisingWave, Time windows, Window joins
SELECT t.window_start, t.symbol, c.user_id
FROM TUMBLE (trades, ts, INTERVAL '2 MINUTES') AS t
JOIN TUMBLE (clicks, at, INTERVAL '2 MINUTES') AS c
ON t.note = c.page AND t.window_start = c.window_start
ORDER BY t.window_start;

-- name: rw_filter_and_order
-- form: filter
-- seen: RisingWave, Value expressions, Aggregate function calls
SELECT window_start,
       COUNT(*) FILTER (WHERE side = 'B') AS buys,
       string_agg(venue, ',' ORDER BY venue) AS venues,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY price) AS median_price
FROM TUMBLE(trades, ts, INTERVAL '1 day')
GROUP BY window_start;

-- name: rw_cte
-- form: cte source
-- seen: RisingWave, WITH clause
WITH late AS (SELECT * FROM flights WHERE delay > 15)
SELECT window_start, COUNT(*) AS n FROM TUMBLE(late, dep, INTERVAL '1 day') GROUP BY window_start;

-- name: rw_cascade
-- form: cascade
-- seen: RisingWave, CREATE MATERIALIZED VIEW, on a materialized view
SELECT w.window_start, MAX(w.n) AS busiest
FROM (SELECT window_start, country, COUNT(*) AS n FROM TUMBLE(clicks, at, INTERVAL '10 minutes') GROUP BY window_start, country) AS w
GROUP BY w.window_start;

-- name: rw_cascade_view_on_view
-- form: cascade
-- seen: RisingWave, CREATE MATERIALIZED VIEW, on a materialized view
CREATE MATERIALIZED VIEW clicks_per_hour AS
SELECT date_trunc('hour', window_start) AS hour_start, country, SUM(n) AS n
FROM clicks_per_minute
GROUP BY date_trunc('hour', window_start), country;

-- name: rw_distinct_on
-- form: distinct
-- seen: RisingWave, SELECT, DISTINCT clause
SELECT DISTINCT ON (symbol) symbol, ts, price FROM trades ORDER BY symbol, ts DESC;

-- name: rw_over_range
-- form: over range
-- seen: RisingWave, Value expressions, Window function calls
SELECT symbol, ts, SUM(volume) OVER (PARTITION BY symbol ORDER BY ts RANGE BETWEEN INTERVAL '1 hour' PRECEDING AND CURRENT ROW) AS last_hour
FROM trades;

-- name: rw_cast_colons
-- form: cast
-- seen: RisingWave, Value expressions, Type casts
SELECT ts::date AS day, COUNT(*)::int AS n, ROUND(AVG(fee)::numeric, 2) AS mean_fee FROM trades GROUP BY ts::date;

-- name: rw_first_and_last_by_time
-- form: hopping window
-- seen: RisingWave, Aggregate functions, first_value and last_value with ORDER BY
SELECT symbol, window_start, first_value(volume ORDER BY ts, note) AS f
FROM HOP(trades, ts, INTERVAL '10 MINUTES', INTERVAL '1 HOUR')
GROUP BY symbol, window_start;

-- name: rw_first_by_one
-- form: hopping window
-- seen: RisingWave, Aggregate functions, first_value and last_value with ORDER BY
SELECT window_start, max(first) AS m
FROM (
  SELECT window_start, symbol, first_value(ts ORDER BY ts) AS first, last_value(ts ORDER BY ts DESC) AS same
  FROM TUMBLE(trades, ts, INTERVAL '1 HOUR')
  GROUP BY window_start, symbol
)
GROUP BY window_start;

-- name: rw_tumble_join_table
-- form: window join
-- seen: RisingWave, Joins, Regular joins with a time window
CREATE MATERIALIZED VIEW sector_hours AS
SELECT t.window_start, s.sector, SUM(t.volume) AS volume, COUNT(*) AS n
FROM TUMBLE(trades, ts, INTERVAL '1 HOUR') AS t
JOIN symbols AS s ON t.symbol = s.symbol
GROUP BY t.window_start, s.sector;

-- name: rw_float_cast
-- form: cast
-- seen: RisingWave, Data types: FLOAT is DOUBLE PRECISION
SELECT window_start, venue, AVG(fee::float) AS mean_fee, SUM(volume::int8) AS volume
FROM TUMBLE(trades, ts, INTERVAL '1 DAY')
GROUP BY window_start, venue;

-- name: rw_json_text
-- form: nested columns
-- seen: RisingWave, JSON functions and operators: ->>
WITH docs AS (SELECT ts, CASE WHEN volume > 200 THEN '{"a": {"b": 7}}' ELSE '{}' END AS doc FROM trades)
SELECT window_start, doc -> 'a' ->> 'b' AS b, COUNT(*) AS n
FROM TUMBLE(docs, ts, INTERVAL '1 DAY')
GROUP BY window_start, doc -> 'a' ->> 'b';
