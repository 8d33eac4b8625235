-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
-- name: busiest
SELECT symbol, count(*) AS n FROM trades GROUP BY window(ts, '1 day'), symbol ORDER BY n DESC, symbol, window.start LIMIT 2;
