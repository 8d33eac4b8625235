-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
SELECT count(*) AS n FROM trades GROUP BY window(ts, '2 hours', '1 hour');
