"""CQL, as in the SIGMOD'06 paper.

Nothing here serves another dialect; `sql/recognise.py` recognises CQL by its window clause. Read
`cql.py` (one SELECT), `windows.py` (the bracket after a table) and `rows.py` (windows that move
with every row).
"""
