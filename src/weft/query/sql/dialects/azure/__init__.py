"""Azure Stream Analytics.

Nothing here serves another dialect. Read `azure.py` (one SELECT with windows), `windows.py`,
`words.py` and `sessions.py`; then, for whole statements translated into Spark SQL, `statements.py`,
`calls.py` (functions) and `rows.py` (an answer for every row).
"""
