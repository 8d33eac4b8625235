"""One SELECT as a syntax tree: its window, keys, conditions and items, and the query it asks for.

All dialects share this last step; what belongs to one dialect goes into `dialects`, and what works
on tokens into `tokens`. Read `select.py`, `answers.py` (the SELECT list over the answers) and
`truncation.py` (truncated times as windows); `nodes.py` and `lengths.py` are helpers.
"""
