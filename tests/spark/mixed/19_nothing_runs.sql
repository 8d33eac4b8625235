-- name: a
SELECT nosuch FROM trades;
-- name: b
SELECT * FROM nowhere;
