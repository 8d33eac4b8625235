-- ksqlDB over the streams trades, flights and clicks (ROWTIME is the time of a row) and the tables symbols
-- and carriers.

-- name: ksql_tumbling_push
-- form: tumbling window
-- seen: ksqlDB, SELECT (Push Query), TUMBLING window
SELECT windowstart, windowend, symbol, SUM(volume) AS volume
FROM trades
WINDOW TUMBLING (SIZE 45 SECONDS)
GROUP BY symbol
EMIT CHANGES;

-- name: ksql_tumbling_table
-- form: tumbling window
-- seen: ksqlDB, CREATE TABLE AS SELECT, Example
CREATE TABLE venue_hours AS
SELECT venue, COUNT(*) AS n, MAX(price) AS high
FROM trades
WINDOW TUMBLING (SIZE 1 HOUR)
GROUP BY venue
EMIT CHANGES;

-- name: ksql_tumbling_grace
-- form: tumbling window
-- seen: ksqlDB, Time and Windows in ksqlDB, Out-of-order events
SELECT venue, TOPK(price, 5) AS top_prices
FROM trades
WINDOW TUMBLING (SIZE 30 MINUTES, GRACE PERIOD 2 HOURS)
GROUP BY venue
EMIT CHANGES;

-- name: ksql_tumbling_retention
-- form: tumbling window
-- seen: ksqlDB, Time and Windows in ksqlDB, Window retention
CREATE TABLE carrier_days AS
SELECT carrier, COUNT(*) AS n, AVG(delay) AS mean_delay
FROM flights
WINDOW TUMBLING (SIZE 1 DAY, RETENTION 30 DAYS, GRACE PERIOD 12 HOURS)
GROUP BY carrier
EMIT CHANGES;

-- name: ksql_tumbling_milliseconds
-- form: tumbling window
-- seen: ksqlDB, Quick Reference, WINDOW
SELECT page, COUNT(*) AS n
FROM clicks
WINDOW TUMBLING (SIZE 250 MILLISECONDS)
GROUP BY page
EMIT CHANGES;

-- name: ksql_window_bounds
-- form: expression over aggregates
-- seen: ksqlDB, Time and Windows in ksqlDB, Window emission
SELECT symbol,
       FROM_UNIXTIME(WINDOWSTART) AS window_start,
       FROM_UNIXTIME(WINDOWEND) AS window_end,
       FROM_UNIXTIME(MAX(ROWTIME)) AS window_emit,
       COUNT(venue) AS n
FROM trades
WINDOW TUMBLING (SIZE 10 MINUTES, GRACE PERIOD 1 MINUTE)
GROUP BY symbol
EMIT CHANGES;

-- name: ksql_window_start_text
-- form: expression over aggregates
-- seen: ksqlDB, Scalar functions, Date and time: FORMAT_TIMESTAMP
CREATE TABLE minute_report AS
SELECT country,
       FORMAT_TIMESTAMP(FROM_UNIXTIME(WINDOWSTART), 'yyyy-MM-dd HH:mm', 'UTC') AS minute_start,
       SUM(ms) / COUNT(*) AS mean_ms
FROM clicks
WINDOW TUMBLING (SIZE 1 MINUTE)
GROUP BY country;

-- name: ksql_emit_final
-- form: emit final
-- seen: ksqlDB, Time and Windows in ksqlDB, Window final results
CREATE TABLE quiet_users AS
SELECT user_id, COUNT(*) AS views
FROM clicks
WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 10 MINUTES)
GROUP BY user_id
HAVING COUNT(*) < 3
EMIT FINAL;

-- name: ksql_emit_final_push
-- form: emit final
-- seen: ksqlDB, SELECT (Push Query), EMIT
SELECT symbol, MIN(price) AS low FROM trades WINDOW HOPPING (SIZE 10 MINUTES, ADVANCE BY 5 MINUTES, GRACE PERIOD 0 SECONDS) GROUP BY symbol EMIT FINAL;

