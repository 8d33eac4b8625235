"""What a bucket of groups keeps between micro-batches: pieces of slices, in a tree over time.

Read `radix_tree`, `index`, `bucket`; `codec` is the form in bytes.
"""
