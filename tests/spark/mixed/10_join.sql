-- name: hourly
SELECT window.start AS since, symbol, sum(volume) AS v FROM trades GROUP BY window(ts, '1 hour'), symbol;
-- name: sectors
SELECT s.sector, count(*) AS n FROM trades t JOIN symbols s USING (symbol) GROUP BY window(t.ts, '1 day'), s.sector ORDER BY n DESC, s.sector, window.start;
