"""A text split into statements, each with its name, owner, output and views.

Nothing here interprets a query or needs to know its dialect. Read `statements.py`, then what it
calls: `wrappers.py` (INSERT INTO, CREATE VIEW), `views.py`, `comments.py` and `form.py` (whether a
statement is well-formed).
"""