-- name: ksql_hopping
-- form: sliding window
-- seen: ksqlDB, SELECT (Push Query), HOPPING window
SELECT windowstart, windowend, symbol, SUM(volume) AS volume
FROM trades
WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 10 MINUTES)
GROUP BY symbol
EMIT CHANGES;

-- name: ksql_hopping_where
-- form: sliding window
-- seen: ksqlDB, Time and Windows in ksqlDB, Hopping window
SELECT venue, COUNT(*) AS n
FROM trades
WINDOW HOPPING (SIZE 90 SECONDS, ADVANCE BY 30 SECONDS)
WHERE UCASE(side) = 'B' AND LCASE(symbol) LIKE 'ab%'
GROUP BY venue
EMIT CHANGES;

-- name: ksql_hopping_retention
-- form: sliding window
-- seen: ksqlDB, Time and Windows in ksqlDB, Window retention
CREATE TABLE origin_load AS
SELECT origin, COUNT(*) AS n
FROM flights
WINDOW HOPPING (SIZE 6 HOURS, ADVANCE BY 1 HOUR, RETENTION 7 DAYS, GRACE PERIOD 30 MINUTES)
GROUP BY origin
EMIT CHANGES;

-- name: ksql_session
-- form: session window
-- seen: ksqlDB, SELECT (Push Query), SESSION window
SELECT windowstart, windowend, user_id, COUNT(*) AS views
FROM clicks
WINDOW SESSION (10 MINUTES)
GROUP BY user_id
EMIT CHANGES;

-- name: ksql_session_table
-- form: session window
-- seen: ksqlDB, Time and Windows in ksqlDB, Session window
CREATE TABLE visits AS
SELECT user_id, COUNT(*) AS views, COLLECT_LIST(page) AS pages, WINDOWEND - WINDOWSTART AS length_ms
FROM clicks
WINDOW SESSION (30 MINUTES, RETENTION 3 DAYS, GRACE PERIOD 1 HOUR)
GROUP BY user_id
EMIT CHANGES;

-- name: ksql_having
-- form: having
-- seen: ksqlDB, Time and Windows in ksqlDB, Tumbling window
SELECT user_id, COUNT(*) AS views
FROM clicks
WINDOW TUMBLING (SIZE 5 SECONDS)
GROUP BY user_id
HAVING COUNT(*) > 3
EMIT CHANGES;

-- name: ksql_having_many
-- form: having
-- seen: ksqlDB, CREATE TABLE AS SELECT, Synopsis
CREATE TABLE suspicious AS
SELECT symbol, venue, COUNT(*) AS n, SUM(volume) AS volume
FROM trades
WINDOW TUMBLING (SIZE 1 MINUTE)
WHERE volume > 10
GROUP BY symbol, venue
HAVING COUNT(*) >= 4 AND SUM(volume) > 1000
EMIT CHANGES;

-- name: ksql_group_no_window
-- form: no window
-- seen: ksqlDB, Aggregate Streaming Events, Aggregate Results in a ksqlDB Table
CREATE TABLE views_per_page AS
SELECT page, COUNT(*) AS n FROM clicks GROUP BY page EMIT CHANGES;

-- name: ksql_group_expression
-- form: no window
-- seen: ksqlDB, CREATE TABLE AS SELECT, Description
CREATE TABLE delay_classes AS
SELECT CASE WHEN delay > 60 THEN 'very late' WHEN delay > 0 THEN 'late' ELSE 'on time' END AS class, COUNT(*) AS n
FROM flights
GROUP BY CASE WHEN delay > 60 THEN 'very late' WHEN delay > 0 THEN 'late' ELSE 'on time' END;

