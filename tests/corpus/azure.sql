-- Azure Stream Analytics over the inputs trades, flights and clicks and the reference inputs symbols and
-- carriers.

-- name: asa_tumbling
-- form: tumbling window
-- seen: Azure Stream Analytics, Tumbling Window, Examples
SELECT venue, COUNT(*) AS Cnt
FROM trades TIMESTAMP BY ts
GROUP BY venue, TumblingWindow(second, 30);

-- name: asa_tumbling_timestamp
-- form: tumbling window
-- seen: Azure Stream Analytics, System.Timestamp(), GROUP BY over time window
SELECT System.Timestamp() AS WindowEnd, symbol, AVG(price) AS MeanPrice, SUM(volume) AS Volume
FROM trades TIMESTAMP BY ts
GROUP BY symbol, TumblingWindow(minute, 5);

-- name: asa_tumbling_duration
-- form: tumbling window
-- seen: Azure Stream Analytics, Tumbling Window, Syntax
SELECT carrier, MAX(delay) AS Worst
FROM flights TIMESTAMP BY dep
GROUP BY carrier, TumblingWindow(Duration(hour, 6));

-- name: asa_tumbling_short_name
-- form: tumbling window
-- seen: Azure Stream Analytics, Tumbling Window, Syntax
SELECT country, COUNT(*) AS Cnt
FROM clicks TIMESTAMP BY at
GROUP BY country, TUMBLING(mi, 2);

-- name: asa_tumbling_into
-- form: wrapper
-- seen: Azure Stream Analytics, INTO, Examples
SELECT symbol, SUM(volume) AS Volume, System.Timestamp() AS WindowEnd
INTO [volume-output]
FROM trades TIMESTAMP BY ts
GROUP BY symbol, TumblingWindow(hour, 1);

-- name: asa_tumbling_without_time
-- form: tumbling window
-- seen: Azure Stream Analytics, TIMESTAMP BY, Description
SELECT page, COUNT(*) AS Views
FROM clicks
GROUP BY page, TumblingWindow(minute, 1);

-- name: asa_tumbling_offset
-- form: window offset
-- seen: Azure Stream Analytics, Tumbling Window, Offset
SELECT System.Timestamp() AS WindowEnd, COUNT(*) AS Cnt
FROM trades TIMESTAMP BY ts
GROUP BY TumblingWindow(hour, 1, 15);

-- name: asa_tumbling_offset_inclusive_start
-- form: window offset
-- seen: Azure Stream Analytics, Tumbling Window, Examples
SELECT System.Timestamp() AS WindowEnd, venue, COUNT(*) AS Cnt
FROM trades TIMESTAMP BY ts
GROUP BY venue, TumblingWindow(Duration(hour, 1), Offset(millisecond, -1));

-- name: asa_tumbling_cast
-- form: cast
-- seen: Azure Stream Analytics, Common query patterns, Convert data types
SELECT symbol, SUM(CAST(note AS BIGINT)) AS Codes, AVG(CAST(volume AS float)) AS MeanVolume
FROM trades TIMESTAMP BY ts
GROUP BY symbol, TumblingWindow(second, 10);

-- name: asa_tumbling_case
-- form: expression over aggregates
-- seen: Azure Stream Analytics, Common query patterns, CASE statements
SELECT CASE WHEN COUNT(*) = 1 THEN CONCAT('one ', carrier)
            ELSE CONCAT(CAST(COUNT(*) AS NVARCHAR(MAX)), ' of ', carrier) END AS Departures,
       System.Timestamp() AS AsaTime
FROM flights TIMESTAMP BY dep
GROUP BY carrier, TumblingWindow(minute, 10);

-- name: asa_case_in_sum
-- form: case in aggregate
-- seen: Azure Stream Analytics, CASE, Examples
SELECT System.Timestamp() AS WindowEnd, SUM(CASE side WHEN 'B' THEN volume ELSE 0 END) AS Bought
FROM trades TIMESTAMP BY ts
GROUP BY TumblingWindow(minute, 15);

-- name: asa_having_alias
-- form: having
-- seen: Azure Stream Analytics, Common query patterns, Send data to multiple outputs
SELECT venue, System.Timestamp() AS AsaTime, COUNT(*) AS [Count]
INTO AlertOutput
FROM trades TIMESTAMP BY ts
GROUP BY venue, TumblingWindow(second, 10)
HAVING [Count] >= 3;

-- name: asa_having_aggregate
-- form: having
-- seen: Azure Stream Analytics, HAVING, Examples
SELECT user_id, AVG(ms) AS MeanMs
FROM clicks TIMESTAMP BY at
GROUP BY user_id, TumblingWindow(minute, 5)
HAVING AVG(ms) > 250 AND COUNT(*) > 2;

