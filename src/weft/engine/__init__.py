"""From rows to slices to answers, for batch and stream alike: no pyspark, no files.

Read `program`, `preaggregate`, `answer`; then `slicing/`, `fragments/`, `finals/` and `state/`.
"""
