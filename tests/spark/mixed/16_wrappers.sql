INSERT INTO lake.hourly SELECT count(*) AS n FROM trades GROUP BY window(ts, '1 hour');
CREATE OR REPLACE TEMPORARY VIEW daily AS SELECT max(price) AS hi FROM trades GROUP BY window(ts, '1 day');