-- name: asa_count_distinct
-- form: count distinct
-- seen: Azure Stream Analytics, Common query patterns, Count unique values
SELECT COUNT(DISTINCT symbol) AS Symbols, System.Timestamp() AS AsaTime
FROM trades TIMESTAMP BY ts
GROUP BY TumblingWindow(second, 20);

-- name: asa_hopping
-- form: sliding window
-- seen: Azure Stream Analytics, Hopping Window, Examples
SELECT symbol, COUNT(*) AS Cnt
FROM trades TIMESTAMP BY ts
GROUP BY symbol, HoppingWindow(second, 60, 20);

-- name: asa_hopping_duration_hop
-- form: sliding window
-- seen: Azure Stream Analytics, Hopping Window, Syntax
SELECT origin, AVG(delay) AS MeanDelay, System.Timestamp() AS WindowEnd
FROM flights TIMESTAMP BY dep
GROUP BY origin, HoppingWindow(Duration(hour, 3), Hop(minute, 30));

-- name: asa_hopping_offset
-- form: window offset
-- seen: Azure Stream Analytics, Hopping Window, Syntax
SELECT venue, MAX(price) AS High
FROM trades TIMESTAMP BY ts
GROUP BY venue, HoppingWindow(minute, 30, 10, 4);

-- name: asa_hopping_offset_function
-- form: window offset
-- seen: Azure Stream Analytics, Hopping Window, Syntax
SELECT venue, MIN(price) AS Low
FROM trades TIMESTAMP BY ts
GROUP BY venue, Hopping(Duration(minute, 20), Hop(minute, 5), Offset(second, 30));

-- name: asa_sliding
-- form: azure sliding window
-- seen: Azure Stream Analytics, Sliding Window, Examples
SELECT symbol, COUNT(*) AS Cnt
FROM trades TIMESTAMP BY ts
GROUP BY symbol, SlidingWindow(second, 10)
HAVING COUNT(*) > 3;

-- name: asa_sliding_duration
-- form: azure sliding window
-- seen: Azure Stream Analytics, Sliding Window, Syntax
SELECT user_id, MAX(ms) AS Slowest
FROM clicks TIMESTAMP BY at
GROUP BY user_id, SlidingWindow(Duration(minute, 3));

-- name: asa_session
-- form: session window
-- seen: Azure Stream Analytics, Session Window, Examples
SELECT user_id, MIN(at) AS StartTime, MAX(at) AS EndTime, COUNT(*) AS Views
FROM clicks TIMESTAMP BY at
GROUP BY user_id, SessionWindow(minute, 5, 60) OVER (PARTITION BY user_id);

-- name: asa_session_functions
-- form: session window
-- seen: Azure Stream Analytics, Session Window, Syntax
SELECT System.Timestamp() AS WindowEnd, COUNT(*) AS Views
FROM clicks TIMESTAMP BY at
GROUP BY SessionWindow(Timeout(second, 90), MaxDuration(minute, 30));

-- name: asa_session_duration_of
-- form: session window
-- seen: Azure Stream Analytics, Common query patterns, Session windows
SELECT user_id, DATEDIFF(second, MIN(at), MAX(at)) AS duration_in_seconds
FROM clicks TIMESTAMP BY at
GROUP BY user_id, Session(minute, 2, 45) OVER (PARTITION BY user_id);

-- name: asa_session_without_maximum
-- form: session window
-- seen: Azure Stream Analytics, Session Window, Syntax; the maximum left out, which Microsoft's syntax requires
SELECT symbol, SUM(volume) AS Volume
FROM trades TIMESTAMP BY ts
GROUP BY symbol, SessionWindow(minute, 10);

-- name: asa_snapshot
-- form: snapshot window
-- seen: Azure Stream Analytics, Snapshot Window, Basic example
SELECT venue, COUNT(*) AS Cnt
FROM trades TIMESTAMP BY ts
GROUP BY venue, System.Timestamp();

-- name: asa_snapshot_function
-- form: snapshot window
-- seen: Azure Stream Analytics, Snapshot Window; as a function, which Microsoft's syntax spells System.Timestamp()
SELECT carrier, COUNT(*) AS Cnt
FROM flights TIMESTAMP BY dep
GROUP BY carrier, SnapshotWindow();

