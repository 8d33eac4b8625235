-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
-- name: levels
SELECT window.start AS since, venue, side, count(*) AS n FROM trades GROUP BY window(ts, '1 day'), ROLLUP (venue, side) ORDER BY since, n DESC, venue, side;
