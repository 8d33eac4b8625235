-- Views, one over the other, and what reads them.
CREATE OR REPLACE TEMPORARY VIEW five AS
SELECT window, symbol, count(*) AS n FROM trades GROUP BY window(ts, '5 minutes'), symbol;
CREATE VIEW hours AS
SELECT window(window, '1 hour') AS w, max(n) AS m FROM five GROUP BY window(window, '1 hour');
-- name: best
SELECT w.start AS since, m FROM hours ORDER BY m DESC, since LIMIT 2;
-- name: lost
SELECT count(*) AS n FROM days;
