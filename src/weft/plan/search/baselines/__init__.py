"""What the papers compare WeaveShare with, and WeaveShare as it was published: one strategy a file.

They exist for comparison. `weave` itself uses two of them: `share_all`, which it compares its plan
with, and `weave_paper`, when edges are to be counted as in the papers. `moving` belongs to
`local_search`, `probing` to `weave_paper`.
"""
