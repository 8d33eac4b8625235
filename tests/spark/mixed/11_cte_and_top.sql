-- name: top
WITH h AS (SELECT window, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '6 hours'), symbol)
SELECT window.start AS since, symbol, v FROM h QUALIFY row_number() OVER (PARTITION BY window ORDER BY v DESC, symbol) = 1 ORDER BY since;
-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
