"""From a row to its fragment: which of many predicates it satisfies, as one number.

Read `domain`, `formula`, `atoms`, `clusters`, `fragments`; `safety` says what may fail on a row.
"""
