-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
-- name: flink
SELECT window_start, window_end, symbol, SUM(volume) AS v FROM TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end, symbol;
-- name: azure
SELECT symbol, COUNT(*) AS n FROM trades TIMESTAMP BY ts GROUP BY symbol, TumblingWindow(hour, 1);
-- name: ksql
SELECT symbol, COUNT(*) AS n FROM trades WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY symbol EMIT CHANGES;
-- name: wave
SELECT window_start, count(*) AS n FROM tumble(trades, ts, INTERVAL '1 hour') GROUP BY window_start;
