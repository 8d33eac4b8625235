-- name: both
SELECT 'hour' AS what, window.start AS since, count(*) AS n FROM trades GROUP BY window(ts, '1 hour')
UNION ALL SELECT 'day', window.start, count(*) FROM trades GROUP BY window(ts, '1 day') ORDER BY what, since;
-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