-- name: asa_snapshot_after_tumbling
-- form: cascade
-- seen: Azure Stream Analytics, Snapshot Window, Tumbling window snapshot example
WITH PerUser AS (
  SELECT page, user_id, COUNT(*) AS views
  FROM clicks TIMESTAMP BY at
  GROUP BY page, user_id, TumblingWindow(minute, 15)
)
SELECT page, Users = COUNT(*), Total = SUM(views)
FROM PerUser
GROUP BY page, System.Timestamp();

-- name: asa_snapshot_in_larger_window
-- form: cascade
-- seen: Azure Stream Analytics, Snapshot Window, Tumbling window snapshot example
WITH PerUser AS (
  SELECT page, user_id, COUNT(*) AS views
  FROM clicks TIMESTAMP BY at
  GROUP BY page, user_id, TumblingWindow(minute, 15)
)
SELECT page, COUNT(*) AS Users, SUM(views) AS Total
FROM PerUser
GROUP BY page, System.Timestamp(), Tumbling(hour, 1);

-- name: asa_windows_with_ids
-- form: several windows
-- seen: Azure Stream Analytics, Windows, Examples
SELECT venue, COUNT(*) AS Cnt, System.Window().Id AS Which, System.Timestamp() AS WindowEnd
FROM trades TIMESTAMP BY ts
GROUP BY venue, Windows(
  Window('1 minute', TumblingWindow(minute, 1)),
  Window('10 minutes', TumblingWindow(minute, 10)),
  Window('hop', HoppingWindow(minute, 30, 10)));

-- name: asa_windows_without_ids
-- form: several windows
-- seen: Azure Stream Analytics, Windows, Syntax
SELECT symbol, MAX(price) AS High
FROM trades TIMESTAMP BY ts
GROUP BY symbol, Windows(TumblingWindow(minute, 10), TumblingWindow(hour, 1));

-- name: asa_windows_with_session
-- form: several windows
-- seen: Azure Stream Analytics, Windows, Examples
SELECT user_id, COUNT(*) AS Views, System.Window().Id AS Which
FROM clicks TIMESTAMP BY at
GROUP BY user_id, Windows(
  Window('short', SlidingWindow(second, 30)),
  Window('visit', SessionWindow(minute, 5, 20)));

-- name: asa_steps
-- form: cascade
-- seen: Azure Stream Analytics, WITH, Examples
WITH Minutes AS (
  SELECT symbol, System.Timestamp() AS minute_end, SUM(volume) AS volume
  FROM trades TIMESTAMP BY ts
  GROUP BY symbol, TumblingWindow(minute, 1)
),
Hours AS (
  SELECT symbol, MAX(volume) AS peak, AVG(volume) AS mean_volume
  FROM Minutes
  GROUP BY symbol, TumblingWindow(hour, 1)
)
SELECT symbol, peak, mean_volume INTO HourOutput FROM Hours;

-- name: asa_step_filter
-- form: cte source
-- seen: Azure Stream Analytics, Common query patterns, Send data to multiple outputs
WITH Late AS (SELECT * FROM flights TIMESTAMP BY dep WHERE delay > 15 AND cancelled = 0)
SELECT carrier, COUNT(*) AS Cnt
INTO LateOutput
FROM Late
GROUP BY carrier, TumblingWindow(day, 1);

-- name: asa_two_outputs
-- form: wrapper
-- seen: Azure Stream Analytics, WITH, Examples
WITH Counted AS (
  SELECT venue, COUNT(*) AS n, System.Timestamp() AS t FROM trades TIMESTAMP BY ts GROUP BY venue, TumblingWindow(minute, 10)
)
SELECT * INTO AllOutput FROM Counted
SELECT venue, n INTO BusyOutput FROM Counted WHERE n > 20;

-- name: asa_top_one
-- form: top-n per window
-- seen: Azure Stream Analytics, TopOne, Examples
SELECT System.Timestamp() AS WindowEnd, TopOne() OVER (ORDER BY volume DESC, ts DESC) AS Biggest
FROM trades TIMESTAMP BY ts
GROUP BY TumblingWindow(minute, 10);

-- name: asa_top_one_projection
-- form: top-n per window
-- seen: Azure Stream Analytics, TopOne, Syntax
SELECT venue, TopOne(symbol) OVER (ORDER BY price DESC) AS Dearest
FROM trades TIMESTAMP BY ts
GROUP BY venue, HoppingWindow(second, 300, 60);

-- name: asa_collect_top
-- form: top-n per window
-- seen: Azure Stream Analytics, CollectTOP, Examples
SELECT country, CollectTop(3) OVER (ORDER BY ms DESC) AS Slowest
FROM clicks TIMESTAMP BY at
GROUP BY country, TumblingWindow(minute, 5);

