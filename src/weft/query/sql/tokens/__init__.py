"""SELECTs and clauses found, and rewritten, in a statement's tokens, without a parser.

Nothing here depends on the dialect or builds a query. Read `blocks.py` (nested SELECTs), `over.py`
(window functions, ORDER BY, comma-separated lists), `relation.py` (FROM), `grouping.py` (ROLLUP,
CUBE, GROUPING SETS), `refusals.py`, then the helpers `cursor.py`, `elements.py` and `casts.py`.
"""
