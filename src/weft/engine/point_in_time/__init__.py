"""The values that queries have at given instants, from the rows of a bucket of keys.

Read `interval` (which rows count at an instant), `program` (what a worker gets), then `values`;
`distinct` counts distinct values for it.
"""