-- name: asa_collect_top_limit_duration
-- form: top-n per window
-- seen: Azure Stream Analytics, CollectTOP, Syntax
SELECT page, CollectTop(2, ms) OVER (PARTITION BY page ORDER BY ms DESC LIMIT DURATION(minute, 5) WHEN ms > 0) AS Slowest
FROM clicks TIMESTAMP BY at;

-- name: asa_collect
-- form: collect
-- seen: Azure Stream Analytics, Collect, Examples
SELECT symbol, Collect(price) AS Prices, Collect() AS Events
FROM trades TIMESTAMP BY ts
GROUP BY symbol, TumblingWindow(second, 5);

-- name: asa_percentiles
-- form: percentile
-- seen: Azure Stream Analytics, PERCENTILE_CONT, Examples
SELECT page, PERCENTILE_CONT(0.95) OVER (ORDER BY ms) AS P95, PERCENTILE_DISC(0.5) OVER (ORDER BY ms DESC) AS P50
FROM clicks TIMESTAMP BY at
GROUP BY page, TumblingWindow(hour, 1);

-- name: asa_statistics
-- form: statistics
-- seen: Azure Stream Analytics, Aggregate Functions
SELECT carrier, STDEV(delay) AS S, STDEVP(delay) AS SP, VAR(delay) AS V, VARP(delay) AS VP
FROM flights TIMESTAMP BY dep
GROUP BY carrier, HoppingWindow(day, 7, 1);

-- name: asa_lag
-- form: lag
-- seen: Azure Stream Analytics, LAG, Examples
SELECT symbol, price - LAG(price) OVER (PARTITION BY symbol LIMIT DURATION(hour, 1)) AS Change
FROM trades TIMESTAMP BY ts;

-- name: asa_lag_where
-- form: lag
-- seen: Azure Stream Analytics, Common query patterns, Determine if a value has changed
SELECT page, at
FROM clicks TIMESTAMP BY at
WHERE LAG(page, 1) OVER (LIMIT DURATION(minute, 1)) <> page;

-- name: asa_last
-- form: lag
-- seen: Azure Stream Analytics, LAST, Examples
SELECT user_id, DATEDIFF(second, LAST(at) OVER (PARTITION BY user_id LIMIT DURATION(hour, 1) WHEN page = '/cart'), at) AS Seconds
FROM clicks TIMESTAMP BY at
WHERE page = '/paid';

-- name: asa_is_first
-- form: is first
-- seen: Azure Stream Analytics, ISFIRST, Examples
SELECT symbol, venue, price
FROM trades TIMESTAMP BY ts
WHERE ISFIRST(minute, 10) = 1;

-- name: asa_is_first_partition
-- form: is first
-- seen: Azure Stream Analytics, ISFIRST, Syntax
SELECT symbol, price
FROM trades TIMESTAMP BY ts
WHERE ISFIRST(minute, 10) OVER (PARTITION BY symbol WHEN volume > 100) = 1;

-- name: asa_last_in_window
-- form: join of aggregates
-- seen: Azure Stream Analytics, Common query patterns, Find the last event in a window
WITH LastInWindow AS (
  SELECT MAX(ts) AS LastTime FROM trades TIMESTAMP BY ts GROUP BY TumblingWindow(minute, 10)
)
SELECT t.symbol, t.price, t.ts
FROM trades t TIMESTAMP BY ts
INNER JOIN LastInWindow l ON DATEDIFF(minute, t, l) BETWEEN 0 AND 10 AND t.ts = l.LastTime;

-- name: asa_partition_by
-- form: partition by
-- seen: Azure Stream Analytics, FROM, Syntax
SELECT symbol, COUNT(*) AS Cnt, PartitionId
FROM trades PARTITION BY PartitionId TIMESTAMP BY ts
GROUP BY symbol, PartitionId, TumblingWindow(minute, 3);

-- name: asa_timestamp_by_over
-- form: partition by
-- seen: Azure Stream Analytics, Common query patterns, Process events independent of Device Clock Skew
SELECT user_id, COUNT(*) AS [Count]
FROM clicks TIMESTAMP BY at OVER user_id
GROUP BY TUMBLINGWINDOW(second, 5), user_id;

-- name: asa_timestamp_by_expression
-- form: tumbling window
-- seen: Azure Stream Analytics, TIMESTAMP BY, Examples
SELECT carrier, COUNT(*) AS Cnt
FROM flights TIMESTAMP BY DATEADD(minute, delay, dep)
GROUP BY carrier, TumblingWindow(hour, 1);