-- name: ksql_latest
-- form: first and last
-- seen: ksqlDB, Aggregate Functions, LATEST_BY_OFFSET
CREATE TABLE last_prices AS
SELECT symbol, LATEST_BY_OFFSET(price) AS price, EARLIEST_BY_OFFSET(price) AS first_price,
       LATEST_BY_OFFSET(venue, 3) AS last_venues, LATEST_BY_OFFSET(note, false) AS last_note
FROM trades
GROUP BY symbol
EMIT CHANGES;

-- name: ksql_latest_window
-- form: first and last
-- seen: ksqlDB, Aggregate Functions, EARLIEST_BY_OFFSET
SELECT symbol, EARLIEST_BY_OFFSET(price) AS open_price, LATEST_BY_OFFSET(price) AS close_price
FROM trades WINDOW TUMBLING (SIZE 1 HOUR)
GROUP BY symbol
EMIT CHANGES;

-- name: ksql_topk
-- form: top-n per window
-- seen: ksqlDB, Aggregate Functions, TOPK, TOPKDISTINCT
SELECT country, TOPK(ms, 3) AS slowest, TOPKDISTINCT(page, 2) AS pages
FROM clicks
WINDOW TUMBLING (SIZE 1 HOUR)
GROUP BY country
EMIT CHANGES;

-- name: ksql_collect
-- form: collect
-- seen: ksqlDB, Aggregate Functions, COLLECT_LIST, COLLECT_SET, HISTOGRAM
CREATE TABLE symbol_sides AS
SELECT symbol, COLLECT_LIST(volume) AS volumes, COLLECT_SET(venue) AS venues, HISTOGRAM(side) AS sides
FROM trades
WINDOW TUMBLING (SIZE 1 DAY)
GROUP BY symbol;

-- name: ksql_statistics
-- form: statistics
-- seen: ksqlDB, Aggregate Functions, STDDEV_SAMP, COUNT_DISTINCT
SELECT carrier, STDDEV_SAMP(delay) AS s, COUNT_DISTINCT(dest) AS dests, AVG(distance) AS mean_km
FROM flights
WINDOW TUMBLING (SIZE 7 DAYS)
GROUP BY carrier
EMIT CHANGES;

-- name: ksql_join_table
-- form: join source
-- seen: ksqlDB, CREATE TABLE AS SELECT, Example
CREATE TABLE sector_weeks AS
SELECT s.sector, COUNT(*) AS n, SUM(t.volume) AS volume
FROM trades t
JOIN symbols s ON t.symbol = s.symbol
WINDOW TUMBLING (SIZE 7 DAYS)
GROUP BY s.sector
EMIT CHANGES;

-- name: ksql_left_join_table
-- form: join source
-- seen: ksqlDB, Join Event Streams with ksqlDB, Stream-table joins
SELECT c.country AS country, COUNT(*) AS n
FROM flights f
LEFT JOIN carriers c ON f.carrier = c.carrier
WINDOW HOPPING (SIZE 1 DAY, ADVANCE BY 6 HOURS)
GROUP BY c.country
EMIT CHANGES;

-- name: ksql_join_within
-- form: stream join
-- seen: ksqlDB, SELECT (Push Query), WITHIN and GRACE PERIOD
CREATE STREAM noted_clicks AS
SELECT c.user_id AS user_id, c.page AS page, t.price AS price
FROM clicks c
INNER JOIN trades t WITHIN 1 HOURS GRACE PERIOD 15 MINUTES ON c.page = t.note
EMIT CHANGES;

-- name: ksql_stream_as_filter
-- form: wrapper
-- seen: ksqlDB, CREATE STREAM AS SELECT, Example
CREATE STREAM big_trades WITH (KAFKA_TOPIC = 'big_trades', VALUE_FORMAT = 'JSON', PARTITIONS = 4) AS
SELECT symbol, price, volume FROM trades WHERE volume > 1000 PARTITION BY symbol EMIT CHANGES;

