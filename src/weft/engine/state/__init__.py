"""The state of a bucket of groups between micro-batches: pieces of slices, in a tree over time.

Read `radix_tree`, `index`, `bucket`; `codec` is the serialised form.
"""