-- name: asa_reference_join
-- form: join source
-- seen: Azure Stream Analytics, Reference Data JOIN, Examples
SELECT s.sector, SUM(t.volume) AS Volume, System.Timestamp() AS WindowEnd
FROM trades t TIMESTAMP BY t.ts
JOIN symbols s ON t.symbol = s.symbol
GROUP BY s.sector, TumblingWindow(minute, 15);

-- name: asa_reference_left_join
-- form: join source
-- seen: Azure Stream Analytics, Reference Data JOIN, Examples
SELECT f.carrier, c.country, AVG(f.delay) AS MeanDelay
INTO DelayOutput
FROM flights AS f TIMESTAMP BY dep
LEFT OUTER JOIN carriers AS c ON f.carrier = c.carrier
WHERE f.cancelled = 0
GROUP BY f.carrier, c.country, HoppingWindow(hour, 24, 6);

-- name: asa_union
-- form: union
-- seen: Azure Stream Analytics, UNION, Examples
SELECT symbol AS name, COUNT(*) AS n FROM trades TIMESTAMP BY ts GROUP BY symbol, TumblingWindow(hour, 1)
UNION
SELECT page AS name, COUNT(*) AS n FROM clicks TIMESTAMP BY at GROUP BY page, TumblingWindow(hour, 1);

-- name: asa_union_of_inputs
-- form: union
-- seen: Azure Stream Analytics, UNION, Examples
WITH Everything AS (
  SELECT ts AS t, venue AS place FROM trades TIMESTAMP BY ts
  UNION
  SELECT dep AS t, origin AS place FROM flights TIMESTAMP BY dep
)
SELECT place, COUNT(*) AS Cnt FROM Everything GROUP BY place, TumblingWindow(minute, 30);

-- name: asa_deduplicate
-- form: cascade
-- seen: Azure Stream Analytics, Common query patterns, Remove duplicate events in a window
WITH Once AS (
  SELECT COUNT(DISTINCT ts) AS times, price, symbol
  FROM trades TIMESTAMP BY ts
  GROUP BY price, symbol, SYSTEM.TIMESTAMP()
)
SELECT symbol, AVG(price) AS MeanPrice
INTO Output
FROM Once
GROUP BY symbol, TumblingWindow(minute, 5);

-- name: asa_cross_apply
-- form: lateral view
-- seen: Azure Stream Analytics, APPLY, Examples
SELECT tag.ArrayValue AS tag, COUNT(*) AS Cnt
FROM trades AS t TIMESTAMP BY ts
CROSS APPLY GetArrayElements(t.tags) AS tag
GROUP BY tag.ArrayValue, TumblingWindow(hour, 1);

-- name: asa_nested_record
-- form: nested columns
-- seen: Azure Stream Analytics, Parse JSON and Avro data, Nested records
SELECT symbol, MAX(quote.bid) AS BestBid, MIN(GetRecordPropertyValue(quote, 'ask')) AS BestAsk
FROM trades TIMESTAMP BY ts
GROUP BY symbol, TumblingWindow(minute, 1);

-- name: asa_date_part_key
-- form: date parts
-- seen: Azure Stream Analytics, DATEPART, Examples
SELECT DATEPART(weekday, dep) AS Weekday, COUNT(*) AS Cnt
FROM flights TIMESTAMP BY dep
GROUP BY DATEPART(weekday, dep), TumblingWindow(day, 1);

-- name: asa_window_start
-- form: expression over aggregates
-- seen: Azure Stream Analytics, System.Timestamp(), Description
SELECT DATEADD(minute, -10, System.Timestamp()) AS WindowStart, System.Timestamp() AS WindowEnd, COUNT(*) AS Cnt
FROM clicks TIMESTAMP BY at
GROUP BY TumblingWindow(minute, 10);

-- name: asa_datepart_second
-- form: date parts
-- seen: Azure Stream Analytics, DATEPART, Arguments
SELECT DATEPART(second, at) AS Second, COUNT(*) AS Cnt
FROM clicks TIMESTAMP BY at
GROUP BY DATEPART(second, at), TumblingWindow(day, 1);

-- name: asa_substring_zero
-- form: strings
-- seen: Azure Stream Analytics, SUBSTRING, Arguments: start
SELECT SUBSTRING(page, 0, 4) AS Section, COUNT(*) AS Cnt
FROM clicks TIMESTAMP BY at
GROUP BY SUBSTRING(page, 0, 4), TumblingWindow(day, 1);

-- name: asa_cast_datetime
-- form: cast
-- seen: Azure Stream Analytics, CAST, Examples
SELECT carrier, MAX(CAST(dep AS datetime)) AS LastDeparture
FROM flights TIMESTAMP BY dep
GROUP BY carrier, TumblingWindow(hour, 12);