-- name: ksql_table_with_properties
-- form: wrapper
-- seen: ksqlDB, CREATE TABLE AS SELECT, Description
CREATE OR REPLACE TABLE fee_hours WITH (KAFKA_TOPIC = 'fees', KEY_FORMAT = 'JSON', VALUE_FORMAT = 'AVRO') AS
SELECT venue, side, SUM(fee) AS fees
FROM trades
WINDOW TUMBLING (SIZE 1 HOUR)
GROUP BY venue, side
EMIT CHANGES;

-- name: ksql_insert_into
-- form: wrapper
-- seen: ksqlDB, INSERT INTO, Example
INSERT INTO all_prices SELECT symbol, price FROM trades WHERE venue = 'XETRA' EMIT CHANGES;

-- name: ksql_pull_windowed
-- form: pull query
-- seen: ksqlDB, SELECT (Pull Query), Examples
SELECT * FROM venue_hours WHERE venue = 'NYSE' AND WINDOWSTART >= '2026-03-29T00:00:00' AND WINDOWEND <= '2026-03-30T00:00:00';

-- name: ksql_limit
-- form: order and limit
-- seen: ksqlDB, SELECT (Push Query), Examples
SELECT symbol, COUNT(*) AS n FROM trades WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY symbol EMIT CHANGES LIMIT 5;

-- name: ksql_rowtime_where
-- form: tumbling window
-- seen: ksqlDB, SELECT (Push Query), Examples
SELECT page, COUNT(*) AS n
FROM clicks
WINDOW TUMBLING (SIZE 15 MINUTES)
WHERE ROWTIME >= '2026-03-29T00:00' AND ROWTIME < '2026-03-30T00:00'
GROUP BY page
EMIT CHANGES;

-- name: ksql_as_value_key
-- form: tumbling window
-- seen: ksqlDB, Scalar functions, AS_VALUE
CREATE TABLE symbol_minutes AS
SELECT symbol AS symbol_key, AS_VALUE(symbol) AS symbol, COUNT(*) AS n
FROM trades
WINDOW TUMBLING (SIZE 1 MINUTE)
GROUP BY symbol;

-- name: ksql_struct_and_map
-- form: nested columns
-- seen: ksqlDB, How to query structured data
SELECT attrs['desk'] AS desk, MAX(quote->bid) AS best_bid, COUNT(tags[1]) AS tagged
FROM trades
WINDOW TUMBLING (SIZE 1 HOUR)
GROUP BY attrs['desk']
EMIT CHANGES;

-- name: ksql_explode
-- form: lateral view
-- seen: ksqlDB, Table functions, EXPLODE
CREATE STREAM trade_tags AS SELECT symbol, EXPLODE(tags) AS tag FROM trades EMIT CHANGES;

-- name: ksql_constant_key
-- form: no keys
-- seen: ksqlDB, questions and answers: counting all rows of a window
CREATE TABLE all_trades AS
SELECT 1 AS one, COUNT(*) AS n, SUM(volume) AS volume
FROM trades
WINDOW TUMBLING (SIZE 6 HOURS)
GROUP BY 1
EMIT CHANGES;

-- name: ksql_collect_nulls
-- form: collect
-- seen: ksqlDB, Aggregate Functions, COLLECT_LIST
CREATE TABLE venue_notes AS
SELECT venue, COLLECT_LIST(note) AS notes, COUNT(*) AS n
FROM trades
WINDOW TUMBLING (SIZE 1 HOUR)
GROUP BY venue
EMIT CHANGES;

-- name: ksql_array_length
-- form: nested columns
-- seen: ksqlDB, Scalar Functions, ARRAY_LENGTH, TIMESTAMPADD
SELECT symbol, SUM(ARRAY_LENGTH(tags)) AS tags, MAX(TIMESTAMPADD(HOURS, 1, ts)) AS later
FROM trades
WINDOW TUMBLING (SIZE 1 DAY)
GROUP BY symbol
EMIT CHANGES;
