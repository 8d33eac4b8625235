"""Training sets: the values that queries had at the times of a spine's rows.

Read `training_set`, then `spine` (its rows and keys), `shared` (values from slices) and `plain` (by
a join in Spark, for what slices cannot hold).
"""
