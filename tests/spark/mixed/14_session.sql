-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
-- name: visits
SELECT symbol, count(*) AS n FROM trades GROUP BY session_window(ts, '30 minutes'), symbol ORDER BY n DESC, symbol LIMIT 5;
