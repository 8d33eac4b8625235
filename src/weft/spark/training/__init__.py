"""Training sets: the values that queries had at the times of a spine's rows.

Read `training_set`, then `spine` (its rows and keys), `shared` (values from slices) and `plain`
(values by a join in Spark, for aggregates that slices cannot serve).
"""
