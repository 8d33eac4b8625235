-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
-- name: bad
SELECT reflect('java.lang.System', 'getenv', 'HOME') FROM trades;
