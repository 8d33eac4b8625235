"""From a row to its fragment: which of many predicates it satisfies, as one number.

Read `domain`, `formula`, `atoms`, `clusters`, `fragments`; `safety` decides what may fail on a row.
"""
