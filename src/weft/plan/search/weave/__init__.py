"""Strategy `weave`: WeaveShare's greedy choices, quickly.

Read `search` first, then `weaving` (which pair to merge next), `bounds` (what a merge can save at
most), `partners` (which trees have anything to gain), `one_tree` (the last comparison), and
`opening`, which weaves a few new trees into a plan that runs.
"""
