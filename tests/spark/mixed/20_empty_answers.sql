-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
-- name: none
SELECT count(*) AS n FROM trades WHERE volume > 99999999999999999 GROUP BY window(ts, '1 hour');
-- name: never
SELECT symbol FROM trades WHERE symbol = 'x' LIMIT 0;
