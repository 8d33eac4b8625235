"""What the papers compare WeaveShare with, and WeaveShare as it was published: one strategy a file.

They are there to be measured against; of them, `weave` itself uses only `share_all`, which it
compares its plan with, and `weave_paper`, where edges are to be counted as in the papers. `moving`
belongs to `local_search`, `probing` to `weave_paper`.
"""
